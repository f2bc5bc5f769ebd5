# SPDX-License-Identifier: Apache-2.0
"""Where the command `cairn` is: named by CAIRN_COMMAND, the one of the package, or the one installed."""
from __future__ import annotations

import os
import shutil
from typing import Optional


def find() -> Optional[str]:
    own = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "cairn")
    return os.environ.get("CAIRN_COMMAND") or (own if os.access(own, os.X_OK) else shutil.which("cairn"))
