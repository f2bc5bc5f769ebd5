# SPDX-License-Identifier: Apache-2.0
"""One wheel for all Pythons from 3.9 on (the limited interface); needs a build of Cairn beside it."""
import os
import shutil

from setuptools import setup
from setuptools.command.build_py import build_py

import build_core


class with_command(build_py):
    """The command and what the headers say go into the package."""

    def run(self):
        super().run()
        folder = os.path.join(self.build_lib, "cairn")
        os.makedirs(os.path.join(folder, "bin"), exist_ok=True)
        build_core.write_sentences(self.build_lib)
        source = os.path.join(build_core.build, "cairn")
        if os.path.exists(source):
            shutil.copy2(source, os.path.join(folder, "bin", "cairn"))


commands = {"build_py": with_command}
try:
    from wheel.bdist_wheel import bdist_wheel

    class abi3(bdist_wheel):
        def get_tag(self):
            return ("cp39", "abi3", super().get_tag()[2])

    commands["bdist_wheel"] = abi3
except ImportError:
    pass

setup(cffi_modules=["build_core.py:ffi"], cmdclass=commands)
