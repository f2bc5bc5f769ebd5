# SPDX-License-Identifier: Apache-2.0
# the tutorial as a new user goes through it, and where the documents lead
find_program(PYTHON_OF_DOCS python3 PATHS /usr/bin NO_DEFAULT_PATH)
if(PYTHON_OF_DOCS AND CAIRN_TESTS AND TARGET cairn-command AND TARGET python)
  add_test(NAME docs.tutorial COMMAND ${PYTHON_OF_DOCS} ${PROJECT_SOURCE_DIR}/tests/docs/tutorial ${PROJECT_SOURCE_DIR}
    ${PROJECT_BINARY_DIR})
  add_test(NAME docs.commands COMMAND ${PYTHON_OF_DOCS} ${PROJECT_SOURCE_DIR}/tests/docs/commands ${PROJECT_SOURCE_DIR}
    ${PROJECT_BINARY_DIR})
  add_test(NAME docs.links COMMAND ${PYTHON_OF_DOCS} ${PROJECT_SOURCE_DIR}/scripts/site_pages)
  set_tests_properties(docs.tutorial docs.commands docs.links PROPERTIES LABELS docs)
endif()
