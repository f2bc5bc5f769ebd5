# SPDX-License-Identifier: Apache-2.0
# A room of src/ includes only rooms below it (src/LAYERS, lowest first), and of another room only its
# one header, room/room.h (core: one header a topic). Some rooms include public headers alone. Public headers <cairn/NAME.h> stand with a room
# too: no room below it includes them. usage: cmake -DROOT=... -P CheckLayers.cmake
cmake_policy(SET CMP0057 NEW)
file(STRINGS ${ROOT}/src/LAYERS rooms)
set(wrong 0)
set(rank 0)
foreach(room ${rooms})
  math(EXPR rank "${rank} + 1")
  set(rank_${room} ${rank})
endforeach()
# Rooms that have no more of the library than any program: they include <cairn/...> alone.
set(outside view cli)
# The lowest room that may include a header: the room of its name (joint.h, joint_list.h), or
set(headers numbers:core mesh_file:io run_look:io checkpoint:io tools:io look:world settings:world change:world blocks:problem own_solver:solver own_joint:joint own_force:force own:force base:core function:core query:world state:world batch:world mechanism:world verdict:world system:integrator shape:geometry curve:geometry mesh:geometry world:model scene:io run:io record:io files:io)
foreach(pair ${headers})
  string(REPLACE ":" ";" pair ${pair})
  list(GET pair 0 header)
  list(GET pair 1 owner_${header})
endforeach()
file(GLOB_RECURSE files RELATIVE ${ROOT}/src ${ROOT}/src/*.c ${ROOT}/src/*.h ${ROOT}/src/*.inc)
set(count 0)
foreach(file ${files})
  math(EXPR count "${count} + 1")
  string(REGEX REPLACE "/.*" "" room ${file})
  if(NOT DEFINED rank_${room})
    message("src/${file}: the room ${room} is not in src/LAYERS")
    math(EXPR wrong "${wrong} + 1")
    continue()
  endif()
  file(STRINGS ${ROOT}/src/${file} lines REGEX "^ *# *include +<cairn/")
  foreach(line ${lines})
    string(REGEX REPLACE ".*<cairn/([a-z_]+)\\.h>.*" "\\1" header ${line})
    string(REGEX REPLACE "_list$" "" header ${header})
    if(DEFINED rank_${header} AND NOT DEFINED owner_${header})
      set(owner_${header} ${header})
    endif()
    if(NOT DEFINED owner_${header})
      message("src/${file} includes <cairn/${header}.h>: no room is known for it (CheckLayers.cmake)")
      math(EXPR wrong "${wrong} + 1")
    elseif(rank_${owner_${header}} GREATER rank_${room})
      message("src/${file} includes <cairn/${header}.h>: ${owner_${header}} is not below ${room}")
      math(EXPR wrong "${wrong} + 1")
    endif()
  endforeach()
  file(STRINGS ${ROOT}/src/${file} lines REGEX "^ *# *include +\"")
  foreach(line ${lines})
    string(REGEX REPLACE ".*\"([^\"]+)\".*" "\\1" target ${line})
    string(REGEX MATCH "^[^/]+/" prefix ${target})
    if(NOT prefix)
      continue()
    endif()
    string(REPLACE "/" "" other ${prefix})
    if(other STREQUAL room)
      continue()
    endif()
    if(room IN_LIST outside)
      message("src/${file} includes ${target}: ${room} includes <cairn/...> and its own room alone")
      math(EXPR wrong "${wrong} + 1")
    elseif(NOT DEFINED rank_${other} OR rank_${other} GREATER rank_${room})
      message("src/${file} includes ${target}: ${other} is not below ${room}")
      math(EXPR wrong "${wrong} + 1")
    elseif(NOT other STREQUAL core AND NOT target STREQUAL "${other}/${other}.h")
      message("src/${file} includes ${target}: only ${other}/${other}.h is for other rooms")
      math(EXPR wrong "${wrong} + 1")
    endif()
  endforeach()
endforeach()
# Benchmarks and examples are programs like any other, but for benchmarks of what no program sees: parts of
# a step by themselves.
set(inside
  baraff             # dense kernels, by which the method of the paper is timed
  bench_broad        # broad phases alone
  bench_cascade      # the same dense kernels
  bench_collision    # collision alone, as the peers' programs time it
  bench_columns      # the schedule of a sweep by itself
  bench_convergence  # errors after each sweep of psor
  bench_deep_pile    # walks over the table of solvers and its limits
  bench_kernel       # the innermost loops of a sweep, and assembly alone
  bench_ldl          # the sparse factor
  bench_math         # elementary functions
  bench_memory       # threads of the library against the memory's own speed
  bench_simplex_update # updates of one factor
  cascade            # problems for bench_cascade and bench_simplex_update
  convex_pairs       # two shapes by themselves, for bench_collision
  ipm_tables)        # steps of the interior-point method
file(GLOB_RECURSE programs RELATIVE ${ROOT} ${ROOT}/bench/*.c ${ROOT}/bench/*.h ${ROOT}/examples/*.c ${ROOT}/examples/*.h)
foreach(file ${programs})
  math(EXPR count "${count} + 1")
  get_filename_component(name ${file} NAME_WE)
  file(STRINGS ${ROOT}/${file} lines REGEX "^ *# *include +\"[a-z_]+/")
  if(lines AND NOT name IN_LIST inside)
    message("${file} includes private headers (${lines}): programs include <cairn/...> alone")
    math(EXPR wrong "${wrong} + 1")
  elseif(NOT lines AND name IN_LIST inside AND file MATCHES "\\.c$")
    message("${file} has no private headers: take it off the list (CheckLayers.cmake)")
    math(EXPR wrong "${wrong} + 1")
  endif()
endforeach()
# A public function that can fail computes in the usual floating-point mode (core/floats.h).
foreach(file ${files})
  if(NOT file MATCHES "^(problem|solver|integrator|world)/.*\\.c$")
    continue()
  endif()
  file(READ ${ROOT}/src/${file} text)
  string(REPLACE ";" "," text "${text}")
  string(REGEX MATCHALL "\nCnStatus cn_[a-z0-9_]+\\([^{},]*(,[^{},]*)*\\) {\n[^\n]*" doors "${text}")
  foreach(door ${doors})
    if(NOT door MATCHES "CNI_FLOATS")
      message("src/${file}: does not begin with CNI_FLOATS: ${door}")
      math(EXPR wrong "${wrong} + 1")
    endif()
  endforeach()
endforeach()
if(wrong)
  message(FATAL_ERROR "${wrong} things are out of place")
endif()
message("${count} files, every include in place")
