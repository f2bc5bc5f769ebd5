# SPDX-License-Identifier: Apache-2.0
# Flags of every target. The same bits everywhere: no contraction, no fast-math.
find_package(Threads REQUIRED)

add_library(cairn_flags INTERFACE)
target_compile_options(cairn_flags INTERFACE
  -ffp-contract=off -fno-math-errno
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla)
target_compile_definitions(cairn_flags INTERFACE _POSIX_C_SOURCE=200809L)
# Assertions and validators (core/assert.h): in Debug, sanitizer and fuzz builds.
target_compile_definitions(cairn_flags INTERFACE $<$<CONFIG:Debug>:CNI_CHECKED>)
if(CAIRN_SANITIZE OR CAIRN_FUZZ)
  target_compile_definitions(cairn_flags INTERFACE CNI_CHECKED)
endif()
option(CAIRN_WERROR "Warnings are errors" ON)
if(CAIRN_WERROR)
  target_compile_options(cairn_flags INTERFACE -Werror)
endif()
if(CAIRN_SANITIZE)
  target_compile_options(cairn_flags INTERFACE -fsanitize=${CAIRN_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=all)
  target_link_options(cairn_flags INTERFACE -fsanitize=${CAIRN_SANITIZE})
endif()
