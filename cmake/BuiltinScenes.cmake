# SPDX-License-Identifier: Apache-2.0
# Compiles examples/scenes/*.json into the library: one C file with every text as bytes (string
# literals of that length are not portable) and a table of names and titles.
file(GLOB builtin_scenes CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/scenes/*.json)
list(SORT builtin_scenes)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${builtin_scenes})
set(builtin_scenes_source ${PROJECT_BINARY_DIR}/builtin_scenes.c)

set(arrays "")
set(rows "")
set(number 0)
foreach(file ${builtin_scenes})
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} text)
  string(JSON title GET "${text}" title)
  string(REPLACE "\\" "\\\\" title "${title}")
  string(REPLACE "\"" "\\\"" title "${title}")
  file(READ ${file} bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(REPLACE "0x0a," "0x0a,
    " bytes "${bytes}") # a line of text, a line of bytes
  string(APPEND arrays "static const unsigned char text_${number}[] = {\n    ${bytes}0};\n")
  string(APPEND rows "    {\"${name}\", \"${title}\", text_${number}, sizeof text_${number} - 1},\n")
  math(EXPR number "${number} + 1")
endforeach()
# Files that the scenes are made of.
file(GLOB builtin_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/scenes/*.obj)
list(SORT builtin_files)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${builtin_files})
set(file_rows "")
foreach(file ${builtin_files})
  get_filename_component(name ${file} NAME)
  file(READ ${file} bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(REPLACE "0x0a," "0x0a,
    " bytes "${bytes}")
  string(APPEND arrays "static const unsigned char text_${number}[] = {\n    ${bytes}0};\n")
  string(APPEND file_rows "    {\"${name}\", text_${number}, sizeof text_${number} - 1},\n")
  math(EXPR number "${number} + 1")
endforeach()
file(CONFIGURE OUTPUT ${builtin_scenes_source} @ONLY CONTENT
"// Written by cmake/BuiltinScenes.cmake from examples/scenes.
#include \"io/scene/scene_private.h\"

@arrays@
const CniBuiltinScene cni_builtin_scenes[] = {
@rows@};
const int32_t cni_builtin_scene_count =
    (int32_t)(sizeof cni_builtin_scenes / sizeof cni_builtin_scenes[0]);
const CniBuiltinFile cni_builtin_files[] = {
@file_rows@    {0, 0, 0}};
")
