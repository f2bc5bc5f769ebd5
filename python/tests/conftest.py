# SPDX-License-Identifier: Apache-2.0
"""The runtime of a sanitizer is in this process already; the commands that tests start have their own."""
import os

os.environ.pop("LD_PRELOAD", None)
