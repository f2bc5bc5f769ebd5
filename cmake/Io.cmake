# SPDX-License-Identifier: Apache-2.0
# libcairn-io: the rooms io and view, files and pages; and the command `cairn`. They need HDF5 and
# jansson; libcairn itself needs neither.
option(CAIRN_IO "Build libcairn-io and the cairn command (needs HDF5 and jansson)" ON)
if(NOT CAIRN_IO)
  return()
endif()
find_package(PkgConfig REQUIRED)
pkg_check_modules(HDF5 REQUIRED IMPORTED_TARGET hdf5-serial)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)

file(GLOB_RECURSE io_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/io/*.c ${PROJECT_SOURCE_DIR}/src/view/*.c)
if(NOT io_sources)
  return()
endif()
include(${PROJECT_SOURCE_DIR}/cmake/BuiltinScenes.cmake)
include(${PROJECT_SOURCE_DIR}/cmake/Page.cmake)
add_library(cairn-io ${io_sources} ${builtin_scenes_source} ${page_source})
add_library(cairn::cairn-io ALIAS cairn-io)
target_include_directories(cairn-io PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_compile_definitions(cairn-io PRIVATE CNI_VERSION="${PROJECT_VERSION}")
target_link_libraries(cairn-io PUBLIC cairn PRIVATE $<BUILD_INTERFACE:cairn_flags>
  PkgConfig::HDF5 PkgConfig::JANSSON)
if(BUILD_SHARED_LIBS)
  # the rooms above use functions of the rooms below that are not public
  set_target_properties(cairn cairn-io PROPERTIES C_VISIBILITY_PRESET default)
endif()
set_target_properties(cairn-io PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})

file(GLOB_RECURSE cli_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/cli/*.c)
if(cli_sources)
  add_executable(cairn-command ${cli_sources})
  target_include_directories(cairn-command PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_definitions(cairn-command PRIVATE CNI_VERSION="${PROJECT_VERSION}")
  target_link_libraries(cairn-command PRIVATE cairn-io cairn_flags)
  set_target_properties(cairn-command PROPERTIES OUTPUT_NAME cairn
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
  install(TARGETS cairn-command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  # the manual page is made from the same tables as the help
  if(NOT CMAKE_CROSSCOMPILING OR CMAKE_CROSSCOMPILING_EMULATOR)
    add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/cairn.1
      COMMAND cairn-command man ${PROJECT_BINARY_DIR}/cairn.1 DEPENDS cairn-command VERBATIM)
    add_custom_target(cairn-manual ALL DEPENDS ${PROJECT_BINARY_DIR}/cairn.1)
    install(FILES ${PROJECT_BINARY_DIR}/cairn.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  endif()
endif()
