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
# MPICH's "no statuses" is the address 1, which gcc takes for memory
if(CMAKE_C_COMPILER_ID STREQUAL GNU)
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/mpi/transport_mpi.c PROPERTIES
    COMPILE_OPTIONS -Wno-stringop-overflow)
endif()

add_library(cairn-mpi ${PROJECT_SOURCE_DIR}/src/mpi/transport_mpi.c)
target_link_libraries(cairn-mpi PUBLIC cairn PRIVATE $<BUILD_INTERFACE:cairn_flags> $<BUILD_INTERFACE:cairn_mpi_flags>)
set_target_properties(cairn-mpi PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${soversion})
cairn_version_symbols(cairn-mpi)

# The command once more with another main, for each MPI that is there.
if(TARGET cairn-command)
  add_library(cairn_mpi_cli OBJECT ${cli_sources})
  target_compile_definitions(cairn_mpi_cli PRIVATE CAIRN_MPI_PROGRAM)
  target_include_directories(cairn_mpi_cli PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(cairn_mpi_cli PRIVATE cairn_flags)
  function(cairn_mpi_program name mpirun)
    add_executable(${name} ${PROJECT_SOURCE_DIR}/src/mpi/program.c ${PROJECT_SOURCE_DIR}/src/mpi/launch.c
      ${PROJECT_SOURCE_DIR}/src/mpi/transport_mpi.c $<TARGET_OBJECTS:cairn_mpi_cli>)
    target_compile_definitions(${name} PRIVATE CAIRN_MPIRUN="${mpirun}")
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(${name} PRIVATE cairn_io_inside cairn_flags ${ARGN})
  endfunction()
  cairn_mpi_program(cairn-mpi-command ${MPIEXEC_EXECUTABLE} cairn_mpi_flags)
  set_target_properties(cairn-mpi-command PROPERTIES OUTPUT_NAME cairn-mpi
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
  install(TARGETS cairn-mpi-command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT mpi)

  # MPICH beside OpenMPI, for tests (Debian: libmpich-dev, mpich)
  pkg_check_modules(MPICH QUIET IMPORTED_TARGET mpich)
  find_program(CAIRN_MPICH_MPIRUN NAMES mpiexec.mpich mpiexec.hydra)
  if(CAIRN_TESTS AND MPICH_FOUND AND CAIRN_MPICH_MPIRUN)
    cairn_mpi_program(cairn-mpich-command ${CAIRN_MPICH_MPIRUN} PkgConfig::MPICH)
    set_target_properties(cairn-mpich-command PROPERTIES OUTPUT_NAME cairn-mpich
      RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  endif()
endif()
install(TARGETS cairn-mpi
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT mpi
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT mpi
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT mpi)
install(FILES ${PROJECT_SOURCE_DIR}/include/cairn-mpi.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT mpi)
