# SPDX-License-Identifier: Apache-2.0
"""Between Python and C: errors, definitions filled from keywords, structs as numpy types.

Everything here follows from the types that cffi read from the headers: a new field of a definition is
a keyword the same day.
"""
from __future__ import annotations

import difflib
import functools
import inspect
import json
import os
import textwrap
from typing import Any

import numpy as np

from ._core import ffi, lib


class Error(RuntimeError):
    """A call that failed. The message is Cairn's sentence, `status` its name: "CN_INVALID_ARGUMENT"."""

    def __init__(self, message: str, status: str = "CN_INVALID_ARGUMENT"):
        super().__init__(message)
        self.status = status


def call(status: int) -> None:
    """Raise what a call to C answered, unless it is CN_OK."""
    if status:
        message = ffi.string(lib.cn_error_message()).decode("utf-8", "replace")
        raise Error(message, ffi.string(lib.cn_status_name(status)).decode())


def text(pointer) -> str:
    """A C string; "" for none."""
    return ffi.string(pointer).decode("utf-8", "replace") if pointer else ""


def names(table) -> list[str]:
    """All names of one of the library's tables."""
    out, i = [], 0
    while table(i):
        out.append(text(table(i)))
        i += 1
    return out


# ---- enums: the words after their common prefix, in small letters ----

def cname(kind) -> str:
    """The name of a type as the headers have it."""
    return kind.cname.replace("struct ", "").replace("enum ", "")


def _words(name: str, prefix: str) -> dict[str, int]:
    relements = sorted(ffi.typeof(name).relements.items(), key=lambda item: item[1])
    return {key[len(prefix):].lower(): value for key, value in relements
            if key.startswith(prefix) and not key.endswith("_COUNT")}


ENUMS = {
    "CnBodyKind": _words("CnBodyKind", "CN_BODY_"),
    "CnShapeKind": _words("CnShapeKind", "CN_SHAPE_"),
    "CnJointKind": _words("CnJointKind", "CN_JOINT_"),
    "CnForceKind": _words("CnForceKind", "CN_FORCE_"),
    "CnFunctionKind": _words("CnFunctionKind", "CN_FUNCTION_"),
    "CnDrive": _words("CnDrive", "CN_DRIVE_"),
    "CnCombine": _words("CnCombine", "CN_COMBINE_"),
    "CnFrictionModel": _words("CnFrictionModel", "CN_FRICTION_"),
    "CnRestitutionLaw": _words("CnRestitutionLaw", "CN_RESTITUTION_"),
    "CnLocalSolve": _words("CnLocalSolve", "CN_LOCAL_"),
    "CnBlockKind": _words("CnBlockKind", "CN_BLOCK_"),
    "CnMachineContacts": _words("CnMachineContacts", "CN_CONTACTS_"),
    "CnEffort": _words("CnEffort", "CN_EFFORT_"),
    "CnCurveSide": _words("CnCurveSide", "CN_SIDE_"),
}


# what other engines call it
_MEANT = {"hinge": "revolute", "pin": "revolute", "slider": "prismatic", "fixed": "weld", "socket": "ball", "cable": "rope"}


def meant(wrong: str, names) -> str:
    """", did you mean 'x'?" for the name that is nearest to a wrong one; "" without one."""
    known = [n for n in names if not n.startswith("_")]
    near = [_MEANT[wrong]] if _MEANT.get(wrong) in known else difflib.get_close_matches(wrong, known, 1, 0.75)
    return f", did you mean '{near[0]}'?" if near else ""


class Guarded:
    """Attributes by a name that is not there are refused, not kept where nobody looks."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_") and not hasattr(type(self), name) and name not in self._kept:
            raise Error(f"{type(self).__name__.lower()}: no attribute '{name}'{meant(name, dir(type(self)))}")
        object.__setattr__(self, name, value)

    _kept: tuple = ()


def enum(name: str, value: Any, where: str = "") -> int:
    """The number of a word of an enum, or of a number that is one."""
    words = ENUMS.get(name) or {k.lower(): v for k, v in ffi.typeof(name).relements.items()}
    if isinstance(value, str):
        if value in words:
            return words[value]
        raise Error(f"{where or name}: no '{value}'{meant(value, words)} (known: {', '.join(words)})")
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        if int(value) in words.values():
            return int(value)
    raise Error(f"{where or name}: must be one of {', '.join(words)} (got {value!r})")


def word(name: str, value: int) -> str:
    """The word of a number of an enum."""
    return next((k for k, v in ENUMS[name].items() if v == value), str(value))


# ---- definitions ----

VECTORS = {"CnVec3": "xyz", "CnQuat": "wxyz"}
IDS = {"CnBodyId", "CnShapeId", "CnMaterialId", "CnJointId", "CnForceId", "CnFunctionId",
       "CnGeometryId", "CnCurveId", "CnCouplingId"}


def numbers(value: Any, count: int, where: str) -> list[float]:
    try:
        out = None if isinstance(value, str) else [float(x) for x in value if not isinstance(x, (str, bytes))]
        if out is None or len(out) != len(value):  # some are texts
            raise TypeError
    except (TypeError, ValueError, OverflowError):
        raise Error(f"{where}: must be {count} numbers (got {value!r})") from None
    if len(out) != count:
        raise Error(f"{where}: must be {count} numbers (got {len(out)})")
    return out


def check_vacant(path: str, replace: bool, run=None) -> None:
    """Refuse to write over what Cairn did not make, and over what is read."""
    if run is not None:
        call(lib.cn_run_check_output(run, path.encode()))
    if not replace and lib.cn_output_vacant(path.encode()):
        message = ffi.string(lib.cn_error_message()).decode("utf-8", "replace")
        raise Error(f"{message} (replace=True replaces it)", "CN_FILE")


def reals(value: Any, where: str) -> np.ndarray:
    """An array of numbers, or an Error: texts that look like numbers and complex numbers are none."""
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "biufO" or (array.dtype.kind == "O" and any(isinstance(x, (str, bytes)) for x in array.flat)):
            raise TypeError
        return array.astype(float, order="C", copy=False)
    except (TypeError, ValueError, OverflowError):
        raise Error(f"{where}: must be numbers (got {value!r})") from None


def two(value: Any, where: str) -> list:
    """Two things, such as a velocity and a spin."""
    try:
        both = list(value)
    except TypeError:
        both = []
    if len(both) != 2:
        raise Error(f"{where}: must be two things (got {value!r})")
    return both


def vec3(value: Any, where: str = "vector"):
    return ffi.new("CnVec3 *", numbers(value, 3, where))[0]


def pose_of(value: Any, where: str):
    """A pose from a position, from seven numbers, or from (position, rotation)."""
    position, rotation = value, (1, 0, 0, 0)
    if isinstance(value, np.void) or (isinstance(value, np.ndarray) and value.dtype.names):
        if not {"position", "rotation"} <= set(value.dtype.names or ()):
            raise Error(f"{where}: must have the fields position and rotation")
        position, rotation = value["position"], value["rotation"]
    elif isinstance(value, dict):
        unknown = set(value) - {"position", "rotation"}
        if unknown:
            raise Error(f"{where}: no field '{unknown.pop()}' (known: position, rotation)")
        position, rotation = value.get("position", (0, 0, 0)), value.get("rotation", rotation)
    else:
        try:
            if len(value) == 2:
                position, rotation = value
            elif len(value) == 7:
                position, rotation = value[:3], value[3:]
        except TypeError:
            raise Error(f"{where}: must be a position, seven numbers or (position, rotation) (got {value!r})") from None
    out = ffi.new("CnPose *")
    out.position = numbers(position, 3, where + ".position")
    out.rotation = numbers(rotation, 4, where + ".rotation")
    return out[0]


def _scalar(kind: str, value: Any, where: str):
    if kind in ("float", "double"):
        try:
            return float(value)
        except (TypeError, ValueError):
            raise Error(f"{where}: must be a number (got {value!r})") from None
    if isinstance(value, (bool, np.bool_)):
        return int(value)
    if isinstance(value, (int, np.integer)) or (isinstance(value, float) and value.is_integer()):
        return int(value)
    raise Error(f"{where}: must be a whole number (got {value!r})")


def _put_struct(target, kind, value, where: str, keep: list) -> None:
    if cname(kind) in VECTORS:
        axes = VECTORS[cname(kind)]
        for axis, number in zip(axes, numbers(value, len(axes), where)):
            setattr(target, axis, number)
    elif cname(kind) in IDS:
        target.slot, target.generation = _id(value, cname(kind), where)
    elif cname(kind) == "CnPose":
        pose = pose_of(value, where)
        target.position, target.rotation = pose.position, pose.rotation
    elif cname(kind) == "CnTwist" and not isinstance(value, dict):
        velocity, spin = two(value, where) if np.ndim(value) != 1 or len(value) != 6 else (value[:3], value[3:])
        both = numbers(velocity, 3, where + ".velocity") + numbers(spin, 3, where + ".spin")
        target.velocity, target.spin = both[:3], both[3:]
    elif cname(kind) == "CnSym3" and not isinstance(value, dict):
        matrix = reals(value, where)
        six = ([matrix[0, 0], matrix[1, 1], matrix[2, 2], matrix[0, 1], matrix[0, 2], matrix[1, 2]]
               if matrix.shape == (3, 3) else list(matrix) + [0.0] * 3 if matrix.shape == (3,) else matrix)
        for field, number in zip(("xx", "yy", "zz", "xy", "xz", "yz"), numbers(six, 6, where)):
            setattr(target, field, number)
    elif isinstance(value, dict):
        fill(target, kind, value, where, keep)
    elif isinstance(value, ffi.CData):
        ffi.memmove(ffi.addressof(target), ffi.addressof(value), ffi.sizeof(kind))
    else:
        raise Error(f"{where}: must be given by its fields (got {value!r})")


def _id(value: Any, kind: str, where: str) -> tuple[int, int]:
    if value is None:
        return 0, 0
    own = getattr(value, "_id", value)
    if isinstance(own, ffi.CData) and cname(ffi.typeof(own)) == kind:
        return own.slot, own.generation
    raise Error(f"{where}: must be a {kind[2:-2].lower()} of this world (got {value!r})")


def _put(target, name: str, kind, value: Any, where: str, keep: list) -> None:
    if kind.kind == "struct":
        _put_struct(getattr(target, name), kind, value, where, keep)
    elif kind.kind == "enum":
        setattr(target, name, enum(cname(kind), value, where))
    elif kind.kind == "primitive":
        try:
            setattr(target, name, _scalar(cname(kind), value, where))
        except OverflowError:
            raise Error(f"{where}: {value!r} does not fit") from None
    elif kind.kind == "array":
        _put_array(getattr(target, name), kind, value, where, keep)
    elif kind.kind == "pointer" and cname(kind.item) == "char":
        if not isinstance(value, str):
            raise Error(f"{where}: must be a text (got {value!r})")
        keep.append(ffi.new("char[]", text_bytes(value, where)))
        setattr(target, name, keep[-1])
    elif kind.kind == "pointer" and kind.item.kind in ("struct", "primitive"):
        _put_pointer(target, name, kind, value, where, keep)
    else:
        raise Error(f"{where}: cannot be set from Python")


NAME_BYTES = 47  # longer names would be cut


def text_bytes(value: str, where: str) -> bytes:
    data = value.encode()
    if b"\0" in data:
        raise Error(f"{where}: a text has no zero in it (got {value!r})")
    if where.endswith(".name") and len(data) > NAME_BYTES:
        raise Error(f"{where}: at most {NAME_BYTES} bytes (got {len(data)}: {value!r})")
    return data


def _put_array(target, kind, value, where: str, keep: list) -> None:
    items = list(value.items()) if isinstance(value, dict) else list(enumerate(value))
    for i, item in items:
        if not isinstance(i, int) or not 0 <= i < kind.length:
            raise Error(f"{where}: no entry {i!r} (0 to {kind.length - 1})")
        if kind.item.kind == "struct":
            _put_struct(target[i], kind.item, item, f"{where}[{i}]", keep)
        else:
            target[i] = _scalar(cname(kind.item), item, f"{where}[{i}]")


def _put_pointer(target, name, kind, value, where: str, keep: list) -> None:
    """An array that C copies: of points as (n, 3) numbers, or of plain numbers."""
    if kind.item.kind == "struct":
        width = ffi.sizeof(kind.item) // 8
        array = reals(value, where)
        if array.ndim != 2 or array.shape[1] != width:
            raise Error(f"{where}: must be an array of n x {width} numbers (got {array.shape})")
    else:
        array = reals(value, where)
    keep.append(array)
    setattr(target, name, ffi.cast(kind, array.ctypes.data))


def fill(target, kind, fields: dict, where: str, keep: list) -> None:
    """Set fields of a struct from keywords; `keep` holds what C still points to."""
    known = dict(kind.fields)
    for name, value in fields.items():
        if name not in known or name in ("size", "tag"):
            usable = [k for k in known if k not in ("size", "tag")]
            raise Error(f"{where}: no field '{name}'{meant(name, usable)} (known: {', '.join(usable)})")
        _put(target, name, known[name].type, value, f"{where}.{name}", keep)


def definition(default, fields: dict, where: str):
    """A pointer to a definition: the library's default with fields set; keep it while it is used."""
    kind = ffi.typeof(default)
    out = ffi.new(ffi.getctype(kind, "*"), default)
    keep: list = []
    fill(out[0], kind, fields, where, keep)
    return out, keep


# ---- structs as numpy types ----

_PRIMITIVES = {"double": "f8", "float": "f4", "int32_t": "i4", "uint32_t": "u4", "int64_t": "i8", "uint64_t": "u8"}
_dtypes: dict[str, np.dtype] = {}


def dtype(name: str) -> np.dtype:
    """The numpy type of a struct: its fields by their names, vectors as small arrays."""
    if name not in _dtypes:
        _dtypes[name] = _dtype(ffi.typeof(name))
    return _dtypes[name]


def _dtype(kind) -> np.dtype:
    if kind.kind == "primitive":
        return np.dtype(_PRIMITIVES[cname(kind)])
    if kind.kind == "enum":
        return np.dtype("u4")
    if kind.kind == "pointer":
        return np.dtype("u8")
    if kind.kind == "array":
        return np.dtype((_dtype(kind.item), (kind.length,)))
    if cname(kind) in VECTORS:
        return np.dtype(("f8", (len(VECTORS[cname(kind)]),)))
    parts = [(name, _dtype(field.type), field.offset) for name, field in kind.fields]
    return np.dtype({"names": [p[0] for p in parts], "formats": [p[1] for p in parts],
                     "offsets": [p[2] for p in parts], "itemsize": ffi.sizeof(kind)})


def array_pointer(array: np.ndarray, kind: str):
    return ffi.cast(kind + " *", array.ctypes.data)


def plain(struct) -> Any:
    """A struct as Python values: numbers, texts, numpy vectors, dicts."""
    kind = ffi.typeof(struct)
    if kind.kind == "pointer":
        struct, kind = struct[0], kind.item
    if cname(kind) in VECTORS:
        return np.array([getattr(struct, a) for a in VECTORS[cname(kind)]])
    return {name: _plain(getattr(struct, name), field.type) for name, field in kind.fields}


def _plain(value, kind):
    if kind.kind == "struct":
        return plain(value)
    if kind.kind == "pointer":
        return text(value) if cname(kind.item) == "char" else None
    if kind.kind == "array":
        if cname(kind.item) == "char":
            return text(value)
        return [_plain(x, kind.item) for x in value]
    return value


# ---- what the headers say ----

@functools.lru_cache(maxsize=None)
def sentences() -> dict[str, str]:
    """Functions and fields ("CnBodyDef.mass") with the sentence that the headers have for them."""
    path = os.path.join(os.path.dirname(__file__), "_sentences.json")
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def tell_fields(function, *structs: str) -> None:
    """Put the fields of definitions behind what a function says of itself, for help()."""
    told = [inspect.cleandoc(function.__doc__ or "")]
    for struct in structs:
        told.append(f"Fields of {struct}::\n\n" + textwrap.indent(describe(struct), "    "))
    function.__doc__ = "\n\n".join(told)


def describe(struct: str) -> str:
    """The fields of a definition, one a line: cairn.describe("CnJointDef")."""
    told = sentences()
    try:
        kind = ffi.typeof(struct)
    except ffi.error:
        raise Error(f"describe: no struct '{struct}'") from None
    return "\n".join(f"{name:24} {told.get(struct + '.' + name, '')}".rstrip()
                     for name, _ in kind.fields if name not in ("size", "tag"))
