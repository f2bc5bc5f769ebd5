# SPDX-License-Identifier: Apache-2.0
# Fuzz targets: tests/fuzz/fuzz_NAME.c. As tests they are replayed on their corpus; with CAIRN_FUZZ
# (clang; the preset `fuzz`, `make fuzz`) they become libFuzzer programs fuzz_NAME.
file(GLOB fuzz_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/fuzz/fuzz_*.c)
set(fuzz_corpus ${PROJECT_SOURCE_DIR}/tests/fuzz/corpus)
set(fuzz_extra_solve ${fuzz_corpus}/problem)
set(fuzz_extra_mesh ${PROJECT_SOURCE_DIR}/tests/data/meshes)
set(fuzz_extra_scene ${PROJECT_SOURCE_DIR}/examples/scenes ${PROJECT_SOURCE_DIR}/tests/scenes/good)

function(fuzz_target target)
  add_executable(${target} ${ARGN})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${target} PRIVATE cairn_io_inside cairn_flags PkgConfig::HDF5 PkgConfig::JANSSON)
endfunction()

foreach(source ${fuzz_sources})
  string(REGEX REPLACE ".*/fuzz_(.*)\\.c$" "\\1" name ${source})
  if(CAIRN_TESTS)
    fuzz_target(fuzz.${name} ${source} ${PROJECT_SOURCE_DIR}/tests/fuzz/replay.c)
    set_target_properties(fuzz.${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
    add_test(NAME fuzz.${name} COMMAND fuzz.${name} ${fuzz_corpus}/${name} ${fuzz_extra_${name}})
    set_tests_properties(fuzz.${name} PROPERTIES LABELS "unit;fuzz")
  endif()
  if(CAIRN_FUZZ)
    fuzz_target(fuzz_${name} ${source})
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  endif()
endforeach()
