# SPDX-License-Identifier: Apache-2.0
"""Scenes, runs, problems."""
import json
import threading

import numpy as np
import pytest

import cairn


def test_scene_from_a_dict():
    scene = cairn.Scene({"parameters": {"height": 2},
                         "bodies": [{"name": "floor", "kind": "fixed", "shapes": [{"kind": "plane"}]},
                                    {"name": "ball", "position": [0, 0, "=height"],
                                     "shapes": [{"kind": "sphere", "radius": 0.1}]}]}, height=3)
    assert scene.parameters == {"height": 3}
    world = scene.world(time_step=2e-3)
    assert world.find("ball").position[2] == 3 and world.settings["time_step"] == 2e-3
    with pytest.raises(cairn.Error, match="/bodies/0/mass"):
        cairn.Scene({"bodies": [{"mass": -1}]})
    with pytest.raises(cairn.Error, match="no-such-scene"):
        cairn.Scene("no-such-scene")
    with pytest.raises(cairn.Error, match="nothing"):
        cairn.Scene("chain", nothing=1)
    assert "chain" in cairn.scenes()


def test_sources():
    ball = {"mass": 1, "velocity": [2, 0, 0], "shapes": [{"kind": "sphere", "radius": 0.02}]}
    scene = cairn.Scene({"settings": {"gravity": [0, 0, 0]},
                         "sources": [{"name": "feed", "rate": 10, "region": {"min": [0, -1, 0], "max": [0, 1, 0]},
                                      "bodies": [{"repeat": 20, "items": [ball]}]}],
                         "sensors": [{"name": "out", "kind": "source_count", "source": "feed"},
                                     {"name": "flow", "kind": "flow_mass", "point": [0.5, 0, 0], "normal": [1, 0, 0]}]})
    old, world = scene.world(), scene.world()
    world.step(1001)
    assert scene.sources(world) == [{"name": "feed", "made": 11, "due": 11, "waiting": 9}]
    assert scene.measure(world) == {"out": 11, "flow": 8}  # those of 0 to 0.7 s are through
    old.step()


def test_record_and_read(tmp_path, monkeypatch):
    path = tmp_path / "run.h5"
    world = cairn.load("chain")
    with world.record(path, fps=100, joints=True):
        world.step(100)
    run = cairn.Run(path)
    assert len(run) == run.positions.shape[0] == len(run.times) and run.info["complete"] == 1
    assert np.array_equal(run.positions[-1], world.positions)
    assert len(run["kinetic_energy"]) == 100 and "trusted" in run.verdict and "tension" in run.series
    assert len(run.joint_states(0)) == len(world.joints)
    page = run.page(tmp_path / "run.html")
    assert "<html" in open(page, encoding="utf-8").read(2000).lower()
    assert run._repr_html_().startswith("<iframe")
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    assert opened == [f"file://{run.show()}"]
    bytes_before = path.read_bytes()
    (tmp_path / "link.h5").symlink_to(path)
    for wrong in (lambda: run.page(path), lambda: run.page(tmp_path / "link.h5"), lambda: run.export("gltf", path)):
        with pytest.raises(cairn.Error, match="one of the files that are read"):
            wrong()
    assert path.read_bytes() == bytes_before
    run.export("csv", tmp_path / "run.csv")
    assert (tmp_path / "run.csv").exists()
    run.export("csv", tmp_path / "run.csv")
    run.page(tmp_path / "run.html")
    mine = tmp_path / "mine.html"
    mine.write_text("<html>mine</html>")
    for write in (lambda **more: run.page(mine, **more), lambda **more: run.export("gltf", mine, **more),
                  lambda **more: world.scene.page(mine, **more)):
        mine.write_text("<html>mine</html>")
        with pytest.raises(cairn.Error, match="replace=True"):
            write()
        assert mine.read_text() == "<html>mine</html>"
        write(replace=True)
    with pytest.raises(cairn.Error, match="already"):
        world.record(path)
    with pytest.raises(cairn.Error):
        run["no such series"]
    for wrong in (10**6, 2**70, "1", None, 1.5, np.zeros(2)):
        for ask in (run.frame, run.contacts, run.joint_states):
            with pytest.raises(cairn.Error):
                ask(wrong)
    with pytest.raises(cairn.Error):
        cairn.Run(tmp_path / "none.h5")
    with pytest.raises(cairn.Error):
        run.export("avi")
    pandas = pytest.importorskip("pandas")
    assert isinstance(run.to_pandas(), pandas.DataFrame)


def test_a_run_that_was_broken_off(tmp_path):
    world = cairn.load("chain")
    with pytest.raises(RuntimeError, match="stop"):
        with world.record(tmp_path / "run.h5"):
            world.step(30)
            raise RuntimeError("stop")
    assert cairn.Run(tmp_path / "run.h5").info["complete"] == 0


def test_a_recorded_world_keeps_its_bodies(tmp_path):
    world = cairn.load("chain")
    with pytest.raises(cairn.Error, match="the run began with"):
        with world.record(tmp_path / "run.h5", fps=0):
            world.step(3)
            world.body(cairn.sphere(0.1), position=(50, 0, 0))
            world.step(3)
    assert len(cairn.Run(tmp_path / "run.h5")["kinetic_energy"]) == 3
    world2 = cairn.load("chain")
    ball = world2.body(cairn.sphere(0.1), position=(50, 0, 0))
    with pytest.raises(cairn.Error, match="shapes and .* the run began with"):
        with world2.record(tmp_path / "shape.h5", fps=0):
            world2.step(3)
            ball.add(cairn.sphere(0.2))
            world2.step(3)
    recorder = world.record(tmp_path / "whole.h5", fps=0)
    start = world.save()
    world.step(4)
    world.restore(start)
    with pytest.raises(cairn.Error, match="was to be recorded"):
        world.step()
    run = recorder.close()
    assert run.info["complete"] == 1 and run.info["step_count"] == 4 and run.verdict == ""


def sliding(mu):
    """A unit mass on the ground, pushed down by 1 and sideways by 1: W = 1, q = (-1, 1, 0)."""
    return cairn.solve(np.eye(3), [-1.0, 1.0, 0.0], mu=mu, tolerance=1e-10)


def test_solve_in_closed_form():
    stuck, slipping = sliding(2), sliding(0.25)
    assert stuck.g == pytest.approx([1, -1, 0]) and stuck.converged
    assert slipping.g == pytest.approx([1, -0.25, 0]) and slipping.u == pytest.approx([0, 0.75, 0])
    assert slipping.certificate["residual"] < 1e-10
    by_place = cairn.solve(np.eye(3), [-1.0, 1.0, 0.0], 0.25)
    assert by_place.g == pytest.approx([1, -0.25, 0]) and by_place.converged
    system = cairn.solve(np.eye(3), np.eye(3), [-1.0, 1.0, 0.0], np.zeros(3), 0.25)
    assert system.g == pytest.approx([1, -0.25, 0]) and system.certificate["residual"] < 1e-7


def test_solve_of_a_system():
    sparse = pytest.importorskip("scipy.sparse")
    rng = np.random.default_rng(3)
    H = sparse.random(12, 10, 0.5, random_state=3, format="csr")
    M, k, b = sparse.diags(rng.uniform(1, 2, 10)), rng.normal(size=10), rng.normal(size=12)
    whole = cairn.solve(M, H, k, b, mu=0.4)
    W = (H @ sparse.diags(1 / M.diagonal()) @ H.T).toarray()
    local = cairn.solve(W, H @ (k / M.diagonal()) + b, mu=[0.4] * 4)
    assert whole.converged and local.converged
    assert whole.u == pytest.approx(local.u, abs=1e-6)
    assert M @ whole.v == pytest.approx(k + H.T @ whole.g, abs=1e-8)


def test_lcp_and_bilateral():
    lcp = cairn.solve(np.array([[2.0, 1], [1, 2]]), [-5.0, -6.0], kinds=["unilateral"] * 2)
    assert lcp.g == pytest.approx([4 / 3, 7 / 3])
    joints = cairn.solve(np.eye(2), [1.0, 2.0], kinds=["bilateral"] * 2)
    assert joints.g == pytest.approx([-1, -2])
    bounded = cairn.solve(np.eye(1), [-3.0], kinds=["interval"], lo=-1, hi=1)
    assert bounded.g == pytest.approx([1])


def test_problem_files(tmp_path):
    problem = cairn.Problem.explicit(np.eye(3), [-1.0, 1.0, 0.0], mu=0.25)
    problem.write(tmp_path / "p.json")
    with pytest.raises(cairn.Error, match="already"):
        problem.write(tmp_path / "p.json")
    problem.write(tmp_path / "p.json", replace=True)
    assert cairn.Problem.read(tmp_path / "p.json").solve().g == pytest.approx([1, -0.25, 0])
    assert problem.solve(start=[1, -0.25, 0]).iterations <= problem.solve().iterations


def test_wrong_problems():
    for wrong in (lambda: cairn.solve(np.eye(3), [1.0, 2]), lambda: cairn.solve(np.eye(4), [1.0] * 4, mu=[1, 2, 3]),
                  lambda: cairn.solve(np.eye(3)), lambda: cairn.solve("abc", [1, 2, 3]),
                  lambda: cairn.solve(np.eye(3), [-1.0, 1, 0], solver="gauss"),
                  lambda: cairn.solve(np.eye(3), [-1.0, 1, 0], mu=-1),
                  lambda: cairn.solve(np.eye(3), [np.nan, 1, 0]),
                  lambda: cairn.solve(np.eye(3), [-1.0, 1, 0], kinds=["cone"]),
                  lambda: cairn.solve(np.eye(3), [-1.0, 1, 0], 1, mu=1), lambda: cairn.solve(np.eye(3), [-1.0, 1, 0], "a"),
                  lambda: cairn.solve(np.eye(3), [-1.0, 1, 0], 1, solver=3),
                  lambda: cairn.solve(np.eye(3), ["-1", "1", "0"]), lambda: cairn.solve(np.eye(3).astype(str), [-1.0, 1, 0]),
                  lambda: cairn.solve(np.eye(3) * 1j, [-1.0, 1, 0]), lambda: cairn.solve(np.eye(3), [-1.0, 1, 0], "0.5"),
                  lambda: cairn.solve(np.eye(3), [-1.0, 1j, 0]), lambda: cairn.solve([[1, 0], [0, "1"]], [1.0, 1], mu=1),
                  lambda: cairn.Problem.read("nowhere.dat")):
        with pytest.raises(cairn.Error):
            wrong()


def test_recorder_of_the_world(tmp_path):
    """A recording that nobody keeps is the world's; closing the world completes it."""
    world = cairn.load("bouncing-ball")
    world.record(tmp_path / "a.h5")
    with pytest.raises(cairn.Error, match="world.recorder.close"):
        world.record(tmp_path / "b.h5")
    world.step(20)
    assert len(world.recorder.close()["time"]) == 20 and world.recorder is None
    world.record(tmp_path / "c.h5")
    world.step(30)
    world.close()
    assert len(cairn.Run(tmp_path / "c.h5")["time"]) == 30


def test_threads_read_in_turn(tmp_path):
    """Two threads that read one run get the frames they ask for."""
    world = cairn.load("pyramid")
    with world.record(tmp_path / "a.h5", fps=0):
        world.step(20)
    run = cairn.Run(tmp_path / "a.h5")
    right, wrong = run.positions, []

    def read():
        for _ in range(30):
            if not (run.positions == right).all():
                wrong.append(1)

    threads = [threading.Thread(target=read) for _ in range(2)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not wrong
