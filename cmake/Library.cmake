# SPDX-License-Identifier: Apache-2.0
# libcairn: the rooms core .. world of src/LAYERS; no dependency beyond the C library and threads.
set(rooms core ranks sparse problem solver integrator geometry joint force model collision assembly world)
set(library_sources)
foreach(room ${rooms})
  file(GLOB_RECURSE room_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${room}/*.c)
  list(APPEND library_sources ${room_sources})
endforeach()

# Wide kernels: NAME_avx2.c and NAME_avx512.c are compiled for their level (core/simd/simd.h), and left out
# where there is no such level. Emulated: functions of SIMDe in place of the instructions of AVX-512,
# whose headers are not free of warnings. VL: the halves of AVX-512's registers are used as such, too; without it
# sweeps take 9 % longer.
set(flags_avx2 -mavx2)
set(flags_avx512 -mavx512f -mavx512vl)
if(CAIRN_SIMD STREQUAL "emulated")
  set(flags_avx512 -mavx2 -DCNI_EMULATE_AVX512 -w -Wno-psabi)
endif()
foreach(level avx2 avx512)
  set(wide_sources ${library_sources})
  list(FILTER wide_sources INCLUDE REGEX "_${level}\\.c$")
  if(wide_sources AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" AND NOT CAIRN_SIMD STREQUAL "off")
    set_source_files_properties(${wide_sources} PROPERTIES COMPILE_OPTIONS "${flags_${level}}")
  elseif(wide_sources)
    list(REMOVE_ITEM library_sources ${wide_sources})
  endif()
endforeach()

# Under clang's undefined-behaviour sanitizer wide kernels take minutes each to compile, ten times the
# time of the address sanitizer, which stays. Their plain-C build, NAME_plain.c, has all checks; unit
# tests run it beside the widest and compare bits (solver: test_lanes, test_descent; problem:
# test_certificate).
if(CAIRN_SANITIZE MATCHES "undefined")
  set(wide_sources ${library_sources})
  list(FILTER wide_sources INCLUDE REGEX "_kernels(_avx2|_avx512)?\\.c$")
  set_property(SOURCE ${wide_sources} APPEND PROPERTY COMPILE_OPTIONS -fno-sanitize=undefined)
endif()

# Guards on the stack (cmake/Hardening.cmake) are not for the innermost loops: they work on buffers
# of their own, whose sizes do not come from outside.
set(kernel_sources ${library_sources})
list(FILTER kernel_sources INCLUDE REGEX "_kernels[a-z0-9_]*\\.c$")
if(CAIRN_HARDENED)
  set_property(SOURCE ${kernel_sources} APPEND PROPERTY COMPILE_OPTIONS -fno-stack-protector)
endif()
# Sweeps in AVX-512, where there are 32 registers: at -O3 gcc keeps more of a batch in them (3 % of the time). With
# the 16 of AVX2 it makes an eighth more instructions.
if(CMAKE_C_FLAGS_RELEASE MATCHES "-O2")
  set(sweep_sources ${kernel_sources})
  list(FILTER sweep_sources INCLUDE REGEX "psor_kernels_avx512\\.c$")
  set_property(SOURCE ${sweep_sources} APPEND PROPERTY COMPILE_OPTIONS $<$<CONFIG:Release>:-O3>)
endif()
# What a step of a robot goes through: vectors of three and small matrices, of which -O3 makes 6 % less instructions.
if(CMAKE_C_FLAGS_RELEASE MATCHES "-O2")
  set(robot_sources ${library_sources})
  list(FILTER robot_sources INCLUDE REGEX "/src/(joint/|assembly/(drift|joints)|problem/|sparse/direct/|solver/(joints|cones)/)")
  set_property(SOURCE ${robot_sources} APPEND PROPERTY COMPILE_OPTIONS $<$<CONFIG:Release>:-O3>)
endif()
# Without any optimisation gcc takes minutes and 2 GB for one file of them, with a little 5 s.
set_property(SOURCE ${kernel_sources} APPEND PROPERTY COMPILE_OPTIONS $<$<CONFIG:Debug>:-O1>)

# Compiled once. `cairn` is the library that is installed, static or (BUILD_SHARED_LIBS) shared, which
# exports the public functions cn_ only. What uses private ones too (the command, tests, benchmarks)
# links `cairn_inside`, the same objects as an archive.
add_library(cairn_objects OBJECT ${library_sources})
target_include_directories(cairn_objects PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
target_compile_definitions(cairn_objects PRIVATE
  $<$<STREQUAL:${CAIRN_SIMD},off>:CNI_SIMD_OFF>
  $<$<STREQUAL:${CAIRN_SIMD},avx2>:CNI_SIMD_NO_AVX512>
  $<$<STREQUAL:${CAIRN_SIMD},emulated>:CNI_SIMD_EMULATED>)
target_link_libraries(cairn_objects PRIVATE cairn_flags)

# Before 1.0 the interface may change with the minor version, so that is in the soname.
set(soversion ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
# Shared libraries give their symbols that version too: cn_world_step@@CAIRN_0.2.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/cairn.map CONTENT "CAIRN_${soversion} { global: cn_*; local: *; };\n")
function(cairn_version_symbols name)
  get_target_property(type ${name} TYPE)
  if(type STREQUAL SHARED_LIBRARY AND NOT APPLE)
    target_link_options(${name} PRIVATE LINKER:--version-script,${PROJECT_BINARY_DIR}/cairn.map)
    set_property(TARGET ${name} APPEND PROPERTY LINK_DEPENDS ${PROJECT_BINARY_DIR}/cairn.map)
  endif()
endfunction()
function(cairn_library name)
  add_library(${name} ${ARGN} $<TARGET_OBJECTS:cairn_objects>)
  target_include_directories(${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${name} PRIVATE $<BUILD_INTERFACE:cairn_flags> PUBLIC Threads::Threads m)
  set_target_properties(${name} PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${soversion}
    LINKER_LANGUAGE C)
  cairn_version_symbols(${name})
endfunction()
cairn_library(cairn)
add_library(cairn::cairn ALIAS cairn)
if(BUILD_SHARED_LIBS)
  cairn_library(cairn_inside STATIC)
else()
  add_library(cairn_inside ALIAS cairn)
endif()
