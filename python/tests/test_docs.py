# SPDX-License-Identifier: Apache-2.0
"""Every program of the documents runs."""
import os
import re
import subprocess
import sys

import pytest

import cairn

source = os.environ.get("CAIRN_SOURCE", os.path.join(os.path.dirname(__file__), "..", ".."))


def programs():
    howtos = sorted("docs/howto/" + name for name in os.listdir(os.path.join(source, "docs/howto")))
    for name in [*howtos, "README.md"]:
        with open(os.path.join(source, name), encoding="utf-8") as file:
            for i, code in enumerate(re.findall(r"```python\n(.*?)```", file.read(), flags=re.S)):
                if "import cairn" in code:
                    yield pytest.param(code, id=f"{name}-{i}")


@pytest.mark.parametrize("code", programs())
def test_program(code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "program", "exec"), {})


def test_readme_is_short():
    with open(os.path.join(source, "README.md"), encoding="utf-8") as file:
        found = re.findall(r"```python\n(.*?)```", file.read(), flags=re.S)
    assert found and all(len(code.strip().split("\n")) <= 12 for code in found)


def test_every_public_function():
    """The module has all functions of the headers."""
    folder = os.path.join(source, "include", "cairn")
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            for function in re.findall(r"^CN_API [^;(]*?(cn_\w+)\(", file.read(), flags=re.M):
                assert hasattr(cairn.lib, function), function


def test_the_benchmark_runs():
    """In its short form, whose figures are not judged."""
    program = os.path.join(source, "python", "bench", "overhead.py")
    if os.environ.get("CAIRN_SANITIZED"):
        pytest.skip("the sanitizer would not be first")
    out = subprocess.run([sys.executable, program, "quick"], text=True, capture_output=True)
    assert out.returncode == 0, out.stderr
    assert "share of twice" in out.stdout and "no copy" in out.stdout
