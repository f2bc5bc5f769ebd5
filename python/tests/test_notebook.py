# SPDX-License-Identifier: Apache-2.0
"""The notebook of the examples, cell by cell, as Jupyter does it: the last value of a cell shows itself."""
import ast
import json
import os

import pytest

import cairn  # noqa: F401

source = os.environ.get("CAIRN_SOURCE", os.path.join(os.path.dirname(__file__), "..", ".."))


def run_cell(code, names):
    """Execute a cell; the value of its last line, if that is an expression."""
    tree = ast.parse(code)
    last = ast.Expression(tree.body.pop().value) if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    return eval(compile(last, "cell", "eval"), names) if last else None


@pytest.mark.skipif(not os.environ.get("CAIRN_COMMAND"), reason="CAIRN_COMMAND is not set")
def test_notebook(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with open(os.path.join(source, "examples", "notebooks", "slope.ipynb"), encoding="utf-8") as file:
        notebook = json.load(file)
    names, shown = {}, []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            value = run_cell("".join(cell["source"]), names)
            shown.append(value._repr_html_() if hasattr(value, "_repr_html_") else repr(value))
    assert shown[0].startswith('<iframe srcdoc="') and shown[0].count("<iframe") == 1
    assert len(shown[0]) < 20_000_000 and '"' not in shown[0].split('srcdoc="')[1].split('"')[0]
    assert "trusted" in shown[1]
    assert shown[3].startswith("<table") and shown[3].count("<tr>") == 4


def test_the_module_is_the_command():
    import subprocess
    import sys
    if not os.environ.get("CAIRN_COMMAND") or os.environ.get("CAIRN_SANITIZED"):
        pytest.skip("CAIRN_COMMAND is not set, or the sanitizer would not be first")
    out = subprocess.run([sys.executable, "-m", "cairn", "run", "chain", "--steps", "5", "--json"], text=True,
                         capture_output=True)
    world = cairn.load("chain")
    world.step(5)
    assert json.loads(out.stdout)["state_hash"] == world.hash
    assert subprocess.run([sys.executable, "-m", "cairn", "nonsense"], capture_output=True).returncode == 2
