# SPDX-License-Identifier: Apache-2.0
"""How pip builds Cairn from its root folder: the library by CMake, unless it is there, then the wheel by setuptools.

pip builds in an environment of its own without the system's packages and would fetch setuptools and cffi; Debian
has them, so its folder is added to the path.
"""
import os
import subprocess
import sys

here = os.path.dirname(os.path.abspath(__file__))
root = os.path.dirname(here)
if not any(os.path.isdir(os.path.join(folder, "setuptools")) for folder in sys.path):
    sys.path.append("/usr/lib/python3/dist-packages")

from setuptools import build_meta  # noqa: E402


def _library() -> None:
    build = os.path.join(root, "build")
    # CMake looks for Python itself, and not in pip's environment
    env = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    if not os.path.exists(os.path.join(build, "CMakeCache.txt")):
        subprocess.run(["cmake", "--preset", "demo"], cwd=root, env=env, check=True,
                       stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", build, "--target", "cairn", "cairn-io", "cairn-command"], env=env, check=True,
                   stdout=subprocess.DEVNULL)


def _in_package(function, folder, *rest):
    folder = os.path.abspath(folder)
    os.chdir(here)
    sys.path.insert(0, here)
    try:
        return function(folder, *rest)
    finally:
        os.chdir(root)


def get_requires_for_build_wheel(config_settings=None):
    return []


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    _library()
    return _in_package(build_meta.prepare_metadata_for_build_wheel, metadata_directory, config_settings)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    _library()
    return _in_package(build_meta.build_wheel, wheel_directory, config_settings, metadata_directory)
