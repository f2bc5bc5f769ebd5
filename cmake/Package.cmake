# SPDX-License-Identifier: Apache-2.0
# Debian packages by CPack (make package): libcairn, cairn, libcairn-dev, python3-cairn. What each depends on is
# read from its programs and libraries by dpkg-shlibdeps.
if(NOT BUILD_SHARED_LIBS OR NOT TARGET cairn-command)
  return()
endif()
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME cairn)
set(CPACK_PACKAGE_VENDOR Cairn)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "Cairn developers <cairn@localhost>")
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_PACKAGING_INSTALL_PREFIX ${CMAKE_INSTALL_PREFIX})
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL library command dev)
if(CAIRN_PYTHON)
  list(APPEND CPACK_COMPONENTS_ALL python)
endif()

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR})
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libcairn)
set(CPACK_DEBIAN_COMMAND_PACKAGE_NAME cairn)
set(CPACK_DEBIAN_DEV_PACKAGE_NAME libcairn-dev)
set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-cairn)
set(CPACK_DEBIAN_LIBRARY_DESCRIPTION "nonsmooth multibody dynamics: shared libraries
 Rigid bodies that touch, slide, stick, collide and are held by joints, with a certificate of every step.")
set(CPACK_DEBIAN_COMMAND_DESCRIPTION "nonsmooth multibody dynamics: the command
 Scene file in, recorded run and page out.")
set(CPACK_DEBIAN_DEV_DESCRIPTION "nonsmooth multibody dynamics: headers for C
 With files for CMake and pkg-config.")
set(CPACK_DEBIAN_PYTHON_DESCRIPTION "nonsmooth multibody dynamics: Python package
 Worlds, bodies and joints as objects, states as numpy arrays, the solver door.")
set(CPACK_COMPONENT_DEV_DEPENDS library)
set(CPACK_COMPONENT_PYTHON_DEPENDS library)
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "python3 (>= 3.9), python3-numpy, python3-cffi-backend")
set(CPACK_DEBIAN_PYTHON_PACKAGE_RECOMMENDS "cairn, python3-pandas, python3-scipy")
include(CPack)
