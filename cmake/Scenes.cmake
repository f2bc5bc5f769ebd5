# SPDX-License-Identifier: Apache-2.0
# Scenes that tests and benchmarks share: plain arrays of numbers, their text form, their overlap.
add_library(cairn_scenes STATIC ${PROJECT_SOURCE_DIR}/bench/scene_g.c
  ${PROJECT_SOURCE_DIR}/bench/bodies.c)
target_include_directories(cairn_scenes PUBLIC ${PROJECT_SOURCE_DIR}/bench
  PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(cairn_scenes PRIVATE cairn_inside cairn_flags)
