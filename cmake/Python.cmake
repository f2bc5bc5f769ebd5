# SPDX-License-Identifier: Apache-2.0
# The Python package, in build/python: cffi makes its module from the public headers. Where Python, cffi or
# numpy is missing nothing is built; where pytest is missing its tests are skipped with a message.
if(NOT TARGET cairn-io OR CAIRN_SANITIZE OR CAIRN_FUZZ)
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

set(python_folder ${PROJECT_BINARY_DIR}/python)
file(GLOB python_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/python/cairn/*.py)
file(GLOB public_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/cairn/*.h)
add_custom_command(OUTPUT ${python_folder}/cairn/made
  COMMAND ${CMAKE_COMMAND} -E make_directory ${python_folder}/cairn
  COMMAND ${CMAKE_COMMAND} -E copy ${python_sources} ${PROJECT_SOURCE_DIR}/python/cairn/py.typed ${python_folder}/cairn
  COMMAND ${CMAKE_COMMAND} -E env CAIRN_SOURCE=${PROJECT_SOURCE_DIR} CAIRN_BUILD=${PROJECT_BINARY_DIR}
    CAIRN_PYTHON_OUT=${python_folder} PYTHONDONTWRITEBYTECODE=1 PYTHONWARNINGS=ignore
    ${CAIRN_PYTHON} ${PROJECT_SOURCE_DIR}/python/build_core.py
  COMMAND ${CMAKE_COMMAND} -E touch ${python_folder}/cairn/made
  DEPENDS ${python_sources} ${public_headers} ${PROJECT_SOURCE_DIR}/python/build_core.py cairn cairn-io
  COMMENT "Making the Python package in ${python_folder}")
add_custom_target(python ALL DEPENDS ${python_folder}/cairn/made)

if(CAIRN_TESTS)
  execute_process(COMMAND ${CAIRN_PYTHON} -c "import pytest" RESULT_VARIABLE missing OUTPUT_QUIET ERROR_QUIET)
  if(missing EQUAL 0)
    add_test(NAME python COMMAND ${CAIRN_PYTHON} -m pytest -q -p no:cacheprovider ${PROJECT_SOURCE_DIR}/python/tests)
  else()
    add_test(NAME python COMMAND ${CMAKE_COMMAND} -E echo "SKIPPED: no pytest (scripts/setup installs it)")
    set_tests_properties(python PROPERTIES SKIP_REGULAR_EXPRESSION "SKIPPED: no pytest")
  endif()
  set_tests_properties(python PROPERTIES LABELS python
    ENVIRONMENT "PYTHONPATH=${python_folder};CAIRN_COMMAND=$<TARGET_FILE:cairn-command>;PYTHONDONTWRITEBYTECODE=1;MALLOC_PERTURB_=85;CAIRN_SOURCE=${PROJECT_SOURCE_DIR}")
endif()
