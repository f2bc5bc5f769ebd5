# Every file of examples/c is a complete program; the tests run it.
file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/c/*.c)
foreach(file ${files})
  get_filename_component(name ${file} NAME_WE)
  add_executable(example_${name} ${file})
  target_link_libraries(example_${name} PRIVATE cairn cairn_flags)
  set_target_properties(example_${name} PROPERTIES OUTPUT_NAME ${name}
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/examples)
  if(CAIRN_TESTS)
    add_test(NAME examples.${name} COMMAND example_${name})
    set_tests_properties(examples.${name} PROPERTIES LABELS examples)
  endif()
endforeach()
