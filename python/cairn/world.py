# SPDX-License-Identifier: Apache-2.0
"""Worlds of rigid bodies, their bodies, shapes, joints and forces as objects, states as numpy arrays.

Every call into C releases the interpreter lock: worlds in different threads step side by side. A world
belongs to one thread at a time; a second thread that calls it meanwhile gets an Error.
"""
from __future__ import annotations

import threading
import weakref
from typing import Iterator, NamedTuple, Optional

import numpy as np

from . import _c
from . import hooks as _hooks  # noqa: F401: installs what C calls
from ._c import Error, call, ffi, lib, text
from .shapes import Shape, plane
from .things import Body, BodyShape, Force, Function, Joint, Material, Thing, id_of
from .views import POSE, TWIST, View


class Report:
    """What a step did; `full` has all of CnStepReport as a dict."""
    __slots__ = ("_struct",)

    def __init__(self, struct):
        self._struct = struct

    @property
    def step(self) -> int:
        """Number of steps made so far."""
        return self._struct.step

    @property
    def time(self) -> float:
        """s, at its end."""
        return self._struct.time

    @property
    def contacts(self) -> int:
        """Number of them."""
        return self._struct.contact_count

    @property
    def iterations(self) -> int:
        """Of the solver."""
        return self._struct.solve.iterations

    @property
    def converged(self) -> bool:
        """Whether the certificate meets the tolerance."""
        return self._struct.solve.converged == 1

    @property
    def residual(self) -> float:
        """Of the certificate."""
        return self._struct.solve.certificate.residual

    @property
    def full(self) -> dict:
        """Everything the step tells."""
        return _c.plain(self._struct)

    def __repr__(self) -> str:
        return (f"Report(step={self.step}, time={self.time:g}, contacts={self.contacts}, iterations={self.iterations}, "
                f"converged={self.converged}, residual={self.residual:g})")


class Verdict(NamedTuple):
    """Can the run so far be trusted? `line` says so to a person, `reasons` names what speaks against it."""
    trusted: bool
    line: str
    reasons: list

    def __bool__(self) -> bool:
        return self.trusted


class _Use:
    """The pointer of a world for one call; other threads are kept out."""
    __slots__ = ("world",)

    def __init__(self, world: "World"):
        self.world = world

    def __enter__(self):
        world = self.world
        if world._pointer is None:
            raise Error("this world is closed", "CN_INVALID_HANDLE")
        if world._inside == threading.get_ident():
            return world._pointer
        if not world._lock.acquire(blocking=False):
            raise Error("this world is in use by another thread", "CN_BUSY")
        return world._pointer

    def __exit__(self, *_):
        if self.world._inside != threading.get_ident():
            self.world._lock.release()


_REPORT = ffi.typeof("CnStepReport *")
_SHORT = {"tolerance": "tolerance", "iterations": "max_iterations", "relaxation": "relaxation"}
HOOKS = ("before_step", "filter", "modify", "force")


def take_hooks(settings: dict) -> dict:
    """The functions among settings, taken out; None is none."""
    found = {k: settings.pop(k) for k in HOOKS if k in settings}
    return {k: v for k, v in found.items() if v is not None}


class World:
    """A world. Keywords are fields of CnWorldDef (time_step, gravity, integrator, ...) and, for the
    solver, solver="auto", tolerance=, iterations=; threads=; before_step=, filter=, modify=, force=
    are Python functions (docs/howto/python.md)."""

    def __init__(self, **settings):
        self._setup()
        hooks = take_hooks(settings)
        definition, keep = self._definition(lib.cn_world_def_default(), settings)
        self._set_hooks(definition, hooks)
        out = ffi.new("CnWorld **")
        call(lib.cn_world_create(definition, out))
        self._take(out[0])

    def __setattr__(self, name: str, value) -> None:
        # a name of your own is kept; one that is nearly ours is a slip
        if name[:1] != "_" and name not in ("scene", *self.__dict__) and not hasattr(type(self), name):
            near = _c.meant(name, dir(type(self)))
            if near:
                raise Error(f"world: no attribute '{name}'{near}")
        object.__setattr__(self, name, value)

    def _setup(self) -> None:
        self._lock, self._inside, self._raised = threading.Lock(), 0, None
        self._pointer, self._hooks = None, {}
        self._handle = ffi.new_handle(weakref.ref(self))
        self._report = ffi.new(_REPORT)
        self._recorder = None
        self._views, self._lent = 0, []
        self.scene = None
        self._fed = False  # the scene has a part in steps

    def _take(self, pointer) -> None:
        self._pointer = ffi.gc(pointer, lib.cn_world_destroy)

    @staticmethod
    def _definition(default, settings: dict):
        settings = dict(settings)
        solver = settings.pop("solver", None)
        own = {_SHORT[k]: settings.pop(k) for k in list(settings) if k in _SHORT}
        if "threads" in settings:
            settings["worker_count"] = settings.pop("threads")
        out, keep = _c.definition(default, settings, "world")
        if isinstance(solver, str):
            if solver not in _c.names(lib.cn_solver_name):
                raise Error(f"world.solver: no '{solver}' (known: {', '.join(_c.names(lib.cn_solver_name))})")
            keep.append(ffi.new("char[]", solver.encode()))
            out.solver = lib.cn_solver_def_default(keep[-1])
        elif solver is not None:
            if not isinstance(solver, dict):
                raise Error(f"world.solver: must be a name or fields (got {solver!r})")
            _c.fill(out.solver, ffi.typeof("CnSolverDef"), solver, "solver", keep)
        _c.fill(out.solver, ffi.typeof("CnSolverDef"), own, "solver", keep)
        return out, keep

    def _set_hooks(self, definition, hooks: dict) -> None:
        for name, function in hooks.items():
            if not callable(function):
                raise Error(f"world.{name}: must be a function (got {function!r})")
        self._hooks = {**self._hooks, **hooks}
        for name in self._hooks:
            setattr(definition.hooks, name, getattr(lib, "cairn_" + name))
        if self._hooks:  # a function that raised ends the step where forces are asked for
            definition.hooks.force = lib.cairn_force
            definition.hooks.context = self._handle

    @classmethod
    def _of(cls, pointer, scene=None) -> "World":
        world = cls.__new__(cls)
        world._setup()
        world._take(pointer)
        world.scene = scene
        return world

    def _use(self) -> _Use:
        return _Use(self)

    def _own(self, value):
        """A thing of this world, or what holds some: others are refused, as ids alone do not tell."""
        if isinstance(value, Thing):
            if value.world is not self:
                raise Error(f"{value!r} is of another world", "CN_INVALID_HANDLE")
        elif isinstance(value, dict):
            for part in value.values():
                self._own(part)
        elif isinstance(value, (list, tuple)):
            for part in value:
                self._own(part)
        return value

    def _a(self, kind, value):
        """A thing of this world and of that kind."""
        if not isinstance(value, kind):
            raise Error(f"must be a {kind._sort} of this world (got {value!r})")
        return self._own(value)

    def _move(self) -> None:
        """Before memory of the state may move: nobody looks at it, and old views are told so."""
        if self._lent:
            raise Error("arrays of a view are still in use: let go of them first (del)", "CN_BUSY")
        self._views += 1

    def close(self) -> None:
        """Release its memory now; later use is an Error. What was being recorded is complete then."""
        if self._inside:
            raise Error("this world is in use: inside step", "CN_BUSY")
        self._move()
        if self._recorder is not None:
            self._recorder.close()
        with self._use():
            pointer, self._pointer = self._pointer, None
        ffi.release(pointer)

    @property
    def recorder(self) -> Optional["Recorder"]:  # noqa: F821
        """What World.record gave, until it is closed; None: nothing is recorded."""
        return self._recorder

    # ---- settings ----

    @property
    def settings(self) -> dict:
        """All settings as they are now."""
        out = ffi.new("CnWorldDef *")
        with self._use() as pointer:
            call(lib.cn_world_settings(pointer, out))
        return _c.plain(out)

    def set(self, **settings) -> None:
        """Change settings between steps: as in World(...)."""
        hooks = take_hooks(settings)
        now = ffi.new("CnWorldDef *")
        with self._use() as pointer:
            call(lib.cn_world_settings(pointer, now))
            definition, keep = self._definition(now[0], settings)
            self._set_hooks(definition, hooks)
            call(lib.cn_world_set_settings(pointer, definition))

    @property
    def info(self) -> dict:
        """All of CnWorldInfo."""
        out = ffi.new("CnWorldInfo *")
        with self._use() as pointer:
            lib.cn_world_info(pointer, out)
        return _c.plain(out)

    @property
    def time(self) -> float:
        """s."""
        return self.info["time"]

    @property
    def energy(self) -> tuple[float, float]:
        """Kinetic, and potential of gravity (J)."""
        sums = self.sums
        return sums["kinetic_energy"], sums["potential_energy"]

    @property
    def sums(self) -> dict:
        """Energy, momentum, angular momentum, mass of all bodies."""
        out = ffi.new("CnWorldSums *")
        with self._use() as pointer:
            lib.cn_world_sums(pointer, out)
        return _c.plain(out)

    @property
    def hash(self) -> str:
        """Of all positions and velocities, as the command prints it."""
        with self._use() as pointer:
            return f"{lib.cn_world_hash(pointer):016x}"

    # ---- stepping ----

    def step(self, count: int = 1) -> Report:
        """Make steps; the report is that of the last one. An exception in a hook comes out here, and
        the world is as it was before that step."""
        if not isinstance(count, (int, np.integer)) or count < 1:
            raise Error(f"step: count must be a whole number from 1 on (got {count!r})")
        report, step = ffi.new(_REPORT), lib.cn_world_step  # a report of its own: it may be kept
        if self._fed:  # sources, sinks, sensors that look back
            scene = self.scene._pointer
            step = lambda world, out: lib.cn_scene_step(scene, world, out)  # noqa: E731
        if self._inside or not self._lock.acquire(False):
            raise Error("this world is in use: inside step, or by another thread", "CN_BUSY")
        try:
            pointer = self._pointer
            if pointer is None:
                raise Error("this world is closed", "CN_INVALID_HANDLE")
            self._report = report
            for _ in range(count):
                status = step(pointer, report)
                if self._raised is not None:
                    raised, self._raised = self._raised, None
                    raise raised
                if status:
                    call(status)
                self._views += 1
                if self._recorder is not None:
                    self._recorder._step(pointer, report)
        finally:
            self._lock.release()
        return Report(report)

    @property
    def report(self) -> Report:
        """Of the last step."""
        return Report(ffi.new(_REPORT, self._report[0]))

    @property
    def verdict(self) -> Verdict:
        """On all steps made so far."""
        out = ffi.new("CnVerdict *")
        with self._use() as pointer:
            call(lib.cn_world_verdict(pointer, out))
        reasons = [text(lib.cn_finding_name(out.reasons[i])) for i in range(out.reason_count)]
        return Verdict(bool(out.trusted), text(out.line), reasons)

    def record(self, path: str, fps: float = 60, contacts: bool = False, joints: bool = False,
               replace: bool = False, plain: bool = False) -> "Recorder":  # noqa: F821
        """Record what follows into a run file: `with world.record("run.h5"): world.step(1000)`.
        A complete file is compressed unless `plain`."""
        from .run import Recorder
        return Recorder(self, path, fps, contacts, joints, replace, plain)

    # ---- things ----

    def material(self, **fields) -> Material:
        """friction, restitution, rolling_friction, cohesion, name ... (CnMaterialDef)."""
        return self._create("material", lib.cn_material_def_default(), lib.cn_material_create, Material, fields)

    def _create(self, sort: str, default, create, make, fields: dict):
        definition, keep = _c.definition(default, self._own(fields), sort)
        return self._made(definition, create, make)

    def _made(self, definition, create, make):
        kind = {Material: "CnMaterialId", Body: "CnBodyId", Joint: "CnJointId", Force: "CnForceId",
                Function: "CnFunctionId"}[make]
        out = ffi.new(kind + " *")
        with self._use() as pointer:
            call(create(pointer, definition, out))
        return make(self, ffi.new(kind + " *", out[0])[0])

    def body(self, *shapes: Shape, position=None, rotation=None, velocity=None, spin=None, **fields) -> Body:
        """A body of shapes. Fields of CnBodyDef: kind ("dynamic", "fixed", "kinematic"), mass, name ...
        Without a mass it has that of its shapes; a mass alone is spread as theirs, and one with an inertia counts
        as it is, with its com."""
        scaled, definition, keep = self._body_definition(fields)
        if scaled and not shapes:
            raise Error(f"body: a mass of {scaled:g} kg without an inertia, and no shape says it")
        if position is not None:
            definition.pose.position = _c.numbers(position, 3, "body.position")
        if rotation is not None:
            definition.pose.rotation = _c.numbers(rotation, 4, "body.rotation")
        if velocity is not None:
            definition.twist.velocity = _c.numbers(velocity, 3, "body.velocity")
        if spin is not None:
            definition.twist.spin = _c.numbers(spin, 3, "body.spin")
        self._move()
        body = self._made(definition, lib.cn_body_create, Body)
        try:
            for shape in shapes:
                self._add_shape(body, shape)
            if scaled:
                body.set_mass(scaled)
        except BaseException:
            body.destroy()
            raise
        return body

    def _body_definition(self, fields: dict):
        """A mass that is to be spread as the shapes spread theirs (0: none), and the definition of a body."""
        alone = "mass" in fields and "inertia" not in fields
        if "com" in fields and (alone or "mass" not in fields):
            raise Error("body: a com needs a mass and an inertia; without them all three are those of the shapes")
        definition, keep = _c.definition(lib.cn_body_def_default(), fields, "body")
        if not alone:
            return 0, definition, keep
        mass, definition.mass = definition.mass, 0
        if not 0 <= mass < float("inf"):
            raise Error(f"body.mass: must {'not be negative' if mass < 0 and mass > -float('inf') else 'be finite'} (got {mass!r})")
        if mass and definition.kind != lib.CN_BODY_DYNAMIC:
            raise Error("body: a mass alone is for dynamic bodies: give an inertia too")
        return mass, definition, keep

    def _shape_definition(self, shape: Shape):
        if not isinstance(shape, Shape):
            raise Error(f"body: {shape!r} is no shape: cairn.sphere(0.1), cairn.box(1, 1, 1) ...")
        fields = dict(self._own(shape.fields))
        pose = {k: fields.pop(k) for k in ("position", "rotation") if k in fields}
        if pose:
            fields["pose"] = pose
        kind = _c.enum("CnShapeKind", shape.kind, "shape")
        definition, keep = _c.definition(lib.cn_shape_def_default(kind), fields, shape.kind)
        if shape.geometry is not None:
            definition.geometry = shape.geometry(self)
        return definition, keep

    def _geometry(self, create):
        out = ffi.new("CnGeometryId *")
        with self._use() as pointer:
            call(create(pointer, out))
        return out[0]

    def _add_shape(self, body: Body, shape: Shape) -> BodyShape:
        definition, keep = self._shape_definition(shape)
        out = ffi.new("CnShapeId *")
        with self._use() as pointer:
            call(lib.cn_shape_create(pointer, body._id, definition, out))
        return BodyShape(self, id_of("CnShapeId", out.slot, out.generation))

    def floor(self, **fields) -> Body:
        """A fixed body with the plane z = 0."""
        return self.body(plane(**fields), kind="fixed", name="floor")

    def many(self, shape: Shape, positions, rotations=None, **fields) -> list[Body]:
        """One body of a shape at each of n x 3 positions, by one call."""
        try:
            positions = np.asarray(positions, float)
        except (TypeError, ValueError):
            raise Error(f"many: positions must be n x 3 numbers (got {positions!r})") from None
        if positions.ndim != 2 or positions.shape[1] != 3:
            raise Error(f"many: positions must be n x 3 numbers (got {positions.shape})")
        poses = np.zeros(len(positions), POSE)
        poses["position"] = positions
        poses["rotation"] = (1, 0, 0, 0) if rotations is None else rotations
        ids = np.empty((len(positions), 2), np.uint32)
        scaled, definition, keep = self._body_definition(fields)
        shape_definition, keep_shape = self._shape_definition(shape)
        if scaled:
            # what one body of the shape has, in a world of its own; laws of contact have no part in it
            own = {key: value for key, value in shape.fields.items() if key != "material"}
            mass = World().body(shape._replace(fields=own))._scaled(scaled)
            definition.mass, definition.com, definition.inertia = mass.mass, mass.com, mass.inertia
        self._move()
        with self._use() as pointer:
            call(lib.cn_bodies_create(pointer, definition, shape_definition,
                                      _c.array_pointer(poses, "CnPose"), len(poses),
                                      _c.array_pointer(ids, "CnBodyId")))
        return [Body(self, id_of("CnBodyId", *pair)) for pair in ids.tolist()]

    def joint(self, kind: str, a: Optional[Body], b: Optional[Body], anchor=None, axis=None,
              axes=None, **fields) -> Joint:
        """A joint between two bodies (None: the ground), its frames at an anchor of the world (default:
        b's origin), z along an axis. axes: what acts on its coordinates, a dict of CnJointAxis for each:
        joint("revolute", None, arm, axis=(0, 1, 0), axes=[dict(motor_speed=2, motor_effort=10)])."""
        number = _c.enum("CnJointKind", kind, "joint")
        self._own([a, b, axes or [], fields])
        definition, keep = _c.definition(lib.cn_joint_def_default(number), fields, "joint")
        for name, end in (("body_a", a), ("body_b", b)):
            _c.fill(definition[0], ffi.typeof("CnJointDef"), {name: end}, "joint", keep)
        if "frame_a" not in fields and "frame_b" not in fields:
            at = anchor if anchor is not None else (b or a).position if (b or a) else (0, 0, 0)
            with self._use() as pointer:
                call(lib.cn_joint_def_along(pointer, _c.vec3(at, "anchor"),
                                            _c.vec3(axis if axis is not None else (0, 0, 1), "axis"), definition))
        elif anchor is not None or axis is not None:
            raise Error("joint: give frames, or anchor and axis, not both")
        if axes is not None:
            _c.fill(definition[0], ffi.typeof("CnJointDef"), {"axes": axes}, "joint", keep)
        return self._made(definition, lib.cn_joint_create, Joint)

    def force(self, kind: str, a: Optional[Body] = None, b: Optional[Body] = None, **fields) -> Force:
        """A force element between two bodies (None: the ground), or on b: "spring", "torsion", "bushing",
        "drag", "constant", "attraction"; fields of CnForceDef."""
        number = _c.enum("CnForceKind", kind, "force")
        return self._create("force", lib.cn_force_def_default(number), lib.cn_force_create, Force,
                            {"body_a": a, "body_b": b, **fields})

    def function(self, kind: str, **fields) -> Function:
        """A function of time for drives and motions: "sine", "ramp", "table" (times=, values=) ..."""
        if "times" in fields:
            fields["point_count"] = len(fields["times"])
            if len(fields["times"]) != len(fields.get("values", ())):
                raise Error("function: times and values must be of one length")
        number = _c.enum("CnFunctionKind", kind, "function")
        return self._create("function", lib.cn_function_def_default(number), lib.cn_function_create,
                            Function, fields)

    def disable(self, a: Body, b: Body) -> None:
        """Two bodies meet no more."""
        with self._use() as pointer:
            call(lib.cn_pair_disable(pointer, self._a(Body, a)._id, self._a(Body, b)._id))

    def enable(self, a: Body, b: Body) -> None:
        """Two bodies that were kept apart meet again."""
        with self._use() as pointer:
            call(lib.cn_pair_enable(pointer, self._a(Body, a)._id, self._a(Body, b)._id))

    def pair(self, a: Optional[Material], b: Optional[Material], **fields) -> None:
        """The law between two materials (None: the usual one), in place of what their rules make of them: friction,
        restitution, rolling_friction, spinning_friction, cohesion. Without any: the rules again."""
        usable = ("friction", "restitution", "rolling_friction", "spinning_friction", "cohesion")
        for name in fields:
            if name not in usable:
                raise Error(f"pair: no field '{name}' (known: {', '.join(usable)})")
        law, keep = _c.definition(lib.cn_material_def_default(), fields, "pair")
        ids = [ffi.new("CnMaterialId *")[0] if m is None else self._a(Material, m)._id for m in (a, b)]
        with self._use() as pointer:
            call(lib.cn_material_pair_set(pointer, *ids, law if fields else ffi.NULL))

    def _walk(self, next_, kind: str, make) -> Iterator:
        id_ = id_of(kind, 0, 0)
        while True:
            with self._use() as pointer:
                id_ = next_(pointer, id_)
            if id_.slot == 0:
                return
            yield make(self, id_)

    @property
    def bodies(self) -> list[Body]:
        """In the order of all arrays of states."""
        return list(self._walk(lib.cn_world_next_body, "CnBodyId", Body))

    @property
    def shapes(self) -> list[BodyShape]:
        """Of all bodies."""
        return list(self._walk(lib.cn_world_next_shape, "CnShapeId", BodyShape))

    @property
    def materials(self) -> list[Material]:
        """In the order of their creation."""
        return list(self._walk(lib.cn_world_next_material, "CnMaterialId", Material))

    @property
    def joints(self) -> list[Joint]:
        """In the order of their creation."""
        return list(self._walk(lib.cn_world_next_joint, "CnJointId", Joint))

    @property
    def forces(self) -> list[Force]:
        """In the order of their creation."""
        return list(self._walk(lib.cn_world_next_force, "CnForceId", Force))

    def find(self, name: str) -> Thing:
        """The body, joint, material or shape of that name."""
        if not isinstance(name, str):
            raise Error(f"find: a name is a text (got {name!r})")
        key = name.encode()
        for find, make in ((lib.cn_world_find_body, Body), (lib.cn_world_find_joint, Joint),
                           (lib.cn_world_find_material, Material), (lib.cn_world_find_shape, BodyShape)):
            with self._use() as pointer:
                found = find(pointer, key)
            if found.slot:
                return make(self, found)
        raise Error(f"nothing is named '{name}'", "CN_INVALID_HANDLE")

    def __len__(self) -> int:
        return self.info["body_count"]

    # ---- states as arrays ----

    def state(self, poses: Optional[np.ndarray] = None,
              twists: Optional[np.ndarray] = None) -> tuple[np.ndarray, np.ndarray]:
        """Poses and twists of all bodies as structured arrays, into those given or new ones."""
        n = len(self)
        poses = np.empty(n, POSE) if poses is None else _fits(poses, POSE, n, "poses", True)
        twists = np.empty(n, TWIST) if twists is None else _fits(twists, TWIST, n, "twists", True)
        with self._use() as pointer:
            call(lib.cn_world_get_state(pointer, _c.array_pointer(poses, "CnPose"),
                                        _c.array_pointer(twists, "CnTwist"), n))
        return poses, twists

    def set_state(self, poses: Optional[np.ndarray] = None, twists: Optional[np.ndarray] = None) -> None:
        """Set them, all or none."""
        n = len(self)
        p = ffi.NULL if poses is None else _c.array_pointer(_fits(poses, POSE, n, "poses"), "CnPose")
        t = ffi.NULL if twists is None else _c.array_pointer(_fits(twists, TWIST, n, "twists"), "CnTwist")
        with self._use() as pointer:
            call(lib.cn_world_set_state(pointer, p, t, n))

    @property
    def positions(self) -> np.ndarray:
        """Of all body frames, n x 3: a new array."""
        return self.state()[0]["position"]

    @property
    def rotations(self) -> np.ndarray:
        """Of all body frames, n x 4: a new array."""
        return self.state()[0]["rotation"]

    @property
    def velocities(self) -> np.ndarray:
        """Of all body frames, n x 3: a new array."""
        return self.state()[1]["velocity"]

    @property
    def spins(self) -> np.ndarray:
        """n x 3: a new array."""
        return self.state()[1]["spin"]

    def push(self, forces, torques=None) -> None:
        """Forces (n x 3, at the centres of mass) and torques on all bodies for the next step."""
        n = len(self)
        loads = np.zeros(n, TWIST)
        for name, given in (("velocity", forces), ("spin", torques)):
            if given is None:
                continue
            given = _c.reals(given, "push")
            if given.shape != (n, 3):
                raise Error(f"push: must be {n} x 3 numbers (got {given.shape})")
            loads[name] = given
        with self._use() as pointer:
            call(lib.cn_world_add_loads(pointer, _c.array_pointer(loads, "CnTwist"), n))

    def view(self) -> "View":
        """The state where it lies, without a copy: read-only, at the centres of mass, in the world's own
        order (`bodies`). It is good until the world changes; then its arrays are refused."""
        return View(self)

    def contacts(self) -> np.ndarray:
        """Contacts of the last step: a structured array with the fields of CnContact."""
        count = ffi.new("int32_t *")
        with self._use() as pointer:
            call(lib.cn_world_contacts(pointer, ffi.NULL, 0, count))
            out = np.empty(count[0], _c.dtype("CnContact"))
            call(lib.cn_world_contacts(pointer, _c.array_pointer(out, "CnContact"), count[0], count))
        return out

    def joint_states(self) -> np.ndarray:
        """Of all joints: a structured array with the fields of CnJointState."""
        count = ffi.new("int32_t *")
        with self._use() as pointer:
            call(lib.cn_world_joint_states(pointer, ffi.NULL, 0, count))
            out = np.empty(count[0], _c.dtype("CnJointState"))
            call(lib.cn_world_joint_states(pointer, _c.array_pointer(out, "CnJointState"), count[0], count))
        return out

    # ---- saving ----

    def save(self) -> bytes:
        """A snapshot: restore(it) goes on with the same bits."""
        size = ffi.new("size_t *")
        with self._use() as pointer:
            call(lib.cn_world_save(pointer, ffi.NULL, 0, size))
            data = bytearray(size[0])
            call(lib.cn_world_save(pointer, ffi.from_buffer(data), size[0], size))
        return bytes(data)

    def restore(self, data) -> None:
        """Go back to a snapshot, of this world or of another."""
        try:
            buffer = ffi.from_buffer(data)
        except TypeError:
            raise Error(f"restore: must be bytes (got {type(data).__name__})") from None
        self._move()
        with self._use() as pointer:
            call(lib.cn_world_restore(pointer, buffer, len(buffer)))

    def copy(self) -> "World":
        """A world of its own that goes on with the same bits; Python's hooks come along."""
        out = ffi.new("CnWorld **")
        with self._use() as pointer:
            call(lib.cn_world_copy(pointer, out))
        copy = World._of(out[0], self.scene)
        if self._hooks:
            copy._hooks = dict(self._hooks)
            copy.set()
        return copy

    def __getstate__(self):
        if self._hooks:
            raise Error("a world with Python's functions cannot be pickled")
        return self.save()

    def __setstate__(self, data) -> None:
        self.__init__()
        self.restore(data)

    # ---- machines ----

    def mechanism(self) -> dict:
        """Degrees of freedom, dependent rows, how far joints are open."""
        out = ffi.new("CnMechanism *")
        with self._use() as pointer:
            call(lib.cn_world_mechanism(pointer, out, ffi.NULL, 0))
        return _c.plain(out)

    def equilibrium(self, **fields) -> dict:
        """Move the world to where it is at rest."""
        definition, keep = _c.definition(lib.cn_equilibrium_def_default(), fields, "equilibrium")
        out = ffi.new("CnEquilibrium *")
        with self._use() as pointer:
            call(lib.cn_world_equilibrium(pointer, definition, out))
            self._views += 1
        return _c.plain(out)

    def modes(self) -> np.ndarray:
        """Frequencies and damping about an equilibrium, a structured array with the fields of CnMode."""
        count = ffi.new("int32_t *")
        with self._use() as pointer:
            call(lib.cn_world_modes(pointer, ffi.NULL, ffi.NULL, ffi.NULL, 0, count))
            out = np.empty(count[0], _c.dtype("CnMode"))
            call(lib.cn_world_modes(pointer, ffi.NULL, _c.array_pointer(out, "CnMode"), ffi.NULL, count[0], count))
        return out

    def ray(self, origin, way) -> Optional[dict]:
        """What is hit first from a point along a way whose length counts; None: nothing."""
        out = ffi.new("CnHit *")
        with self._use() as pointer:
            call(lib.cn_world_ray(pointer, _c.vec3(origin, "origin"), _c.vec3(way, "way"), ffi.NULL, out))
        if out.shape.slot == 0:
            return None
        return {"body": Body(self, id_of("CnBodyId", out.body.slot, out.body.generation)), "at": out.at,
                "point": _c.plain(out.point), "normal": _c.plain(out.normal)}


def _fits(array, kind: np.dtype, count: int, name: str, written: bool = False) -> np.ndarray:
    if not isinstance(array, np.ndarray) or array.dtype != kind or array.shape != (count,):
        raise Error(f"{name}: must be an array of {count} {kind.names} (cairn.POSE, cairn.TWIST)")
    if not array.flags.c_contiguous or (written and not array.flags.writeable):
        raise Error(f"{name}: must be contiguous{' and writeable' if written else ''}")
    return array
