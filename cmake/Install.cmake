# SPDX-License-Identifier: Apache-2.0
# Install target, pkg-config and CMake package. tests/package tries both from outside the tree. Components
# are those of the packages (cmake/Package.cmake): library, command, dev, python.
include(CMakePackageConfigHelpers)

install(TARGETS cairn EXPORT cairn-targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT dev
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT library)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/cairn DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev)
install(EXPORT cairn-targets NAMESPACE cairn:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/cairn COMPONENT dev)

# libcairn-io has an export of its own: who uses libcairn alone need not have HDF5, jansson, expat, libpng and zlib.
if(TARGET cairn-io)
  install(TARGETS cairn-io EXPORT cairn-io-targets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT dev
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT library)
  install(EXPORT cairn-io-targets NAMESPACE cairn:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/cairn COMPONENT dev)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/cairn-io.pc.in ${PROJECT_BINARY_DIR}/cairn-io.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/cairn-io.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)
endif()

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/cairn-config.cmake.in
  ${PROJECT_BINARY_DIR}/cairn-config.cmake INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/cairn)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cairn-config-version.cmake
  COMPATIBILITY SameMinorVersion)
file(RELATIVE_PATH CAIRN_LIB_TO_INCLUDE /x/${CMAKE_INSTALL_LIBDIR} /x/${CMAKE_INSTALL_INCLUDEDIR})
configure_file(${PROJECT_SOURCE_DIR}/cmake/cairn.pc.in ${PROJECT_BINARY_DIR}/cairn.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/cairn-config.cmake ${PROJECT_BINARY_DIR}/cairn-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/cairn COMPONENT dev)
install(FILES ${PROJECT_BINARY_DIR}/cairn.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)
include(${PROJECT_SOURCE_DIR}/cmake/Package.cmake)
