# libcairn: the rooms core .. world of src/LAYERS; no dependency beyond the C library and threads.
set(rooms core sparse problem solver integrator geometry model collision assembly world)
set(library_sources)
foreach(room ${rooms})
  file(GLOB room_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${room}/*.c)
  list(APPEND library_sources ${room_sources})
endforeach()

add_library(cairn ${library_sources})
add_library(cairn::cairn ALIAS cairn)
target_include_directories(cairn
  PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
  PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_compile_definitions(cairn PRIVATE CNI_VERSION="${PROJECT_VERSION}"
  $<$<STREQUAL:${CAIRN_SIMD},off>:CNI_SIMD_OFF>)
target_link_libraries(cairn PRIVATE $<BUILD_INTERFACE:cairn_flags> PUBLIC Threads::Threads m)
set_target_properties(cairn PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
