# SPDX-License-Identifier: Apache-2.0
"""Many runs of one scene: `cairn sweep` from Python, its table as arrays."""
from __future__ import annotations

import csv
import html
import io
import json
import os
import subprocess
import tempfile
from typing import Iterable, Mapping, Optional, Union

import numpy as np

from . import _command
from ._c import Error
from .scene import _listed

_TEXTS = {"setup", "status", "certificate", "verdict", "hash", "error"}


class Table:
    """Rows of a sweep, one a run: table["mu"] is a column as an array, table[3] a row as a dict."""

    def __init__(self, text: str):
        lines = list(csv.reader(io.StringIO(text)))
        self.columns: list[str] = lines[0] if lines else []
        self._rows = lines[1:]

    def __len__(self) -> int:
        return len(self._rows)

    def _value(self, column: str, value: str):
        if column in _TEXTS:
            return value
        return float(value) if value else float("nan")

    def __getitem__(self, key: Union[str, int]):
        if isinstance(key, str):
            if key not in self.columns:
                raise Error(f"table: no column '{key}' (known: {', '.join(self.columns)})")
            at = self.columns.index(key)
            return np.array([self._value(key, row[at]) for row in self._rows])
        return {name: self._value(name, value) for name, value in zip(self.columns, self._rows[key])}

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    @property
    def failed(self) -> list[dict]:
        """Rows of runs that failed, with their `error`."""
        return [row for row in self if row["status"] != "ok"]

    def to_pandas(self) -> "pandas.DataFrame":  # noqa: F821
        """As a DataFrame."""
        import pandas
        return pandas.DataFrame({name: self[name] for name in self.columns})

    def _repr_html_(self) -> str:
        """In a notebook."""
        rows = ["".join(f"<th>{html.escape(name)}</th>" for name in self.columns)]
        rows += ["".join(f"<td>{html.escape(value)}</td>" for value in row) for row in self._rows]
        return "<table>" + "".join(f"<tr>{row}</tr>" for row in rows) + "</table>"

    def __repr__(self) -> str:
        return f"<table of {len(self)} runs, {len(self.failed)} failed: {', '.join(self.columns)}>"


def _values(key: str, values) -> str:
    try:
        numbers = [float(v) for v in np.atleast_1d(np.asarray(values, float))]
    except (TypeError, ValueError):
        raise Error(f"sweep: values of {key} must be numbers (got {values!r})") from None
    if not numbers:
        raise Error(f"sweep: no values of {key}")
    return f"{key}=" + ",".join(repr(v) for v in numbers)


def _scene_file(scene, folder: str) -> str:
    if isinstance(scene, (str, os.PathLike)):
        return os.fspath(scene)
    if not isinstance(scene, dict):
        raise Error(f"sweep: must be a name, a path or a dict (got {scene!r})")
    path = os.path.join(folder, "scene.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(scene, file, default=_listed)
    return path


def sweep(scene: Union[str, os.PathLike, dict], values: Optional[Mapping] = None, *,
          cases: Optional[Iterable[Mapping]] = None, sensors: Optional[Iterable[str]] = None, jobs: Optional[int] = None,
          out=None, part: Optional[str] = None, retry: bool = False, force: bool = False, **options) -> Table:
    """Run a scene with all combinations of values, each in a process of its own, and give the table.

        table = cairn.sweep("slope", {"mu": np.arange(1, 10) / 10, "tan": [0.3, 0.6]}, jobs=2, time=1)

    cases: dicts of values that go together. out: the table's file; runs that it has already are not made again.
    options: those of `cairn run`: time, steps, h, solver, integrator, tol, ... A run that fails is a row with an
    error (table.failed), not an exception."""
    command = _command.find()
    if not command:
        raise Error("sweep: the command cairn is not installed, and CAIRN_COMMAND does not name it")
    with tempfile.TemporaryDirectory() as folder:
        words = [command, "sweep", _scene_file(scene, folder), "--quiet"]
        for key, given in (values or {}).items():
            words += ["--set", _values(key, given)]
        if cases is not None:
            words += ["--cases", _case_file(list(cases), folder)]
        for name in sensors or ():
            words += ["--sensor", name]
        for name, value in (("jobs", jobs), ("output", None if out is None else os.fspath(out)), ("part", part),
                            *options.items()):
            if value is not None:
                words += ["--" + name.replace("_", "-"), repr(value) if isinstance(value, float) else str(value)]
        words += ["--retry"] * bool(retry) + ["--force"] * bool(force)
        done = subprocess.run(words, text=True, capture_output=True)
        made = done.stdout
        if out is not None and os.path.exists(out):
            with open(out, encoding="utf-8", newline="") as file:
                made = file.read()
    said = done.stderr.strip().split("\n")[-1]  # before it: warnings
    # 1: some runs failed, and the table says which; or there is none
    if done.returncode not in (0, 1) or done.returncode and not said.endswith("see the column `error`"):
        raise Error(said[len("cairn: "):] if said.startswith("cairn: ") else said or f"sweep: status {done.returncode}")
    return Table(made)


def _case_file(cases: list, folder: str) -> str:
    if not cases or any(set(case) != set(cases[0]) for case in cases):
        raise Error("sweep: cases must be dicts with the same keys")
    path = os.path.join(folder, "cases.csv")
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerow(cases[0])
        for case in cases:
            print(",".join(_values(key, case[key])[len(key) + 1:] for key in cases[0]), file=file)
    return path
