# SPDX-License-Identifier: Apache-2.0
"""Many worlds by one call."""
import threading

import numpy as np
import pytest

import cairn


def arm():
    world = cairn.World(time_step=2e-3)
    link = world.body(cairn.capsule(0.05, 0.5), position=(0, 0, -0.3))
    hinge = world.joint("revolute", None, link, anchor=(0, 0, 0), axis=(0, 1, 0),
                        axes=[dict(drive="effort", motor_effort=0)])
    return world, hinge


def test_each_as_alone():
    world, hinge = arm()
    batch = cairn.Batch(world, 8, threads=2, controls=[(hinge, 0, "effort")])
    efforts = np.linspace(-2, 2, 8)[:, None]
    for _ in range(20):
        assert not batch.step(efforts, steps=5).any()
    angles, rates = batch.joints()
    for i in (0, 3, 7):
        alone, own = arm()
        own.set(motor_effort=efforts[i, 0])
        alone.step(100)
        assert own.coordinates[0] == angles[i, 0] and own.rates[0] == rates[i, 0]
        assert np.array_equal(alone.positions, batch.positions[i])
    batch.reset(np.arange(8) < 4)
    assert batch.joints()[0][0, 0] == 0 and batch.joints()[0][7, 0] == angles[7, 0]


def test_failed_worlds_and_misuse():
    world, hinge = arm()
    batch = cairn.Batch(world, 3, controls=[(hinge, 0, "effort")])
    assert batch.step(np.array([[0.0], [np.nan], [0.0]])).tolist() == [False, True, False]
    for wrong in (lambda: batch.step(np.zeros(3)), lambda: batch.reset([1]), lambda: batch.reset(snapshot=b"x"),
                  lambda: cairn.Batch(world, 0), lambda: cairn.Batch(world, 2, controls=[(hinge, 4, "speed")]),
                  lambda: cairn.Batch(world, 2, controls=[(hinge, 0, "volume")]), lambda: cairn.Batch(world, 2, controls=3),
                  lambda: cairn.Batch(world, 2, controls=[3]), lambda: cairn.Batch(world, 2, controls=[(hinge, "a", "speed")]),
                  lambda: cairn.Batch(world, 2, controls=[(hinge, 2**40, "speed")]), lambda: cairn.Batch(world, 2, controls=[(hinge, 0)]),
                  lambda: cairn.Batch(world, 2, controls=[(hinge, 0, [])]), lambda: cairn.Batch(world, 2, controls=hinge)):
        with pytest.raises(cairn.Error):
            wrong()


def test_threads():
    """A batch is stepped by one thread at a time; others are told, and the bits are those of one thread."""
    batch, alone, told = cairn.Batch(cairn.load("pyramid"), 4), cairn.Batch(cairn.load("pyramid"), 4), []

    def meddle():
        for _ in range(300):
            try:
                batch.state()
                batch.reset(mask=[False] * 4)
            except cairn.Error as error:
                told.append(error.status)

    other = threading.Thread(target=meddle)
    other.start()
    steps = 0
    while steps < 40:
        try:
            assert not batch.step().any()
            steps += 1
        except cairn.Error as error:
            told.append(error.status)
    other.join()
    alone.step(steps=40)
    assert (batch.positions == alone.positions).all()
    assert set(told) <= {"CN_BUSY"}


def test_deaf_motors_and_other_models():
    world, hinge = arm()
    for control in ((hinge, 0, "speed"), (hinge, 0, "position"), hinge):
        with pytest.raises(cairn.Error, match="no motor that keeps"):
            cairn.Batch(world, 2, controls=[control])
    batch = cairn.Batch(world, 2, controls=[(hinge, 0, "effort")])
    world.body(cairn.sphere(1), position=(9, 0, 0))
    with pytest.raises(cairn.Error, match="another model: 2 bodies"):
        batch.reset(snapshot=world.save())
    with pytest.raises(cairn.Error, match="bytes"):
        batch.reset(snapshot="text")
    with pytest.raises(cairn.Error, match="whole number"):
        batch.step(np.zeros((2, 1)), steps=-1)


def test_environment():
    world, hinge = arm()
    env = cairn.VectorEnv(cairn.Batch(world, 4, controls=[(hinge, 0, "effort")]),
                          reward=lambda b: -b.joints()[0][:, 0]**2, done=lambda b: np.abs(b.joints()[0][:, 0]) > 0.5,
                          limit=200)
    seen, _ = env.reset()
    assert seen.shape == (4, 2)
    ended = 0
    for _ in range(300):
        seen, reward, terminated, truncated, _ = env.step(np.array([[0.0], [0.0], [50.0], [-50.0]]))
        ended += terminated.sum()
    assert ended >= 2 and reward.shape == (4,)
    assert env.single_action_space.shape == (1,) and env.observation_space.shape == (4, 2)


def test_environment_wants_one_value_a_world():
    world, hinge = arm()
    batch = cairn.Batch(world, 2, controls=[(hinge, 0, "effort")])
    for given in (np.zeros(3), np.zeros((2, 1)), 0.0, ["a", "b"], None, [[1], [1, 2]]):
        with pytest.raises(cairn.Error, match="reward must give"):
            cairn.VectorEnv(batch, reward=lambda b: given).step(np.zeros((2, 1)))
    with pytest.raises(cairn.Error, match="done must give one value for each of 2 worlds"):
        cairn.VectorEnv(batch, reward=lambda b: [0, 1], done=lambda b: [True]).step(np.zeros((2, 1)))


def test_environment_with_gymnasium(monkeypatch):
    """Its spaces are used where it is installed; the start is random by the seed."""
    import sys
    import types

    class Space:
        def __init__(self, low, high, shape, dtype):
            self.low, self.high, self.shape, self.dtype = low, high, shape, dtype

    spaces = types.ModuleType("gymnasium.spaces")
    spaces.Box = Space
    monkeypatch.setitem(sys.modules, "gymnasium", types.ModuleType("gymnasium"))
    monkeypatch.setitem(sys.modules, "gymnasium.spaces", spaces)

    def start(batch, random, mask):
        poses, twists = batch.state()
        twists["spin"][:, :, 1] = random.normal(size=twists.shape)
        twists["velocity"][:, :, 0] = -0.3 * twists["spin"][:, :, 1]
        batch.set_state(poses, twists, mask)

    world, hinge = arm()
    env = cairn.VectorEnv(cairn.Batch(world, 3, controls=[(hinge, 0, "effort")]), reward=lambda b: np.zeros(3), bounds=(-1, 1),
                          start=start)
    assert isinstance(env.action_space, Space) and env.action_space.low == -1
    first, second, again = (env.reset(seed)[0] for seed in (1, 2, 1))
    assert np.array_equal(first, again) and not np.array_equal(first, second)
    for wrong in (lambda: env.batch.set_state(np.zeros(3)), lambda: env.batch.reset("abc")):
        with pytest.raises(cairn.Error):
            wrong()
