# SPDX-License-Identifier: Apache-2.0
# The Python package, in build/python: cffi makes its module from the public headers. Where Python, cffi or
# numpy is missing nothing is built; where pytest is missing its tests are skipped with a message.
if(NOT TARGET cairn-io OR CAIRN_FUZZ OR CAIRN_SANITIZE MATCHES "thread")
  return()
endif()
foreach(candidate /usr/bin/python3 python3)
  execute_process(COMMAND ${candidate} -c "import cffi, numpy, setuptools" RESULT_VARIABLE missing
    OUTPUT_QUIET ERROR_QUIET)
  if(missing EQUAL 0)
    set(CAIRN_PYTHON ${candidate})
    break()
  endif()
endforeach()
if(NOT CAIRN_PYTHON)
  message(STATUS "Python package: not built (needs python3 with cffi, numpy and setuptools)")
  return()
endif()

# A sanitizer must be there before Python begins: its runtime as a shared library, loaded first.
set(python_build)
set(python_run "MALLOC_PERTURB_=85")
if(CAIRN_SANITIZE)
  set(runtime libclang_rt.asan-${CMAKE_SYSTEM_PROCESSOR}.so)
  set(shared -shared-libasan)
  if(CMAKE_C_COMPILER_ID STREQUAL GNU)
    set(runtime libasan.so)
    set(shared)
  endif()
  execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=${runtime} OUTPUT_VARIABLE runtime
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  set(python_build CC=${CMAKE_C_COMPILER}
    "LDSHARED=${CMAKE_C_COMPILER} -shared -fsanitize=${CAIRN_SANITIZE} ${shared}")
  set(python_run "LD_PRELOAD=${runtime};CAIRN_SANITIZED=1;ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1;UBSAN_OPTIONS=halt_on_error=1")
endif()

set(python_folder ${PROJECT_BINARY_DIR}/python)
file(GLOB python_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/python/cairn/*.py)
file(GLOB public_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/cairn/*.h)
add_custom_command(OUTPUT ${python_folder}/cairn/made
  COMMAND ${CMAKE_COMMAND} -E make_directory ${python_folder}/cairn
  COMMAND ${CMAKE_COMMAND} -E copy ${python_sources} ${PROJECT_SOURCE_DIR}/python/cairn/py.typed ${python_folder}/cairn
  COMMAND ${CMAKE_COMMAND} -E env CAIRN_SOURCE=${PROJECT_SOURCE_DIR}
    "CAIRN_LIBRARIES=$<TARGET_FILE:cairn-io> $<TARGET_FILE:cairn>"
    CAIRN_PYTHON_OUT=${python_folder} PYTHONDONTWRITEBYTECODE=1 PYTHONWARNINGS=ignore ${python_build}
    ${CAIRN_PYTHON} ${PROJECT_SOURCE_DIR}/python/build_core.py
  COMMAND ${CMAKE_COMMAND} -E touch ${python_folder}/cairn/made
  DEPENDS ${python_sources} ${public_headers} ${PROJECT_SOURCE_DIR}/python/build_core.py cairn cairn-io
  VERBATIM COMMENT "Making the Python package in ${python_folder}")
add_custom_target(python ALL DEPENDS ${python_folder}/cairn/made)

# One module for all Pythons from 3.9 on; the folder is Debian's, which is on the path of every Python 3
# below /usr and, with its minor version, below /usr/local.
execute_process(COMMAND ${CAIRN_PYTHON} -c "import sys; print('%d.%d' % sys.version_info[:2])"
  OUTPUT_VARIABLE python_version OUTPUT_STRIP_TRAILING_WHITESPACE)
set(CAIRN_PYTHON_FOLDER lib/python${python_version}/dist-packages CACHE STRING
  "Where the Python package is installed, below the prefix")
install(DIRECTORY ${python_folder}/cairn DESTINATION ${CAIRN_PYTHON_FOLDER} COMPONENT python
  FILES_MATCHING PATTERN "*.py" PATTERN "py.typed" PATTERN "_sentences.json" PATTERN "_core.abi3.so"
  PATTERN "__pycache__" EXCLUDE)

if(CAIRN_TESTS)
  execute_process(COMMAND ${CAIRN_PYTHON} -c "import pytest" RESULT_VARIABLE missing OUTPUT_QUIET ERROR_QUIET)
  if(missing EQUAL 0)
    add_test(NAME python COMMAND ${CAIRN_PYTHON} -m pytest -q -p no:cacheprovider ${PROJECT_SOURCE_DIR}/python/tests)
  else()
    add_test(NAME python COMMAND ${CMAKE_COMMAND} -E echo "SKIPPED: no pytest (scripts/setup installs it)")
    set_tests_properties(python PROPERTIES SKIP_REGULAR_EXPRESSION "SKIPPED: no pytest")
  endif()
  add_test(NAME long.misuse CONFIGURATIONS long
    COMMAND ${CAIRN_PYTHON} -m pytest -q -p no:cacheprovider ${PROJECT_SOURCE_DIR}/python/tests/test_misuse.py)
  set_tests_properties(long.misuse PROPERTIES LABELS long TIMEOUT 14400
    ENVIRONMENT "PYTHONPATH=${python_folder};PYTHONDONTWRITEBYTECODE=1;CAIRN_MISUSE=1e6;${python_run}")
  set_tests_properties(python PROPERTIES LABELS python
    ENVIRONMENT "PYTHONPATH=${python_folder};CAIRN_COMMAND=$<TARGET_FILE:cairn-command>;PYTHONDONTWRITEBYTECODE=1;CAIRN_SOURCE=${PROJECT_SOURCE_DIR};${python_run}")
endif()

# The binary interface against that of the last release; and the package by pip, without network.
if(CAIRN_TESTS AND NOT CAIRN_SANITIZE)
  add_test(NAME package.abi COMMAND ${CAIRN_PYTHON} ${PROJECT_SOURCE_DIR}/tests/abi/abi check ${PROJECT_SOURCE_DIR}/tests/abi)
  if(PROJECT_BINARY_DIR STREQUAL ${PROJECT_SOURCE_DIR}/build AND NOT BUILD_SHARED_LIBS)
    add_test(NAME package.pip COMMAND ${PROJECT_SOURCE_DIR}/tests/package/pip ${PROJECT_SOURCE_DIR} ${CAIRN_PYTHON})
    set_tests_properties(package.pip PROPERTIES SKIP_RETURN_CODE 77 LABELS python)
  endif()
endif()
