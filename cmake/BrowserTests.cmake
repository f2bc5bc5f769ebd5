# SPDX-License-Identifier: Apache-2.0
# The page in a real browser: a program that makes pages, a script that looks at them. Skipped, with a
# message, where chromium or node is missing.
if(NOT TARGET cairn-io)
  return()
endif()
if(page_built)
  add_executable(browser_pages ${PROJECT_SOURCE_DIR}/tests/browser/pages.c)
  target_link_libraries(browser_pages PRIVATE cairn_test_support)
  set_target_properties(browser_pages PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  add_test(NAME browser.page COMMAND ${NODE} ${PROJECT_SOURCE_DIR}/tests/browser/test_page.mjs
    $<TARGET_FILE:browser_pages> ${PROJECT_SOURCE_DIR}/web ${PROJECT_BINARY_DIR}/page/pictures)
  set_tests_properties(browser.page PROPERTIES LABELS browser TIMEOUT 600 SKIP_RETURN_CODE 77)
  add_test(NAME browser.large COMMAND ${NODE} ${PROJECT_SOURCE_DIR}/tests/browser/test_large.mjs
    $<TARGET_FILE:browser_pages> ${PROJECT_SOURCE_DIR}/web ${PROJECT_BINARY_DIR}/page/pictures)
  set_tests_properties(browser.large PROPERTIES LABELS long TIMEOUT 600 SKIP_RETURN_CODE 77)
  add_test(NAME browser.meshes COMMAND ${NODE} ${PROJECT_SOURCE_DIR}/tests/browser/test_meshes.mjs
    $<TARGET_FILE:browser_pages>)
  set_tests_properties(browser.meshes PROPERTIES LABELS browser TIMEOUT 300)
  if(PYTHON3 AND TARGET cairn-command)
    add_test(NAME pictures.films COMMAND ${PYTHON3} ${PROJECT_SOURCE_DIR}/tests/pictures/films.py
      $<TARGET_FILE:cairn-command>)
    add_test(NAME pictures.films_all COMMAND ${PYTHON3} ${PROJECT_SOURCE_DIR}/tests/pictures/films.py
      $<TARGET_FILE:cairn-command> --all)
    set_tests_properties(pictures.films PROPERTIES LABELS browser TIMEOUT 300 SKIP_RETURN_CODE 77)
    set_tests_properties(pictures.films_all PROPERTIES LABELS "browser;long" TIMEOUT 300 SKIP_RETURN_CODE 77)
  endif()
else()
  add_test(NAME browser.page COMMAND ${CMAKE_COMMAND} -E echo
    "SKIPPED: no node or no web/node_modules (scripts/setup installs both)")
  set_tests_properties(browser.page PROPERTIES LABELS browser SKIP_REGULAR_EXPRESSION "SKIPPED")
endif()
