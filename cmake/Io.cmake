# SPDX-License-Identifier: Apache-2.0
# libcairn-io: the rooms io and view, files and pages; and the command `cairn`. They need HDF5,
# jansson, expat, libpng and zlib; libcairn itself needs none of them.
option(CAIRN_IO "Build libcairn-io and the cairn command (needs HDF5, jansson, expat, libpng and zlib)" ON)
if(NOT CAIRN_IO)
  return()
endif()
find_package(PkgConfig REQUIRED)
pkg_check_modules(HDF5 REQUIRED IMPORTED_TARGET hdf5-serial)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
pkg_check_modules(EXPAT REQUIRED IMPORTED_TARGET expat)
pkg_check_modules(PNG REQUIRED IMPORTED_TARGET libpng)
pkg_check_modules(ZLIB REQUIRED IMPORTED_TARGET zlib)

file(GLOB_RECURSE io_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/io/*.c ${PROJECT_SOURCE_DIR}/src/view/*.c)
if(NOT io_sources)
  return()
endif()
include(${PROJECT_SOURCE_DIR}/cmake/BuiltinScenes.cmake)
include(${PROJECT_SOURCE_DIR}/cmake/Page.cmake)
add_library(cairn_io_objects OBJECT ${io_sources} ${builtin_scenes_source} ${page_source})
target_include_directories(cairn_io_objects PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(cairn_io_objects PRIVATE cairn_flags PkgConfig::HDF5 PkgConfig::JANSSON PkgConfig::EXPAT PkgConfig::PNG PkgConfig::ZLIB)

# As with libcairn: `cairn-io` is installed, `cairn_io_inside` is for what uses private functions too.
# The shared libcairn-io has its own hidden copy of the private functions of libcairn that it uses.
# They keep no state: the one hidden variable, the error message, lies behind cn_error_set.
function(cairn_io_library name library)
  add_library(${name} ${ARGN} $<TARGET_OBJECTS:cairn_io_objects>)
  target_link_libraries(${name} PUBLIC ${library} PRIVATE $<BUILD_INTERFACE:cairn_flags>
    PkgConfig::HDF5 PkgConfig::JANSSON PkgConfig::EXPAT PkgConfig::PNG PkgConfig::ZLIB)
  get_target_property(type ${name} TYPE)
  if(type STREQUAL SHARED_LIBRARY)
    target_link_libraries(${name} PRIVATE $<BUILD_INTERFACE:cairn_inside>)
    target_link_options(${name} PRIVATE LINKER:--exclude-libs,ALL)
  endif()
  set_target_properties(${name} PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${soversion}
    LINKER_LANGUAGE C)
  cairn_version_symbols(${name})
endfunction()
cairn_io_library(cairn-io cairn)
add_library(cairn::cairn-io ALIAS cairn-io)
if(BUILD_SHARED_LIBS)
  cairn_io_library(cairn_io_inside cairn_inside STATIC)
else()
  add_library(cairn_io_inside ALIAS cairn-io)
endif()

file(GLOB_RECURSE cli_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/cli/*.c)
if(cli_sources)
  add_executable(cairn-command ${cli_sources})
  target_include_directories(cairn-command PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(cairn-command PRIVATE cairn_io_inside cairn_flags)
  set_target_properties(cairn-command PROPERTIES OUTPUT_NAME cairn
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
  install(TARGETS cairn-command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT command)
  # manual page and completions of shells are made from the same tables as the help, whenever the command is
  if(NOT CMAKE_CROSSCOMPILING OR CMAKE_CROSSCOMPILING_EMULATOR)
    add_custom_command(TARGET cairn-command POST_BUILD
      COMMAND cairn-command man ${PROJECT_BINARY_DIR}/cairn.1
      COMMAND cairn-command completion bash ${PROJECT_BINARY_DIR}/completion/cairn
      COMMAND cairn-command completion zsh ${PROJECT_BINARY_DIR}/completion/_cairn
      COMMAND cairn-command completion fish ${PROJECT_BINARY_DIR}/completion/cairn.fish
      BYPRODUCTS ${PROJECT_BINARY_DIR}/cairn.1 VERBATIM)
    file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/completion)
    install(FILES ${PROJECT_BINARY_DIR}/cairn.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT command)
    foreach(pair "bash-completion/completions/cairn" "zsh/site-functions/_cairn" "fish/vendor_completions.d/cairn.fish")
      get_filename_component(folder ${pair} DIRECTORY)
      get_filename_component(name ${pair} NAME)
      install(FILES ${PROJECT_BINARY_DIR}/completion/${name} DESTINATION ${CMAKE_INSTALL_DATADIR}/${folder}
        COMPONENT command)
    endforeach()
  endif()
endif()
