# SPDX-License-Identifier: Apache-2.0
"""python -m cairn: the command `cairn`, the one of the package or the one that is installed."""
import os
import shutil
import sys

own = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "cairn")
command = os.environ.get("CAIRN_COMMAND") or (own if os.access(own, os.X_OK) else shutil.which("cairn"))
if not command:
    sys.exit("cairn: the command is not installed (make install), and CAIRN_COMMAND does not name it")
os.execv(command, ["cairn"] + sys.argv[1:])
