# SPDX-License-Identifier: Apache-2.0
# libcairn-mpi, ranks by MPI, and the command `cairn-mpi`. Where there is no MPI they are not built; libcairn never
# links it.
option(CAIRN_MPI "Build libcairn-mpi and the command cairn-mpi where MPI is found" ON)
if(NOT CAIRN_MPI OR CAIRN_SANITIZE)
  return()
endif()
find_package(MPI QUIET COMPONENTS C)
if(NOT MPI_C_FOUND)
  message(STATUS "no MPI: libcairn-mpi and cairn-mpi are not built")
  return()
endif()
# headers of MPI are not free of warnings
add_library(cairn_mpi_flags INTERFACE)
target_include_directories(cairn_mpi_flags SYSTEM INTERFACE ${MPI_C_INCLUDE_DIRS})
target_link_libraries(cairn_mpi_flags INTERFACE ${MPI_C_LIBRARIES})

add_library(cairn-mpi ${PROJECT_SOURCE_DIR}/src/mpi/transport_mpi.c)
target_link_libraries(cairn-mpi PUBLIC cairn PRIVATE $<BUILD_INTERFACE:cairn_flags> $<BUILD_INTERFACE:cairn_mpi_flags>)
set_target_properties(cairn-mpi PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${soversion})
cairn_version_symbols(cairn-mpi)

if(TARGET cairn-command)
  add_executable(cairn-mpi-command ${PROJECT_SOURCE_DIR}/src/mpi/program.c
    ${PROJECT_SOURCE_DIR}/src/mpi/transport_mpi.c ${cli_sources})
  target_compile_definitions(cairn-mpi-command PRIVATE CAIRN_MPI_PROGRAM)
  target_include_directories(cairn-mpi-command PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(cairn-mpi-command PRIVATE cairn_io_inside cairn_flags cairn_mpi_flags)
  set_target_properties(cairn-mpi-command PROPERTIES OUTPUT_NAME cairn-mpi
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
  install(TARGETS cairn-mpi-command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT mpi)
endif()
install(TARGETS cairn-mpi
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT mpi
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT mpi
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT mpi)
install(FILES ${PROJECT_SOURCE_DIR}/include/cairn-mpi.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT mpi)
