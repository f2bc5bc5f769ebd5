# SPDX-License-Identifier: Apache-2.0
"""Worlds from Python: physics by closed forms, the same bits as the command, arrays, hooks, misuse."""
import gc
import inspect
import json
import math
import os
import pickle
import subprocess
import threading

import numpy as np
import pytest

import cairn


def falling(**settings):
    world = cairn.World(time_step=1e-3, **settings)
    world.floor()
    return world, world.body(cairn.sphere(0.1), position=(0, 0, 1), name="ball")


def test_a_ball_comes_to_rest():
    world, ball = falling()
    report = world.step(1000)
    assert report.step == 1000 and report.converged
    assert ball.position == pytest.approx((0, 0, 0.1), abs=1e-9)
    assert ball.mass == pytest.approx(1000 * 4 / 3 * math.pi * 0.1**3)
    contacts = world.contacts()
    assert len(contacts) == 1
    assert contacts["force"][0][2] == pytest.approx(ball.mass * 9.81)
    assert world.verdict and "trusted" in world.verdict.line
    assert report.full["contact_count"] == 1
    assert ball.contacts()["gap"][0] == contacts["gap"][0]


@pytest.mark.parametrize("scene, steps", [("chain", 50), ("pyramid", 30), ("shapes", 20)])
def test_same_bits_as_the_command(scene, steps):
    command = os.environ.get("CAIRN_COMMAND")
    if not command:
        pytest.skip("CAIRN_COMMAND is not set")
    out = subprocess.run([command, "run", scene, "--steps", str(steps), "--json"], text=True, capture_output=True)
    told = json.loads(out.stdout)
    world = cairn.load(scene)
    world.step(steps)
    assert told["state_hash"] == world.hash


def test_pendulum_period():
    """A point mass on an arm: 2 pi sqrt(l/g), amplitude correction to fourth order."""
    world = cairn.World(time_step=1e-3)
    length, start = 1.0, 0.3
    arm = world.body(mass=1, inertia=(1e-9, 1e-9, 1e-9),
                     position=(length * math.sin(start), 0, -length * math.cos(start)))
    hinge = world.joint("revolute", None, arm, anchor=(0, 0, 0), axis=(0, 1, 0), name="hinge")
    crossings, last = [], None
    for _ in range(4200):
        world.step()
        x = arm.position[0]
        if last is not None and last > 0 >= x:
            crossings.append(world.time - 1e-3 * (0 - x) / (last - x))
        last = x
    period = 2 * math.pi * math.sqrt(length / 9.81) * (1 + start**2 / 16 + 11 * start**4 / 3072)
    assert crossings[1] - crossings[0] == pytest.approx(period, rel=2e-5)
    assert hinge.error < 1e-9 and world.find("hinge") == hinge


def test_motor_and_drive():
    world = cairn.World(time_step=1e-3, gravity=(0, 0, 0))
    wheel = world.body(cairn.cylinder(0.5, 0.1))
    motor = world.joint("revolute", None, wheel, axis=(0, 0, 1), axes=[dict(motor_speed=2, motor_effort=1000)])
    world.step(500)
    assert motor.rates[0] == pytest.approx(2)
    assert motor.coordinates[0] == pytest.approx(1, abs=0.2)
    motor.set(motor_speed=-1)
    world.step(500)
    assert motor.rates[0] == pytest.approx(-1)
    sine = world.function("sine", amplitude=0.5, frequency=1)
    assert sine(0.25) == pytest.approx(0.5)
    motor.set(drive="position", motor_function=sine, motor_effort=float("inf"))
    world.step(100)
    assert motor.coordinates[0] == pytest.approx(sine(world.time), abs=1e-6)


def test_states_as_arrays():
    world = cairn.World()
    bodies = world.many(cairn.sphere(0.01), np.arange(30).reshape(10, 3))
    poses, twists = world.state()
    assert np.array_equal(world.positions, np.arange(30).reshape(10, 3))
    twists["velocity"][:, 0] = 2
    world.set_state(poses, twists)
    assert bodies[7].velocity[0] == 2
    again = world.state(poses, twists)
    assert again[0] is poses
    world.push(np.full((10, 3), 1.0))
    world.step()
    assert world.velocities[:, 1] == pytest.approx(1e-3 / bodies[0].mass)
    for wrong in (poses[:5], poses["position"], np.zeros(3), None, "x"):
        if wrong is not None:
            with pytest.raises(cairn.Error):
                world.set_state(wrong)
    with pytest.raises(cairn.Error):
        world.push(np.zeros((3, 3)))


def test_views_are_safe():
    world, ball = falling()
    world.step(3)
    view = world.view()
    positions = view.positions
    assert not positions.flags.writeable and [b.name for b in view.bodies] == ["floor", "ball"]
    with pytest.raises(cairn.Error, match="in use"):
        world.body(cairn.sphere(1))
    world.step()
    with pytest.raises(cairn.Error, match="old"):
        view.positions
    del view, positions
    gc.collect()
    world.body(cairn.sphere(1), position=(9, 9, 9))
    kept = world.view().positions
    del world, ball
    gc.collect()
    assert kept[-1][0] == 9  # the array keeps the world


def test_save_copy_pickle():
    world, ball = falling()
    world.step(100)
    saved, copy = world.save(), world.copy()
    again = pickle.loads(pickle.dumps(world))
    world.step(200)
    copy.step(200)
    again.step(200)
    assert world.hash == copy.hash == again.hash
    world.restore(saved)
    world.step(200)
    assert world.hash == copy.hash
    with pytest.raises(cairn.Error):
        world.restore(b"nonsense")
    with pytest.raises(cairn.Error):
        world.restore(3)


def test_settings_between_steps():
    world, ball = falling(solver="psor", iterations=20)
    world.step(10)
    world.set(solver="auto", tolerance=1e-9, threads=2, time_step=5e-4)
    now = world.settings
    assert now["solver"]["name"] == "auto" and now["worker_count"] == 2 and now["time_step"] == 5e-4
    world.step(10)
    with pytest.raises(cairn.Error, match="leapfrog"):
        world.set(integrator="leapfrog")
    with pytest.raises(cairn.Error, match="known: "):
        world.set(no_such_thing=1)
    with pytest.raises(cairn.Error, match="gauss"):
        cairn.World(solver="gauss")


def test_effort_by_its_word():
    world, ball = falling(solver=dict(effort="exact"))
    world.step(500)
    assert world.report.converged


def test_control_loop():
    """A cart pushed by a spring and damper written in Python: over-damped, comes to its target."""
    seen = []

    def control(world, time, time_step):
        cart = world.find("cart")
        seen.append(time)
        cart.push((100 * (1 - cart.position[0]) - 20 * cart.velocity[0], 0, 0))

    world = cairn.World(time_step=1e-3, gravity=(0, 0, 0), before_step=control)
    cart = world.body(mass=1, inertia=(1, 1, 1), name="cart")
    world.step(3000)
    assert cart.position[0] == pytest.approx(1, abs=1e-6) and len(seen) == 3000


def test_hooks_force_filter_modify():
    def lift(world, time, bodies, loads):
        loads["velocity"][bodies["centre"][:, 2] > 0.5] = (0, 0, 9.81 * 2)

    world = cairn.World(force=lift)
    body = world.body(mass=2, inertia=(1, 1, 1), position=(0, 0, 1))
    world.step(100)
    assert body.velocity == pytest.approx((0, 0, 0), abs=1e-12)

    ghost = cairn.World(filter=lambda world, a, b: False)
    ghost.floor()
    ball = ghost.body(cairn.sphere(0.1), position=(0, 0, 0.1))
    ghost.step(100)
    assert ball.position[2] < 0.1 - 0.04

    def ice(world, contact):
        contact.friction = 0

    slide = cairn.World(modify=ice)
    slide.floor()
    block = slide.body(cairn.box(1, 1, 1), position=(0, 0, 0.5), velocity=(1, 0, 0))
    slide.step(200)
    assert block.velocity[0] == pytest.approx(1)


def test_an_exception_in_a_hook_changes_nothing():
    def fail(world, time, time_step):
        if time > 0.0095:
            world.find("ball").velocity = (5, 5, 5)
            raise KeyError("on purpose")

    world, ball = falling(before_step=fail)
    world.step(9)
    with pytest.raises(KeyError, match="on purpose"):
        world.step(5)
    assert world.info["step"] == 10 and ball.velocity[0] == 0
    with pytest.raises(KeyError):
        world.step()


def test_what_hooks_get_may_be_kept():
    seen, contacts = [], []

    def force(world, time, bodies, loads):
        seen.append((bodies, loads))

    world = cairn.World(time_step=0.1, gravity=(0, 0, 0), force=force, modify=lambda w, contact: contacts.append(contact))
    world.body(mass=1, inertia=(1, 1, 1), velocity=(1, 0, 0))
    world.body(cairn.plane(), kind="fixed")
    world.body(cairn.sphere(0.1), position=(5, 0, 0.1))
    world.step(3)
    assert [b["centre"][0][0] for b, _ in seen] == pytest.approx([0, 0.1, 0.2])
    assert contacts[0].friction == 0.5
    for _, loads in seen:
        loads["velocity"] = 1e300  # of nobody any more
    world.step()
    assert world.velocities[0] == pytest.approx((1, 0, 0))


def test_things_of_another_world():
    world, other = cairn.World(), cairn.World()
    mine, theirs = world.body(mass=1, inertia=(1, 1, 1)), other.body(mass=1, inertia=(1, 1, 1))
    steel = other.material(friction=0.1)
    for wrong in (lambda: world.joint("ball", mine, theirs), lambda: world.force("spring", mine, theirs, stiffness=1),
                  lambda: world.body(cairn.sphere(1, material=steel)), lambda: world.disable(mine, theirs),
                  lambda: mine.contacts(theirs)):
        with pytest.raises(cairn.Error, match="another world"):
            wrong()


def test_inside_a_step():
    def create(world, time, time_step):
        world.body(cairn.sphere(1))

    world, _ = falling(before_step=create)
    with pytest.raises(cairn.Error, match="inside step"):
        world.step()


def test_close_in_a_hook():
    """A world does not go away under its own step."""
    world = cairn.World(before_step=lambda w, *_: w.close())
    world.floor()
    with pytest.raises(cairn.Error, match="inside step"):
        world.step()
    assert world.info["body_count"] == 1
    world.close()


def test_threads():
    """Two worlds in two threads; one world in two is refused."""
    worlds = [cairn.load("pyramid") for _ in range(2)]
    threads = [threading.Thread(target=w.step, args=(50,)) for w in worlds]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert worlds[0].hash == worlds[1].hash
    errors = []

    def meddle():
        for _ in range(2000):
            try:
                worlds[0].positions
            except cairn.Error as error:
                errors.append(error.status)

    other = threading.Thread(target=meddle)
    other.start()
    for _ in range(50):
        try:
            worlds[0].step()
        except cairn.Error as error:
            errors.append(error.status)
    other.join()
    assert set(errors) <= {"CN_BUSY"}


def test_stale_and_wrong():
    world, ball = falling()
    ball.destroy()
    for use in (lambda: ball.position, lambda: ball.push((1, 0, 0)), lambda: ball.destroy(),
                lambda: world.joint("ball", None, ball), lambda: ball.contacts()):
        with pytest.raises(cairn.Error):
            use()
    other = cairn.World()
    for wrong in (lambda: world.body(3), lambda: world.body(cairn.sphere(-1)), lambda: world.body(cairn.sphere("a")),
                  lambda: world.body(position=(1, 2)), lambda: world.body(kind="liquid"),
                  lambda: world.body(mass=float("nan")), lambda: world.joint("glue", None, None),
                  lambda: world.joint("ball", 3, 4), lambda: world.material(friction="high"),
                  lambda: world.material(colour=1), lambda: world.find("nobody"), lambda: world.step(0),
                  lambda: world.step(1.5), lambda: world.many(cairn.sphere(1), np.zeros(3)),
                  lambda: world.body(cairn.hull(np.zeros((5, 3)))), lambda: world.body(cairn.hull("abc")),
                  lambda: world.function("table", times=[0, 1], values=[1]), lambda: world.function("wave"),
                  lambda: cairn.World(time_step=0), lambda: cairn.World(before_step=3),
                  lambda: cairn.World(gravity=9.81), lambda: cairn.World(threads=-1),
                  lambda: cairn.describe("CnNothing"), lambda: world.find(5), lambda: cairn.World(solver=5),
                  lambda: cairn.load(None), lambda: cairn.load("chain", links="x"), lambda: cairn.Run(b"x"),
                  lambda: cairn.Batch(world, "x"), lambda: cairn.Batch(world, 10**10)):
        with pytest.raises(cairn.Error):
            wrong()
    before = world.hash
    assert world.hash == before and len(world) == 1
    other.close()
    with pytest.raises(cairn.Error, match="closed"):
        other.step()


def test_every_kind_by_its_name():
    world = cairn.World(gravity=(0, 0, 0))
    for shape in (cairn.sphere(1), cairn.box(1, 2, 3), cairn.capsule(1, 2), cairn.cylinder(1, 2), cairn.cone(1, 2),
                  cairn.ellipsoid(1, 2, 3), cairn.hull(np.random.default_rng(1).normal(size=(20, 3)))):
        assert world.body(shape, position=(10 * len(world), 0, 0)).mass > 0
    bodies = world.bodies
    for kind in ("ball", "weld", "prismatic", "revolute", "cylindrical", "spherical", "universal", "planar", "generic"):
        world.joint(kind, bodies[0], bodies[1])
    spring = world.force("spring", bodies[2], bodies[3], stiffness=10, damping=1)
    assert spring.fields["stiffness"] == 10
    world.step(3)
    assert world.ray((-50, 0, 0), (100, 0, 0))["body"] == bodies[0]
    assert world.ray((-50, 90, 0), (100, 0, 0)) is None
    assert len(world.joint_states()) == 9 and world.mechanism()["freedoms"] >= 0


def test_meshes():
    """A ball rests on a triangulated square, and on a grid of heights beside it, as on a plane."""
    world = cairn.World(time_step=2e-3)
    square = cairn.mesh([(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)], [(0, 1, 2), (0, 2, 3)])
    world.body(square, kind="fixed")
    world.body(cairn.heights(np.zeros((5, 4)), 0.5, 0.5), kind="fixed", position=(5, 0, 0))
    balls = world.many(cairn.sphere(0.2), [(0.3, 0.4, 0.3), (5.6, 0.7, 0.3)])
    world.step(500)
    for ball in balls:
        assert ball.position[2] == pytest.approx(0.2, abs=1e-6)
    for wrong in (lambda: world.body(cairn.mesh([(0, 0, 0)], [(0, 1, 2)]), kind="fixed"),
                  lambda: world.body(cairn.mesh("abc", 3), kind="fixed"),
                  lambda: world.body(cairn.mesh(np.eye(3), [(0, 1, 7)]), kind="fixed"),
                  lambda: world.body(cairn.heights([1, 2], 1, 1), kind="fixed")):
        with pytest.raises(cairn.Error):
            wrong()


def test_change_between_steps():
    """Mass, kind, material, filters, impulses; each by what it does."""
    world = cairn.World(time_step=1e-3, gravity=(0, 0, 0))
    body = world.body(cairn.box(1, 1, 1), position=(0, 0, 5))
    body.set_mass(2, inertia=(1, 1, 1))
    body.hit((4, 0, 0))
    assert body.mass == 2 and body.velocity == pytest.approx((2, 0, 0))
    body.push_local((0, 2000, 0))
    world.step()
    assert body.velocity == pytest.approx((2, 1, 0))
    body.kind = "fixed"
    assert body.kind == "fixed" and body.velocity == pytest.approx((0, 0, 0))
    body.kind = "dynamic"
    body.set_mass(0)
    assert body.mass == pytest.approx(1000)
    assert body.set_mass(3, inertia=(1, 1, 1)) is None and body.info["mass"] == 3


def test_fields_are_attributes():
    """Of worlds, materials, joints, forces: read, set, checked and told about by the headers' descriptions."""
    world = cairn.World(time_step=1e-3)
    bodies = [world.body(mass=1, inertia=(1, 1, 1), position=(i, 0, 0)) for i in range(2)]
    rubber = world.material(friction=0.8, name="rubber")
    hinge = world.joint("revolute", *bodies, axes=[dict(motor_speed=2, motor_effort=3)], name="hinge")
    spring = world.force("spring", *bodies, stiffness=5, name="spring")
    assert rubber.friction == 0.8 and rubber.name == "rubber" and rubber.friction_rule in cairn._c.ENUMS["CnCombine"]
    assert spring.stiffness == 5 and spring.body_a == bodies[0] and spring.name == "spring"
    axis, = hinge.axes
    assert axis.motor_speed == 2 and axis.drive == "speed" and axis.motor_function is None and hinge.body_b == bodies[1]
    assert world.gravity == pytest.approx((0, 0, -9.81)) and world.integrator == "impulse" and world.friction == "coulomb"
    rubber.friction, spring.stiffness, axis.motor_speed, axis.lower = 0.1, 7, -1, -2
    world.gravity, world.time_step, world.friction = (0, 0, -1.6), 5e-4, "convex"
    assert (rubber.friction, spring.stiffness, axis.motor_speed, axis.lower) == (0.1, 7, -1, -2)
    assert world.time_step == 5e-4 and world.settings["time_step"] == 5e-4 and world.friction == "convex"
    told = cairn._c.sentences()
    for thing, struct in ((rubber, "CnMaterialDef"), (spring, "CnForceDef"), (axis, "CnJointAxis"), (world, "CnWorldDef")):
        for name in (name for name, _ in cairn.ffi.typeof(struct).fields if hasattr(type(thing), name) and name != "force"):
            getattr(thing, name)
            doc = getattr(type(thing), name).__doc__
            assert doc and (told.get(f"{struct}.{name}", doc) == doc or name in ("name", "kind")), name
    for wrong in (lambda: setattr(rubber, "friction", -1), lambda: setattr(axis, "motor_effort", "much"),
                  lambda: setattr(world, "time_step", 0), lambda: setattr(spring, "stiffness", float("nan")),
                  lambda: setattr(world, "integrator", "leapfrog"), lambda: setattr(axis, "drive", "steam")):
        with pytest.raises(cairn.Error):
            wrong()
    hinge.destroy()
    with pytest.raises(cairn.Error):
        axis.motor_speed


def test_the_interpreter_goes_on():
    """During one long call in a thread the main thread goes on: the lock is released."""
    world = cairn.load("pyramid", rows=12)
    turns, done = 0, threading.Event()
    thread = threading.Thread(target=lambda: (world.step(20), done.set()))
    thread.start()
    while not done.is_set():
        turns += 1
    thread.join()
    assert turns > 100


def test_shapes_as_objects():
    world = cairn.World(time_step=1e-2)
    ice = world.material(friction=0, name="ice")
    floor = world.floor()
    block = world.body(cairn.box(1, 1, 1), position=(0, 0, 0.5), velocity=(1, 0, 0))
    shape = block.shapes[0]
    assert shape.kind == "box" and shape.body == block and shape.material is None and len(world.shapes) == 2
    assert shape.size["outradius"] == pytest.approx(math.sqrt(0.75)) and shape.fields["half_size"][0] == 0.5
    shape.name, shape.user_data, block.user_data = "block", 7, 9
    assert world.find("block") == shape and shape.user_data == 7 and block.info["user_data"] == 9
    shape.material = floor.shapes[0].material = ice
    assert shape.material == ice and world.materials == [ice]
    world.step(50)
    assert block.velocity[0] == pytest.approx(1)
    shape.filter(2, 0)
    world.step(20)
    assert block.position[2] < 0.4
    more = block.add(cairn.sphere(0.1, position=(0, 0, 1)))
    assert len(block.shapes) == 2
    more.destroy()
    assert block.shapes == [shape]
    seen = []
    filtered = cairn.World(filter=lambda w, a, b: seen.append((a, b)) or False)
    filtered.floor()
    ball = filtered.body(cairn.sphere(0.1), position=(0, 0, 0.1))
    filtered.step()
    assert ball.shapes[0] in seen[0]
    for wrong in (lambda: more.kind, lambda: shape.filter(-1), lambda: setattr(shape, "material", 3), lambda: setattr(shape, "name", 3),
                  lambda: setattr(shape, "material", cairn.World().material()), lambda: setattr(shape, "user_data", -1),
                  lambda: block.set_mass(-1), lambda: setattr(block, "kind", "liquid"), lambda: block.hit("up")):
        with pytest.raises(cairn.Error):
            wrong()


def test_nothing_is_dropped_in_silence():
    world = cairn.World()
    for wrong, sentence in ((lambda: world.body(inertia=(1, 1, 1)), "inertia without a mass"),
                            (lambda: world.body(mass=1, inertia=(1, 1, 1), name="n" * 48), "at most 47 bytes"),
                            (lambda: world.material(name="\u00e4" * 24), "at most 47 bytes"),
                            (lambda: world.body(mass=1, inertia=(1, 1, 1), name="a\0b"), "no zero"),
                            (lambda: world.body(cairn.mesh(np.eye(3), [(0, 1, 2**32 + 2)]), kind="fixed"), "2\\^31"),
                            (lambda: world.body(cairn.mesh(np.eye(3), [(0, 1, 1.5)]), kind="fixed"), "whole numbers")):
        with pytest.raises(cairn.Error, match=sentence):
            wrong()
    assert len(world) == 0
    arm = world.body(cairn.box(1, 1, 1), name="arm")
    hinge = world.joint("revolute", None, arm)
    for owner, name, sentence in ((arm, "positon", "body: no attribute 'positon', did you mean 'position'"), (arm, "xyz", "no attribute 'xyz'"),
                                  (world, "gravty", "world: no attribute 'gravty', did you mean 'gravity'"),
                                  (hinge.axes[0], "motor_sped", "did you mean 'motor_speed'"), (world.material(), "frction", "'friction'")):
        with pytest.raises(cairn.Error, match=sentence):
            setattr(owner, name, 1)
    world.notebook = "mine"
    assert world.notebook == "mine"
    with pytest.raises(cairn.Error, match="joint: no 'hinge', did you mean 'revolute'"):
        world.joint("hinge", None, arm)
    with pytest.raises(cairn.Error, match="no field 'frcition', did you mean 'friction'"):
        world.material(frcition=1)
    arm.destroy()
    assert world.body(mass=1, inertia=(1, 1, 1), name="n" * 47).name == "n" * 47


def test_a_mass_alone_is_spread_as_the_shapes_spread_theirs():
    box = {"kind": "box", "size": [1, 2, 3], "position": [0.1, 0, 0]}
    world = cairn.Scene({"bodies": [{"name": "b", "mass": 2, "shapes": [box]}]}).world()
    other = cairn.World()
    made = [other.body(cairn.box(1, 2, 3, position=(0.1, 0, 0)), mass=2),
            other.many(cairn.box(1, 2, 3, position=(0.1, 0, 0), material=other.material()), [(5, 0, 0)], mass=2)[0],
            other.body(cairn.box(1, 2, 3, position=(0.1, 0, 0)))]
    made[2].set_mass(2)
    asked = world.find("b").info
    assert np.allclose(np.sort(asked["inertia"]), [2 / 12 * 5, 2 / 12 * 10, 2 / 12 * 13], rtol=1e-14)
    for body in made:
        assert body.mass == 2 and np.array_equal(body.info["inertia"], asked["inertia"])
        assert np.array_equal(body.info["com"]["position"], asked["com"]["position"])
    for wrong, sentence in ((lambda: other.body(mass=1), "no shape says it"),
                            (lambda: other.body(cairn.sphere(1, density=0), mass=1), "no shape says it"),
                            (lambda: other.body(cairn.sphere(1), mass=1, kind="fixed"), "for dynamic bodies"),
                            (lambda: other.body(cairn.sphere(1), mass=float("nan")), "finite"),
                            (lambda: other.body(cairn.sphere(1), mass=-1), "negative"),
                            (lambda: other.body(cairn.sphere(1), com=((0, 0, 1), (1, 0, 0, 0))), "a com needs"),
                            (lambda: other.body(cairn.sphere(1), mass=1, com=((0, 0, 1), (1, 0, 0, 0))), "a com needs"),
                            (lambda: made[0].set_mass(1, com=((0, 0, 1), (1, 0, 0, 0))), "a com needs"),
                            (lambda: made[0].set_mass(float("inf")), "mass|inertia")):
        with pytest.raises(cairn.Error, match=sentence):
            wrong()
    assert len(other) == 3 and made[0].mass == 2


def test_pairs_of_materials_and_of_bodies():
    world = cairn.World(time_step=1e-3)
    ice, steel = world.material(friction=0), world.material(friction=0.9)
    floor = world.body(cairn.plane(material=ice), kind="fixed")
    block = world.body(cairn.box(1, 1, 0.1, material=steel), position=(0, 0, 0.05), velocity=(2, 0, 0))
    world.pair(ice, steel, friction=0.3)
    world.step(200)
    assert block.velocity[0] == pytest.approx(2 - 0.3 * 9.81 * 0.2, abs=1e-9)
    world.pair(ice, steel)  # the rules again: the root of 0 times 0.9
    world.step(100)
    assert block.velocity[0] == pytest.approx(2 - 0.3 * 9.81 * 0.2, abs=1e-9)
    with pytest.raises(cairn.Error, match="no field 'frictoin'"):
        world.pair(ice, steel, frictoin=1)
    with pytest.raises(cairn.Error, match="must be a material"):
        world.pair(ice, floor, friction=1)
    world.disable(floor, block)
    world.step(10)
    assert block.velocity[2] == pytest.approx(-9.81 * 0.01)
    world.enable(floor, block)
    world.step(50)
    assert block.velocity[2] > -0.01  # it would fall with 0.6 m/s


def test_documented():
    for function, struct in ((cairn.World.__init__, "CnWorldDef"), (cairn.World.body, "CnBodyDef"),
                             (cairn.World.joint, "CnJointAxis"), (cairn.World.material, "CnMaterialDef")):
        told = cairn._c.sentences()
        for field, _ in cairn.ffi.typeof(struct).fields:
            if field not in ("size", "tag"):
                assert field in function.__doc__ and told.get(f"{struct}.{field}", "")[:30] in function.__doc__, field
    for name in cairn.__all__:
        thing = getattr(cairn, name)
        if inspect.isfunction(thing) or inspect.isclass(thing):
            assert thing.__doc__, name
        if inspect.isfunction(thing):
            assert "return" in thing.__annotations__, name
        for part, member in vars(thing).items() if inspect.isclass(thing) else ():
            member = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
            if inspect.isfunction(member) and not part.startswith("_"):
                assert member.__doc__ and "return" in member.__annotations__, f"{name}.{part}"
    assert "kg" in cairn.describe("CnBodyDef")
    assert all(hasattr(cairn.lib, name) for name in cairn._c.sentences() if name.startswith("cn_"))
