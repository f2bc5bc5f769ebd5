# SPDX-License-Identifier: Apache-2.0
# One executable a file: tests/unit/MODULE/test_NAME.c, tests/truth/test_NAME.c, ... run by ctest with
# the folder as label. tests/support is linked to all of them.
find_path(CMOCKA_INCLUDE cmocka.h REQUIRED)
find_library(CMOCKA_LIBRARY cmocka REQUIRED)

file(GLOB support_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/support/*.c)
if(NOT TARGET cairn-io)
  list(FILTER support_sources EXCLUDE REGEX "/(machines|known|runs|problems)\\.c$")
endif()
add_library(cairn_test_support STATIC ${support_sources})
target_include_directories(cairn_test_support PUBLIC ${PROJECT_SOURCE_DIR}/tests/support
  ${PROJECT_SOURCE_DIR}/src ${CMOCKA_INCLUDE})
target_link_libraries(cairn_test_support PUBLIC cairn_scenes cairn_inside cairn_flags ${CMOCKA_LIBRARY} m)
# a header and not a definition on every command line: a compiler cache can then serve several clones
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/tests/include/source_dir.h
  CONTENT "#define CAIRN_SOURCE_DIR \"@PROJECT_SOURCE_DIR@\"\n" @ONLY)
target_include_directories(cairn_test_support PUBLIC ${PROJECT_BINARY_DIR}/tests/include)
if(TARGET cairn-io)
  target_link_libraries(cairn_test_support PUBLIC cairn_io_inside PkgConfig::HDF5 PkgConfig::JANSSON)
endif()

set(folders unit truth convergence determinism piles)
if(TARGET cairn-command)
  list(APPEND folders cli)
endif()
foreach(folder ${folders})
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${folder}/test_*.c)
  foreach(file ${files})
    if(file MATCHES "/unit/(io|view|cli)/" AND NOT TARGET cairn-io)
      continue()
    endif()
    file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR}/tests ${file})
    string(REGEX REPLACE "\\.c$" "" name ${name})
    string(REPLACE "/" "." name ${name})
    string(REPLACE "test_" "" name ${name})
    if(name MATCHES "^unit\\.(io|view|cli)\\." AND NOT TARGET cairn-io)
      continue()
    endif()
    add_executable(${name} ${file})
    target_link_libraries(${name} PRIVATE cairn_test_support)
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES LABELS ${folder} TIMEOUT 900)
    if(folder STREQUAL cli)
      add_dependencies(${name} cairn-command)
      target_compile_definitions(${name} PRIVATE CAIRN_COMMAND="$<TARGET_FILE:cairn-command>")
    endif()
  endforeach()
endforeach()

# Tests once more, for long: ctest -C long -L long.
function(long_test name test)
  add_test(NAME long.${name} COMMAND ${test} CONFIGURATIONS long)
  set_tests_properties(long.${name} PROPERTIES LABELS long TIMEOUT 14400 ENVIRONMENT "${ARGN}")
endfunction()
long_test(random_use unit.world.random_use CAIRN_RANDOM_OPERATIONS=1000000 CAIRN_RANDOM_SEED=2)
long_test(mixed_pile piles.mixed CAIRN_PILE_BODIES=2000 CAIRN_PILE_STEPS=1000)
long_test(hopper piles.hopper CAIRN_HOPPER_BODIES=2000 CAIRN_HOPPER_STEPS=10000)
long_test(pour piles.hopper CAIRN_HOPPER_BODIES=150 CAIRN_HOPPER_STEPS=2000)
long_test(meshes unit.geometry.meshes CAIRN_MILLION=1)
long_test(parts unit.io.mesh_parts CAIRN_PARTS_LONG=1)
long_test(real_meshes unit.io.mesh_scenes CAIRN_MESHES_LONG=1)
long_test(heap piles.heap CAIRN_HEAP_LAYERS=20)
long_test(singular truth.singular CAIRN_WINDOWS=40)
long_test(event_rattle truth.event_rattle CAIRN_RATTLE_STEPS=180)
long_test(oracle unit.geometry.oracle CAIRN_ORACLE_PAIRS=10000)
long_test(soak unit.world.soak CAIRN_SOAK_STEPS=1000000)
long_test(mechanisms unit.world.mechanisms CAIRN_MACHINES=10000)
long_test(ranks determinism.ranks CAIRN_RANKS_ALL=1)
long_test(silo determinism.silo CAIRN_SILO_STEPS=10000)
long_test(extremes unit.world.extremes CAIRN_CROWD=2000)
if(TARGET cairn-io)
  long_test(line truth.line CAIRN_CARTONS=5)
  long_test(shaker truth.granular_machines CAIRN_SHAKER=2000)
endif()
if(TARGET cairn-command)
  long_test(run_kill unit.io.run_kill CAIRN_WRITES=all)
  long_test(kills cli.files CAIRN_KILLS=200)
endif()

# Oracles of the sparse factors: orders of libamd (Debian: libsuitesparse-dev), solutions of MUMPS
# (libmumps-seq-dev). Without them the tests skip.
find_path(AMD_INCLUDE amd.h PATH_SUFFIXES suitesparse)
find_library(AMD_LIBRARY amd)
if(AMD_INCLUDE AND AMD_LIBRARY)
  target_include_directories(unit.sparse.fill SYSTEM PRIVATE ${AMD_INCLUDE})
  target_link_libraries(unit.sparse.fill PRIVATE ${AMD_LIBRARY})
  target_compile_definitions(unit.sparse.fill PRIVATE TEST_AMD)
endif()
find_path(MUMPS_INCLUDE dmumps_c.h)
find_library(MUMPS_LIBRARY dmumps_seq)
if(MUMPS_INCLUDE AND MUMPS_LIBRARY)
  target_include_directories(unit.sparse.mumps SYSTEM PRIVATE ${MUMPS_INCLUDE})
  target_link_libraries(unit.sparse.mumps PRIVATE ${MUMPS_LIBRARY})
  target_compile_definitions(unit.sparse.mumps PRIVATE TEST_MUMPS)
endif()

# Scenes against their JSON Schema (scripts/setup installs the validator).
find_program(NODE node)
if(NODE AND EXISTS ${PROJECT_SOURCE_DIR}/tests/schema/node_modules)
  add_test(NAME schema.scenes COMMAND ${NODE} ${PROJECT_SOURCE_DIR}/tests/schema/check.mjs)
  set_tests_properties(schema.scenes PROPERTIES LABELS unit)
endif()

# Pictures that the command makes (Python's own library decodes them).
find_program(PYTHON3 NAMES python3)
if(PYTHON3 AND TARGET cairn-command)
  add_test(NAME pictures.plots COMMAND ${PYTHON3} ${PROJECT_SOURCE_DIR}/tests/pictures/plots.py
    $<TARGET_FILE:cairn-command>)
  add_test(NAME pictures.exports COMMAND ${PYTHON3} ${PROJECT_SOURCE_DIR}/tests/pictures/exports.py
    $<TARGET_FILE:cairn-command>)
  add_test(NAME cli.vary COMMAND ${PYTHON3} ${PROJECT_SOURCE_DIR}/tests/pictures/vary.py
    $<TARGET_FILE:cairn-command>)
  add_test(NAME cli.completion COMMAND ${PYTHON3} ${PROJECT_SOURCE_DIR}/tests/cli/completion.py
    $<TARGET_FILE:cairn-command>)
  set_tests_properties(pictures.plots pictures.exports cli.vary cli.completion PROPERTIES LABELS cli)
endif()

# Schema and tables of the docs against the library's descriptions of definitions.
add_executable(schema_fields ${PROJECT_SOURCE_DIR}/tests/schema/fields.c)
target_link_libraries(schema_fields PRIVATE cairn_test_support)
set_target_properties(schema_fields PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
if(NODE)
  add_test(NAME schema.fields COMMAND ${NODE} ${PROJECT_SOURCE_DIR}/tests/schema/fields.mjs
    $<TARGET_FILE:schema_fields>)
  set_tests_properties(schema.fields PROPERTIES LABELS unit)
endif()

# The task tests once more against a pool built without threads.
add_executable(unit.core.tasks_serial ${PROJECT_SOURCE_DIR}/tests/unit/core/test_tasks.c
  ${PROJECT_SOURCE_DIR}/src/core/tasks.c)
target_compile_definitions(unit.core.tasks_serial PRIVATE CNI_NO_THREADS)
target_link_libraries(unit.core.tasks_serial PRIVATE cairn_test_support)
set_target_properties(unit.core.tasks_serial PROPERTIES
  RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
add_test(NAME unit.core.tasks_serial COMMAND unit.core.tasks_serial)
set_tests_properties(unit.core.tasks_serial PROPERTIES LABELS unit TIMEOUT 900)

# The wide backends of the SIMD test: one source, one object a level.
function(simd_backend level)
  add_library(simd_backend_${level} OBJECT ${PROJECT_SOURCE_DIR}/tests/unit/core/simd_backend.c)
  target_include_directories(simd_backend_${level} PRIVATE ${PROJECT_SOURCE_DIR}/src
    ${PROJECT_SOURCE_DIR}/include)
  target_compile_options(simd_backend_${level} PRIVATE ${ARGN})
  target_link_libraries(simd_backend_${level} PRIVATE cairn_flags)
  target_sources(unit.core.simd PRIVATE $<TARGET_OBJECTS:simd_backend_${level}>)
endfunction()
simd_backend(plain -DCNI_SIMD_PLAIN)
if(CAIRN_SIMD STREQUAL "off")
  target_compile_definitions(unit.core.simd PRIVATE SIMD_TEST_OFF)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  simd_backend(sse2 -msse2)
  simd_backend(avx2 ${flags_avx2})
  simd_backend(avx512 ${flags_avx512})
  target_compile_definitions(unit.core.simd PRIVATE SIMD_TEST_X86)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  simd_backend(neon)
  target_compile_definitions(unit.core.simd PRIVATE SIMD_TEST_NEON)
endif()

foreach(name bits ranks)
  target_sources(determinism.${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests/determinism/piles.c)
endforeach()

# SUNDIALS (Debian: libsundials-dev) as a second opinion on the integrators
find_path(SUNDIALS_INCLUDE arkode/arkode_erkstep.h)
find_library(SUNDIALS_ARKODE sundials_arkode)
find_library(SUNDIALS_NVECSERIAL sundials_nvecserial)
if(SUNDIALS_INCLUDE AND SUNDIALS_ARKODE AND SUNDIALS_NVECSERIAL)
  add_executable(oracle.sundials ${PROJECT_SOURCE_DIR}/tests/oracle/test_sundials.c)
  target_include_directories(oracle.sundials SYSTEM PRIVATE ${SUNDIALS_INCLUDE})
  target_link_libraries(oracle.sundials PRIVATE cairn_test_support ${SUNDIALS_ARKODE}
    ${SUNDIALS_NVECSERIAL})
  set_target_properties(oracle.sundials PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  add_test(NAME oracle.sundials COMMAND oracle.sundials)
  set_tests_properties(oracle.sundials PROPERTIES LABELS oracle TIMEOUT 900)
endif()

# Qhull (Debian: libqhull-dev) as a second opinion on convex hulls
find_path(QHULL_INCLUDE libqhull_r/qhull_ra.h)
find_library(QHULL_R qhull_r)
if(QHULL_INCLUDE AND QHULL_R)
  add_executable(oracle.qhull ${PROJECT_SOURCE_DIR}/tests/oracle/test_qhull.c)
  target_include_directories(oracle.qhull SYSTEM PRIVATE ${QHULL_INCLUDE})
  target_link_libraries(oracle.qhull PRIVATE cairn_test_support ${QHULL_R})
  set_target_properties(oracle.qhull PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  add_test(NAME oracle.qhull COMMAND oracle.qhull)
  set_tests_properties(oracle.qhull PROPERTIES LABELS oracle TIMEOUT 900)
endif()

# MuJoCo (Debian: libmujoco-dev) as a second opinion on MJCF files
find_path(MUJOCO_INCLUDE mujoco/mujoco.h)
find_library(MUJOCO_LIBRARY mujoco)
if(MUJOCO_INCLUDE AND MUJOCO_LIBRARY AND TARGET cairn-io)
  foreach(name mujoco mujoco_files)
    add_executable(oracle.${name} ${PROJECT_SOURCE_DIR}/tests/oracle/test_${name}.c)
    target_include_directories(oracle.${name} SYSTEM PRIVATE ${MUJOCO_INCLUDE})
    target_link_libraries(oracle.${name} PRIVATE cairn_test_support ${MUJOCO_LIBRARY})
    set_target_properties(oracle.${name} PROPERTIES
      RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
    add_test(NAME oracle.${name} COMMAND oracle.${name})
    set_tests_properties(oracle.${name} PROPERTIES LABELS oracle TIMEOUT 900)
  endforeach()
endif()

include(${PROJECT_SOURCE_DIR}/cmake/BrowserTests.cmake)

# Hashes of final states kept in the repository: a changed result is a reviewed change.
if(TARGET cairn-command)
  add_test(NAME determinism.golden COMMAND ${PROJECT_SOURCE_DIR}/tests/determinism/golden
    $<TARGET_FILE:cairn-command>)
  set_tests_properties(determinism.golden PROPERTIES LABELS determinism TIMEOUT 300)
endif()

# One file and one row: toys are added to a copy of the sources.
if(TARGET cairn-command AND NOT CAIRN_SANITIZE AND NOT BUILD_SHARED_LIBS)
  add_test(NAME house.open COMMAND ${PROJECT_SOURCE_DIR}/tests/open_house/try
    ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR} ${CMAKE_C_COMPILER})
  set_tests_properties(house.open PROPERTIES LABELS house TIMEOUT 300)
endif()

# cairn-mpi against cairn; by a second MPI, and with ranks that are killed again and again, in long runs.
if(TARGET cairn-mpi-command)
  add_test(NAME mpi.run COMMAND ${PROJECT_SOURCE_DIR}/tests/mpi/try $<TARGET_FILE:cairn-command>
    $<TARGET_FILE:cairn-mpi-command>)
  set_tests_properties(mpi.run PROPERTIES LABELS cli TIMEOUT 300)
endif()
foreach(name mpi mpich)
  if(TARGET cairn-${name}-command)
    foreach(what try kills)
      add_test(NAME long.${name}_${what} COMMAND ${PROJECT_SOURCE_DIR}/tests/mpi/${what} $<TARGET_FILE:cairn-command>
        $<TARGET_FILE:cairn-${name}-command> 20 CONFIGURATIONS long)
      set_tests_properties(long.${name}_${what} PROPERTIES LABELS long TIMEOUT 1800)
    endforeach()
  endif()
endforeach()

# The house: its rules of form, its format, and includes that point downward.
foreach(name rules format door)
  add_test(NAME house.${name} COMMAND ${PROJECT_SOURCE_DIR}/tests/house/${name})
  set_tests_properties(house.${name} PROPERTIES LABELS house SKIP_RETURN_CODE 77)
endforeach()
add_test(NAME layers COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR}
  -P ${PROJECT_SOURCE_DIR}/cmake/CheckLayers.cmake)

# Programs and shared libraries: where they look for others, what of them is code.
if(TARGET cairn-command AND CMAKE_SYSTEM_NAME STREQUAL "Linux")
  set(hardened_files $<TARGET_FILE:cairn-command>)
  if(BUILD_SHARED_LIBS)
    list(APPEND hardened_files $<TARGET_FILE:cairn> $<TARGET_FILE:cairn-io>)
  endif()
  set(hardened_release)
  if(CAIRN_HARDENED)
    set(hardened_release --release)
  endif()
  add_test(NAME package.hardened COMMAND ${PROJECT_SOURCE_DIR}/tests/package/hardened
    ${hardened_release} ${hardened_files})
  set_tests_properties(package.hardened PROPERTIES LABELS unit SKIP_RETURN_CODE 77)
endif()

# An installed Cairn serves a program outside the tree. (A sanitized library would need the sanitizer
# in the outside program too.)
if(NOT CAIRN_SANITIZE)
  foreach(way cmake pkg-config)
    add_test(NAME package.${way} COMMAND ${PROJECT_SOURCE_DIR}/tests/package/try
      ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR} ${way})
    if(TARGET cairn-io)
      add_test(NAME package.${way}.io COMMAND ${PROJECT_SOURCE_DIR}/tests/package/try
        ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR} ${way} io)
    endif()
  endforeach()
endif()

# What shared libraries export: the same objects linked once more, and a program that runs with them.
if(TARGET cairn-io AND NOT CAIRN_SANITIZE AND NOT APPLE)
  cairn_library(cairn_shared SHARED)
  cairn_io_library(cairn_io_shared cairn_shared SHARED)
  set_target_properties(cairn_shared cairn_io_shared PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests INSTALL_RPATH "$ORIGIN")
  add_executable(shared_program ${PROJECT_SOURCE_DIR}/tests/package/io.c)
  target_link_libraries(shared_program PRIVATE cairn_io_shared)
  set_target_properties(shared_program PROPERTIES INSTALL_RPATH "$ORIGIN"
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  add_test(NAME package.shared COMMAND shared_program)
  add_test(NAME package.symbols COMMAND ${PROJECT_SOURCE_DIR}/tests/package/symbols
    ${PROJECT_SOURCE_DIR}/include/cairn $<TARGET_FILE:cairn_shared> $<TARGET_FILE:cairn_io_shared>)
endif()
