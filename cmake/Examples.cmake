# SPDX-License-Identifier: Apache-2.0
# Every file of examples/c is a complete program; the tests run it.
file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/c/*.c)
foreach(file ${files})
  get_filename_component(name ${file} NAME_WE)
  # some need libcairn-io, and say so by what they include
  file(STRINGS ${file} uses_io REGEX "#include <cairn/(files|run|scene|record|checkpoint|tools|mesh_file|run_look)\\.h>")
  if(uses_io AND NOT TARGET cairn-io)
    continue()
  endif()
  add_executable(example_${name} ${file})
  target_link_libraries(example_${name} PRIVATE cairn cairn_flags)
  if(uses_io)
    target_link_libraries(example_${name} PRIVATE cairn-io)
  endif()
  set_target_properties(example_${name} PROPERTIES OUTPUT_NAME ${name}
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/examples)
  if(CAIRN_TESTS)
    set(arguments)
    if(name STREQUAL "read_run")
      set(arguments ${PROJECT_BINARY_DIR}/examples/run.h5)
    endif()
    if(name STREQUAL "arm_pd")
      set(arguments ${PROJECT_SOURCE_DIR}/examples/machines/robots/arm.urdf)
    elseif(name STREQUAL "walk_spider")
      set(arguments ${PROJECT_SOURCE_DIR}/examples/machines/spider.json)
    endif()
    add_test(NAME examples.${name} COMMAND example_${name} ${arguments})
    set_tests_properties(examples.${name} PROPERTIES LABELS examples)
  endif()
endforeach()
# whole programs in docs/howto
if(CAIRN_TESTS AND TARGET cairn-io AND NOT CAIRN_SANITIZE AND NOT BUILD_SHARED_LIBS)
  add_test(NAME examples.howto COMMAND ${PROJECT_SOURCE_DIR}/tests/docs/programs ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}
    ${CMAKE_C_COMPILER})
  set_tests_properties(examples.howto PROPERTIES LABELS examples)
endif()
# the run that read_run reads
if(CAIRN_TESTS AND TARGET example_read_run AND TARGET cairn-command)
  add_test(NAME examples.record_run COMMAND cairn-command run newton-cradle --time 0.2 --force -q
    --out ${PROJECT_BINARY_DIR}/examples/run.h5)
  set_tests_properties(examples.record_run PROPERTIES LABELS examples FIXTURES_SETUP example_run)
  set_tests_properties(examples.read_run PROPERTIES FIXTURES_REQUIRED example_run)
endif()
