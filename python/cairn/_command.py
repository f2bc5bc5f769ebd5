# SPDX-License-Identifier: Apache-2.0
"""Where the command `cairn` is: named by CAIRN_COMMAND, the one of the package or of its build folder (BUILD/cairn
beside BUILD/python), or the one installed."""
from __future__ import annotations

import os
import shutil
from typing import Optional


def find() -> Optional[str]:
    package = os.path.dirname(os.path.abspath(__file__))
    places = [os.path.join(package, "bin", "cairn")]
    folder = os.path.dirname(package)
    if os.path.basename(folder) == "python":
        places.append(os.path.join(os.path.dirname(folder), "cairn"))
    own = [place for place in places if os.path.isfile(place) and os.access(place, os.X_OK)]
    return os.environ.get("CAIRN_COMMAND") or (own[0] if own else shutil.which("cairn"))
