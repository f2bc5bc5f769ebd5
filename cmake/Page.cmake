# SPDX-License-Identifier: Apache-2.0
# The page template: web/ bundled by esbuild into one C file, again whenever web/ changes. Without node
# or its packages (scripts/setup installs them) everything else still builds, and `cairn report` says
# what is missing.
set(web ${PROJECT_SOURCE_DIR}/web)
set(page_source ${PROJECT_BINARY_DIR}/page/page_template.c)
find_program(NODE NAMES node nodejs)
mark_as_advanced(NODE)

if(NODE AND EXISTS ${web}/node_modules/esbuild/package.json AND EXISTS ${web}/node_modules/three/package.json
    AND EXISTS ${web}/node_modules/uplot/package.json)
  set(page_built ON)
  file(GLOB_RECURSE page_inputs CONFIGURE_DEPENDS ${web}/src/*)
  list(APPEND page_inputs ${web}/build.mjs ${web}/package-lock.json)
  add_custom_command(OUTPUT ${page_source}
    COMMAND ${NODE} ${web}/build.mjs ${PROJECT_BINARY_DIR}/page
    DEPENDS ${page_inputs} COMMENT "Bundling the page" VERBATIM)
else()
  set(page_built OFF)
  message(STATUS "No node or no web/node_modules: `cairn report` is left out (scripts/setup gets both)")
  set(page_source ${PROJECT_BINARY_DIR}/page/page_missing.c)
  file(CONFIGURE OUTPUT ${page_source} @ONLY CONTENT
"// Written by cmake/Page.cmake: the page could not be built here.
#include \"view/view_private.h\"

const unsigned char cni_page_head[1] = {0}, cni_page_tail[1] = {0};
const size_t cni_page_head_size = 0, cni_page_tail_size = 0;
")
endif()
