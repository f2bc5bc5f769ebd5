# SPDX-License-Identifier: Apache-2.0
"""The solver door: friction and complementarity problems from numpy and scipy.sparse matrices.

    u = W g + q,   g_i in K_i,   -u_i in the normal cone of K_i at g_i

Blocks of three rows are contacts with friction (normal, two tangents), of two likewise in the plane, of
one unilateral; `kinds` says otherwise.
"""
from __future__ import annotations

import os
from typing import Any, NamedTuple, Optional, Sequence

import numpy as np

from . import _c
from ._c import Error, call, ffi, lib, text

_DIMENSION = {"bilateral": 1, "unilateral": 1, "interval": 1, "friction_2d": 2, "friction": 3, "rolling": 5, "spinning": 6}


class Solution(NamedTuple):
    """Impulses, velocities, and how good they are: the certificate is the library's, not the solver's."""
    g: np.ndarray
    u: np.ndarray
    v: np.ndarray
    converged: bool
    residual: float
    certificate: dict
    method: str
    iterations: int


class Problem:
    """A problem of the explicit form (W, q) or the global one (M, H, k, b), or one read from a file."""

    def __init__(self, pointer):
        self._pointer = ffi.gc(pointer, lib.cn_problem_destroy)

    @classmethod
    def read(cls, path) -> "Problem":
        """FCLib, Siconos' text files, Cairn's JSON."""
        out = ffi.new("CnProblem **")
        call(lib.cn_problem_read(os.fsdecode(path).encode(), ffi.NULL, out, ffi.NULL))
        return cls(out[0])

    @classmethod
    def explicit(cls, W, q, mu=0.0, kinds: Optional[Sequence[str]] = None, friction: str = "coulomb", **sets) -> "Problem":
        """u = W g + q; W dense or scipy.sparse, n x n."""
        q = _vector(q, "q")
        problem = cls._new("explicit", friction)
        w, keep = _sparse(W, "W", len(q), len(q))
        call(lib.cn_problem_set_explicit(problem._pointer, w, _c.array_pointer(q, "double")))
        problem._add_blocks(len(q), mu, kinds, sets)
        return problem

    @classmethod
    def of_system(cls, M, H, k, b, mu=0.0, kinds: Optional[Sequence[str]] = None, friction: str = "coulomb",
                  **sets) -> "Problem":
        """M v = k + H^T g, u = H v + b."""
        k, b = _vector(k, "k"), _vector(b, "b")
        problem = cls._new("global", friction)
        m, keep_m = _sparse(M, "M", len(k), len(k))
        h, keep_h = _sparse(H, "H", len(b), len(k))
        call(lib.cn_problem_set_global(problem._pointer, m, h, _c.array_pointer(k, "double"),
                                       _c.array_pointer(b, "double")))
        problem._add_blocks(len(b), mu, kinds, sets)
        return problem

    @classmethod
    def _new(cls, form: str, friction: str) -> "Problem":
        definition = ffi.new("CnProblemDef *", lib.cn_problem_def_default())
        definition.form = lib.CN_FORM_GLOBAL if form == "global" else lib.CN_FORM_EXPLICIT
        definition.friction = _c.enum("CnFrictionModel", friction, "friction")
        out = ffi.new("CnProblem **")
        call(lib.cn_problem_create(definition, out))
        return cls(out[0])

    def _add_blocks(self, rows: int, mu, kinds, sets: dict) -> None:
        mu = _c.reals(mu, "problem: mu")
        if kinds is None:
            coefficients = np.atleast_1d(mu)
            if rows % 3 == 0 and (coefficients.size in (1, rows // 3)):
                kinds = ["friction"] * (rows // 3)
            elif rows % 2 == 0 and coefficients.size == rows // 2:
                kinds = ["friction_2d"] * (rows // 2)
            else:
                raise Error(f"problem: {rows} rows and {coefficients.size} coefficients of friction: give kinds")
        if mu.ndim == 0 or mu.shape == (len(kinds),):
            mu = np.broadcast_to(mu, (len(kinds),))
        else:
            raise Error(f"problem: mu must be a number or one for each of {len(kinds)} blocks")
        known: dict = {}
        for i, kind in enumerate(kinds):
            own = {name: (value[i] if np.ndim(value) else value) for name, value in sets.items()}
            key = (kind, float(mu[i]), tuple(own.items()))
            if key not in known:
                known[key] = self._set(kind, float(mu[i]), own)
            if kind not in _DIMENSION:
                raise Error(f"problem: no kind '{kind}' (known: {', '.join(_DIMENSION)})")
            call(lib.cn_problem_add_explicit(self._pointer, known[key], _DIMENSION[kind], ffi.NULL))

    def _set(self, kind: str, mu: float, fields: dict) -> int:
        number = _c.enum("CnBlockKind", kind, "kinds")
        definition, keep = _c.definition(lib.cn_set_default(number), {"mu": mu, **fields}, "set")
        out = ffi.new("int32_t *")
        call(lib.cn_problem_add_set(self._pointer, definition, out))
        return out[0]

    @property
    def info(self) -> dict:
        """All of CnProblemInfo: rows, blocks, groups."""
        out = ffi.new("CnProblemInfo *")
        lib.cn_problem_info(self._pointer, out)
        return _c.plain(out)

    def solve(self, solver: str = "auto", tolerance: float = 1e-8, start=None) -> Solution:
        """By one of cairn.solvers(); `start` are impulses to begin with."""
        answer = ffi.new("CnAnswer *", lib.cn_answer_empty(ffi.NULL))
        report = ffi.new("CnSolveReport *")
        try:
            call(lib.cn_answer_fit(answer, self._pointer))
            if start is not None:
                start = _vector(start, "start")
                if len(start) != answer.row_count:
                    raise Error(f"start: must be {answer.row_count} numbers (got {len(start)})")
                ffi.memmove(answer.g, _c.array_pointer(start, "double"), 8 * len(start))
            if not isinstance(solver, str):
                raise Error(f"solve: a solver has a name (got {solver!r})")
            call(lib.cn_solve(self._pointer, solver.encode(), float(tolerance), answer, report))
            rows, velocities = answer.row_count, answer.velocity_count
            g, u, v = (np.frombuffer(ffi.buffer(p, 8 * n), float).copy() if n else np.empty(0)
                       for p, n in ((answer.g, rows), (answer.u, rows), (answer.v, velocities)))
        finally:
            lib.cn_answer_release(answer)
        certificate = _c.plain(report.certificate)
        return Solution(g, u, v, report.converged == 1, certificate["residual"], certificate, text(report.method),
                        report.iterations)

    def write(self, path, format: str = "json", replace: bool = False) -> None:
        """As Cairn's JSON or as FCLib's HDF5. A file that is there is refused unless `replace`."""
        formats = {"json": lib.CN_PROBLEM_JSON, "fclib": lib.CN_PROBLEM_FCLIB}
        if format not in formats:
            raise Error(f"write: no format '{format}' (known: json, fclib)")
        if not replace and os.path.exists(path):
            raise Error(f"{os.fsdecode(path)}: is there already, and replace is False", "CN_FILE")
        call(lib.cn_problem_write(self._pointer, formats[format], os.fsdecode(path).encode()))


def _vector(value: Any, name: str) -> np.ndarray:
    array = _c.reals(value, name)
    if array.ndim != 1:
        raise Error(f"{name}: must have one dimension (got {array.shape})")
    return array


def _sparse(matrix: Any, name: str, rows: int, columns: int):
    """CnSparse of a dense or scipy.sparse matrix, and the arrays it points to."""
    if hasattr(matrix, "tocsr"):
        matrix = matrix.tocsr().copy()
        matrix.sum_duplicates()
        matrix.sort_indices()
        shape, start, column, value = matrix.shape, matrix.indptr, matrix.indices, matrix.data
    else:
        dense = _c.reals(matrix, name)
        if dense.ndim != 2:
            raise Error(f"{name}: must be a matrix (got {dense.shape})")
        shape = dense.shape
        row, column = np.nonzero(dense)
        value = dense[row, column]
        start = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=shape[0]))])
    if shape != (rows, columns):
        raise Error(f"{name}: must be {rows} x {columns} (got {shape[0]} x {shape[1]})")
    start, column = np.ascontiguousarray(start, np.int32), np.ascontiguousarray(column, np.int32)
    value = _c.reals(value, name)
    out = ffi.new("CnSparse *", {"row_count": rows, "column_count": columns})
    out.start, out.column = _c.array_pointer(start, "int32_t"), _c.array_pointer(column, "int32_t")
    out.value = _c.array_pointer(value, "double")
    return out, (start, column, value)


def solve(*matrices, mu=None, solver: str = "auto", tolerance: float = 1e-8, **more) -> Solution:
    """solve(W, q, mu): u = W g + q; or solve(M, H, k, b, mu): M v = k + H^T g, u = H v + b. Matrices are dense
    or of scipy.sparse; mu is one number or one a contact. kinds=, lo=, hi=, friction= as in Problem.explicit."""
    if len(matrices) in (3, 5):
        if mu is not None:
            raise Error("solve: mu is given twice")
        matrices, mu = matrices[:-1], matrices[-1]
    mu = 0.0 if mu is None else mu
    if len(matrices) == 2:
        problem = Problem.explicit(*matrices, mu=mu, **more)
    elif len(matrices) == 4:
        problem = Problem.of_system(*matrices, mu=mu, **more)
    else:
        raise Error(f"solve: W, q and mu, or M, H, k, b and mu (got {len(matrices)})")
    return problem.solve(solver, tolerance)


def solvers() -> dict[str, str]:
    """Names and summaries of all solvers."""
    return {name: text(lib.cn_solver_summary(i)) for i, name in enumerate(_c.names(lib.cn_solver_name))}
