# SPDX-License-Identifier: Apache-2.0
# build/cairn-bench and, for every other engine that is installed, build/peers/NAME: its own program,
# linked with nothing of Cairn.
file(GLOB bench_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/*.c)
list(REMOVE_ITEM bench_sources ${PROJECT_SOURCE_DIR}/bench/hinges.c) # of the peers
# from the tests: the mechanisms of the 2013 paper, and problems like stored ones
add_executable(cairn-bench ${bench_sources} ${PROJECT_SOURCE_DIR}/tests/support/mechanisms.c
  ${PROJECT_SOURCE_DIR}/tests/support/disturbed.c)
target_include_directories(cairn-bench PRIVATE ${PROJECT_SOURCE_DIR}/bench ${PROJECT_SOURCE_DIR}/src
  ${PROJECT_SOURCE_DIR}/tests/support)
target_link_libraries(cairn-bench PRIVATE cairn_inside cairn_flags m)
if(TARGET cairn-io)
  # problems from files
  target_link_libraries(cairn-bench PRIVATE cairn_io_inside)
  target_compile_definitions(cairn-bench PRIVATE BENCH_IO BENCH_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
endif()

function(cairn_peer name source)
  add_executable(peer_${name} ${PROJECT_SOURCE_DIR}/bench/peers/${source}
    ${PROJECT_SOURCE_DIR}/bench/bodies.c)
  target_link_libraries(peer_${name} PRIVATE ${ARGN} m)
  target_compile_definitions(peer_${name} PRIVATE _POSIX_C_SOURCE=200809L)
  set_target_properties(peer_${name} PROPERTIES OUTPUT_NAME ${name}
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/peers)
endfunction()

# The programs of `trust` (mechanism.c: a mechanism in, its frames out), of `mechanisms` and of `spider`
# (hinges.c: a machine of hinges in, time and errors out).
function(cairn_reading_peer reader name language)
  add_executable(peer_${name} ${PROJECT_SOURCE_DIR}/bench/peers/${name}.${language}
    ${PROJECT_SOURCE_DIR}/bench/${reader}.c)
  target_link_libraries(peer_${name} PRIVATE ${ARGN} m)
  target_compile_definitions(peer_${name} PRIVATE _POSIX_C_SOURCE=200809L)
  set_target_properties(peer_${name} PROPERTIES OUTPUT_NAME ${name}
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/peers)
endfunction()

# Open Dynamics Engine (Debian: libode-dev)
find_path(ODE_INCLUDE ode/ode.h)
find_library(ODE_LIBRARY ode)
if(ODE_INCLUDE AND ODE_LIBRARY)
  # its header has no version; pkg-config knows it
  find_program(PKG_CONFIG pkg-config)
  set(ode_version "")
  if(PKG_CONFIG)
    execute_process(COMMAND ${PKG_CONFIG} --modversion ode OUTPUT_VARIABLE ode_version
      OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
  cairn_peer(ode ode.c ${ODE_LIBRARY})
  target_include_directories(peer_ode SYSTEM PRIVATE ${ODE_INCLUDE})
  target_compile_definitions(peer_ode PRIVATE ODE_VERSION="${ode_version}")
  cairn_reading_peer(mechanism trust_ode c ${ODE_LIBRARY})
  cairn_reading_peer(hinges hinges_ode c ${ODE_LIBRARY})
  cairn_reading_peer(mechanism collide_ode c ${ODE_LIBRARY})
  target_compile_definitions(peer_trust_ode PRIVATE ODE_VERSION="${ode_version}")
endif()

# Bullet (Debian: libbullet-dev), a C++ library
include(CheckLanguage)
check_language(CXX)
find_path(BULLET_INCLUDE bullet/btBulletDynamicsCommon.h)
if(CMAKE_CXX_COMPILER AND BULLET_INCLUDE)
  enable_language(CXX)
  find_library(BULLET_DYNAMICS BulletDynamics)
  find_library(BULLET_COLLISION BulletCollision)
  find_library(BULLET_MATH LinearMath)
  cairn_reading_peer(mechanism trust_bullet cpp ${BULLET_DYNAMICS} ${BULLET_COLLISION} ${BULLET_MATH})
  target_include_directories(peer_trust_bullet SYSTEM PRIVATE ${BULLET_INCLUDE}/bullet)
  cairn_peer(bullet bullet.cpp ${BULLET_DYNAMICS} ${BULLET_COLLISION} ${BULLET_MATH})
  target_include_directories(peer_bullet SYSTEM PRIVATE ${BULLET_INCLUDE}/bullet)
  cairn_reading_peer(mechanism collide_bullet cpp ${BULLET_DYNAMICS} ${BULLET_COLLISION}
    ${BULLET_MATH})
  target_include_directories(peer_collide_bullet SYSTEM PRIVATE ${BULLET_INCLUDE}/bullet)
  # the same in double precision, which the same package has
  find_library(BULLET_DYNAMICS_64 BulletDynamics-float64)
  find_library(BULLET_COLLISION_64 BulletCollision-float64)
  find_library(BULLET_MATH_64 LinearMath-float64)
  if(BULLET_DYNAMICS_64 AND BULLET_COLLISION_64 AND BULLET_MATH_64)
    cairn_peer(bullet64 bullet.cpp ${BULLET_DYNAMICS_64} ${BULLET_COLLISION_64} ${BULLET_MATH_64})
    target_include_directories(peer_bullet64 SYSTEM PRIVATE ${BULLET_INCLUDE}/bullet)
    target_compile_definitions(peer_bullet64 PRIVATE BT_USE_DOUBLE_PRECISION)
    cairn_reading_peer(hinges hinges_bullet cpp ${BULLET_DYNAMICS_64} ${BULLET_COLLISION_64} ${BULLET_MATH_64})
    target_include_directories(peer_hinges_bullet SYSTEM PRIVATE ${BULLET_INCLUDE}/bullet)
    target_compile_definitions(peer_hinges_bullet PRIVATE BT_USE_DOUBLE_PRECISION)
    cairn_reading_peer(hinges hinges_rigid cpp ${BULLET_DYNAMICS_64} ${BULLET_COLLISION_64} ${BULLET_MATH_64})
    target_include_directories(peer_hinges_rigid SYSTEM PRIVATE ${BULLET_INCLUDE}/bullet)
    target_compile_definitions(peer_hinges_rigid PRIVATE BT_USE_DOUBLE_PRECISION)
    cairn_peer(collide_bullet64 collide_bullet.cpp ${BULLET_DYNAMICS_64} ${BULLET_COLLISION_64}
      ${BULLET_MATH_64})
    target_include_directories(peer_collide_bullet64 SYSTEM PRIVATE ${BULLET_INCLUDE}/bullet)
    target_compile_definitions(peer_collide_bullet64 PRIVATE BT_USE_DOUBLE_PRECISION)
  endif()
endif()

# MuJoCo (Debian: libmujoco-dev)
find_path(MUJOCO_INCLUDE mujoco/mujoco.h)
find_library(MUJOCO_LIBRARY mujoco)
if(MUJOCO_INCLUDE AND MUJOCO_LIBRARY)
  cairn_reading_peer(mechanism trust_mujoco c ${MUJOCO_LIBRARY})
  cairn_reading_peer(hinges hinges_mujoco c ${MUJOCO_LIBRARY})
endif()

# Simbody (Debian: libsimbody-dev), a C++ library
find_path(SIMBODY_INCLUDE Simbody.h PATH_SUFFIXES simbody)
find_library(SIMBODY_LIBRARY SimTKsimbody)
find_library(SIMBODY_MATH SimTKmath)
find_library(SIMBODY_COMMON SimTKcommon)
if(CMAKE_CXX_COMPILER AND SIMBODY_INCLUDE AND SIMBODY_LIBRARY AND SIMBODY_MATH AND SIMBODY_COMMON)
  enable_language(CXX)
  cairn_reading_peer(hinges hinges_simbody cpp ${SIMBODY_LIBRARY} ${SIMBODY_MATH} ${SIMBODY_COMMON})
  target_include_directories(peer_hinges_simbody SYSTEM PRIVATE ${SIMBODY_INCLUDE})
  # its structs have more in them with assertions, and the package was built with them
  target_compile_options(peer_hinges_simbody PRIVATE -UNDEBUG)
endif()

# Siconos, its solvers alone (Debian: libsiconos-numerics-dev)
find_path(SICONOS_INCLUDE numerics/LinearComplementarityProblem.h PATH_SUFFIXES siconos)
find_library(SICONOS_LIBRARY siconos_numerics)
if(SICONOS_INCLUDE AND SICONOS_LIBRARY)
  # each of its programs reads problems in the form of the file it is built with
  foreach(pair siconos:lcp siconos_friction:friction)
    string(REPLACE ":" ";" pair ${pair})
    list(GET pair 0 name)
    list(GET pair 1 problems)
    add_executable(peer_${name} ${PROJECT_SOURCE_DIR}/bench/peers/${name}.c
      ${PROJECT_SOURCE_DIR}/bench/peers/siconos_runs.c
      ${PROJECT_SOURCE_DIR}/bench/${problems}_problems.c)
    target_include_directories(peer_${name} SYSTEM PRIVATE ${SICONOS_INCLUDE} ${SICONOS_INCLUDE}/numerics)
    target_link_libraries(peer_${name} PRIVATE cairn_flags ${SICONOS_LIBRARY} m)
    set_target_properties(peer_${name} PROPERTIES OUTPUT_NAME ${name}
      RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/peers)
  endforeach()
endif()

if(CAIRN_TESTS)
  # a smoke run: the frame works and prints what tools expect
  add_test(NAME bench.math COMMAND cairn-bench math --set calls=1000 --json)
  set_tests_properties(bench.math PROPERTIES LABELS bench
    PASS_REGULAR_EXPRESSION "\"name\": \"math\".*\"machine\".*\"rows\".*\"busy\"")
  # one word each for shorter lines: a benchmark, small, and what it must print
  function(cairn_bench_test name expected)
    add_test(NAME bench.${name} COMMAND cairn-bench ${name} ${ARGN} --json)
    set_tests_properties(bench.${name} PROPERTIES LABELS bench
      PASS_REGULAR_EXPRESSION "\"name\": \"${name}\".*\"machine\".*\"rows\".*${expected}.*\"busy\"")
  endfunction()
  cairn_bench_test(granular "\"scene\": \"flow\"" --set spheres=30 --set steps=25
    --set flow=600 --set settle=0.1 --set flow_steps=3)
  cairn_bench_test(peers "\"same_pairs\": true" --set spheres=60 --set steps=30 --set threads=1)
  cairn_bench_test(convergence "\"error_ratio\"" --set spheres=100 --set mixed=100
    --set states=1 --set steps=20)
  cairn_bench_test(collision "\"what\": \"pile\"" --set bodies=60 --set settle=60 --set frames=2
    --set pile=40 --set steps=30 --set hopper=40 --set pours=30 --set seconds=.001 --set peers=none)
  cairn_bench_test(slide "\"shape\": \"sphere\"" --set directions=1 --set peers=none)
  cairn_bench_test(auto "\"ratio\"" --set scene=stack --set warm=5 --set counted=5)
  cairn_bench_test(memory "\"gigabytes_per_second\"" --set megabytes=4)
  cairn_bench_test(rest "\"kinetic_energy_per_body\"" --set spheres=60 --set steps=20
    --set sweeps=4,8)
  cairn_bench_test(scaling "\"bytes_per_sphere\".*\"boxes and spheres\"" --set spheres=100,200
    --set steps=4 --set mixed=100 --set mixed_steps=5)
  cairn_bench_test(shaker "\"bytes_per_contact\"" --set spheres=60 --set settle=0.02
    --set seconds=0.01)
  cairn_bench_test(discharge "\"spheres_per_second\"" --set spheres=400 --set holes=5
    --set settle=0.05 --set begin=0.01 --set end=0.05)
  cairn_bench_test(mechanisms "\"mechanism\": \"ladder\".*\"joint_error\"" --set chain=3 --set btree=3
    --set ladder=2 --set peers=none)
  if(TARGET cairn-io)
    cairn_bench_test(spider "\"engine\": \"cairn default\".*\"walked\"" --set seconds=.1 --set peers=none)
  endif()
  cairn_bench_test(silo "\"carried_by_floor\"" --set sides=1 --set seconds=0.05 --set mean=0.01)
  add_test(NAME bench.trust COMMAND cairn-bench trust --set only=5 --json)
  set_tests_properties(bench.trust PROPERTIES LABELS bench
    PASS_REGULAR_EXPRESSION "\"name\": \"trust\".*\"green\": true")
  add_test(NAME bench.lcp COMMAND cairn-bench lcp --set files=none --set sizes=20 --set repeats=3 --json)
  set_tests_properties(bench.lcp PROPERTIES LABELS bench
    PASS_REGULAR_EXPRESSION "\"name\": \"lcp\".*\"problem\": \"psd-20\".*\"converged\": true")
  add_test(NAME bench.friction COMMAND cairn-bench friction --set seconds=.001 --set peers=none --json)
  set_tests_properties(bench.friction PROPERTIES LABELS bench
    PASS_REGULAR_EXPRESSION "\"name\": \"friction\".*\"rows\"")
  add_test(NAME bench.fclib COMMAND cairn-bench fclib --set peers=none --set plot=none
    --set tolerances=1e-8 --set repeats=1 --json)
  set_tests_properties(bench.fclib PROPERTIES LABELS bench
    PASS_REGULAR_EXPRESSION "\"name\": \"fclib\".*\"rows\".*\"problem\": \"total\"")
  cairn_bench_test(families "\"family\": \"all\"" --set only=Rover --set seeds=1)
  cairn_bench_test(ipm-table1 "\"mean_iterations\"" --set largest=130)
  cairn_bench_test(ipm-table2 "\"paper_full\"" --set balls=30)
  if(TARGET cairn-io)
    add_test(NAME bench.deep-pile COMMAND cairn-bench deep-pile --set spheres=60 --set steps=30
      --set seconds=0.02 --json)
    set_tests_properties(bench.deep-pile PROPERTIES LABELS bench
      PASS_REGULAR_EXPRESSION "\"name\": \"deep-pile\".*\"solver\": \"apgd\".*\"of_psor\"")
  endif()
  add_test(NAME bench.rocking-block COMMAND cairn-bench rocking-block
    --set plot=${PROJECT_BINARY_DIR}/rocking-block.svg --json)
  set_tests_properties(bench.rocking-block PROPERTIES LABELS bench
    PASS_REGULAR_EXPRESSION "\"name\": \"rocking-block\".*\"paper_position_drift\""
    FAIL_REGULAR_EXPRESSION "\"within\": false|\"hem5_needs_less\": false")
  add_test(NAME bench.four-bar COMMAND cairn-bench four-bar
    --set plot=${PROJECT_BINARY_DIR}/four-bar.svg --json)
  set_tests_properties(bench.four-bar PROPERTIES LABELS bench
    PASS_REGULAR_EXPRESSION "\"name\": \"four-bar\".*\"times_real_time\""
    FAIL_REGULAR_EXPRESSION "\"within\": false|\"hem5_needs_less\": false")
  add_test(NAME bench.unknown COMMAND cairn-bench nothing)
  set_tests_properties(bench.unknown PROPERTIES LABELS bench WILL_FAIL TRUE)
endif()
