# SPDX-License-Identifier: Apache-2.0
# What makes an attack on release builds harder, and costs next to nothing. tests/package/hardened looks
# at what has come out.

# Where libraries are found: where the system keeps them; a shared libcairn beside the program, in the
# folder above (tests) or in the installed lib. CMake's way of changing the path at installation leaves
# an empty entry in it, which means the working directory. For HDF5 in a place that the loader does not
# know: -DCMAKE_INSTALL_RPATH=/place/lib.
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
if(BUILD_SHARED_LIBS AND NOT DEFINED CMAKE_INSTALL_RPATH)
  set(CMAKE_INSTALL_RPATH "$ORIGIN" "$ORIGIN/.." "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
endif()

# Programs at an address that changes from start to start.
include(CheckPIESupported)
check_pie_supported(LANGUAGES C)

# Sanitizers see more than guards do, and the checked functions need an optimising compiler.
if(NOT CAIRN_SANITIZE AND CMAKE_BUILD_TYPE STREQUAL "Release" AND CMAKE_C_FLAGS_RELEASE MATCHES "-O[1-3s]")
  target_compile_options(cairn_flags INTERFACE
    -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
  set(CAIRN_HARDENED ON)
endif()
if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
  # addresses of functions are looked up at the start and cannot be changed then; data is no code
  target_link_options(cairn_flags INTERFACE LINKER:-z,relro LINKER:-z,now LINKER:-z,noexecstack)
endif()
