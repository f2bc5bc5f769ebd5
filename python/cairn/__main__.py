# SPDX-License-Identifier: Apache-2.0
"""python -m cairn: the command `cairn`, the one of the package or the one that is installed."""
import os
import sys

from ._command import find

command = find()
if not command:
    sys.exit("cairn: the command is not installed (make install), and CAIRN_COMMAND does not name it")
os.execv(command, ["cairn"] + sys.argv[1:])
