# SPDX-License-Identifier: Apache-2.0
"""Sweeps from Python: columns by closed form, cases, failed runs, resumed tables."""
import os
import runpy
import shutil

import numpy as np
import pytest

import cairn

pytestmark = pytest.mark.skipif(not os.environ.get("CAIRN_COMMAND"), reason="CAIRN_COMMAND is not set")


def test_a_grid_in_closed_form(tmp_path):
    """A box on a slope: v = g (tan - mu) cos t, or it stays."""
    path = tmp_path / "table.csv"
    grid = {"mu": np.arange(1, 4) / 10, "tan": [0.2, 0.4]}
    table = cairn.sweep("slope", grid, sensors=["speed"], jobs=2, out=path, time=1.0)
    speed = 9.81 * np.maximum(0, table["tan"] - table["mu"]) / np.sqrt(1 + table["tan"]**2)
    assert len(table) == 6 and table["speed.last"] == pytest.approx(speed, abs=1e-6)
    assert table[0]["verdict"] == "trusted" and not table.failed
    world = cairn.load("slope", mu=0.2, tan=0.4)
    world.step(100)
    assert table[3]["hash"] == world.hash
    before = path.read_bytes()
    cairn.sweep("slope", grid, sensors=["speed"], out=path, time=1.0)
    assert path.read_bytes() == before
    pandas = pytest.importorskip("pandas")
    assert isinstance(table.to_pandas(), pandas.DataFrame)


def test_cases_and_failures():
    scene = {"parameters": {"m": 1, "v": 0}, "settings": {"time": 0.1, "time_step": 0.01, "gravity": [0, 0, 0]},
             "bodies": [{"name": "b", "mass": "=m", "inertia": [1, 1, 1], "velocity": ["=v", 0, 0]}],
             "sensors": [{"name": "x", "kind": "position", "body": "b", "axis": "x"}]}
    table = cairn.sweep(scene, cases=[{"m": 1, "v": 2}, {"m": -1, "v": 3}, {"m": 2, "v": 4}])
    assert [row["case"] for row in table.failed] == [2] and "mass" in table.failed[0]["error"]
    assert table["x.last"][[0, 2]] == pytest.approx([0.2, 0.4])
    for wrong in (lambda: cairn.sweep(scene, {"nothing": [1]}), lambda: cairn.sweep(scene, {"m": ["a"]}),
                  lambda: cairn.sweep(3), lambda: cairn.sweep("nowhere.json"), lambda: cairn.sweep(scene, {"m": []}),
                  lambda: cairn.sweep(scene, cases=[{"m": 1}, {"v": 1}]), lambda: table["y"],
                  lambda: cairn.sweep(scene, cases=[]), lambda: cairn.sweep(scene, speed=3)):
        with pytest.raises(cairn.Error):
            wrong()


def test_warnings_and_odd_names(tmp_path):
    """A robot whose mesh is not there is told of, and runs; names that the table has already are refused."""
    robot = tmp_path / "robot.urdf"
    robot.write_text("""<robot name='r'><link name='a'><collision><geometry><mesh filename='no.stl'/></geometry></collision>
        </link><link name='b'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial>
        </link><joint name='j,k' type='continuous'><parent link='a'/><child link='b'/></joint></robot>""")
    for table in (cairn.sweep(robot, {"j,k": [1, 2]}, steps=3), cairn.sweep(robot, cases=[{"j,k": 1}, {"j,k": 2}], steps=3)):
        assert table["j,k.last"] == pytest.approx([1, 2]) and not table.failed and list(table["j,k"]) == [1, 2]
    scene = {"parameters": {"status": 1}, "settings": {"time": 0.01},
             "bodies": [{"mass": "=status", "inertia": [1, 1, 1]}]}
    with pytest.raises(cairn.Error, match="a column status of its own"):
        cairn.sweep(scene, {"status": [1]})


def test_the_command_of_a_build_folder(tmp_path, monkeypatch):
    """BUILD/cairn is found from BUILD/python/cairn, without a variable and without an installation."""
    package = tmp_path / "python" / "cairn"
    package.mkdir(parents=True)
    shutil.copy(os.path.join(os.path.dirname(cairn.__file__), "_command.py"), package)
    monkeypatch.delenv("CAIRN_COMMAND")
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    find = runpy.run_path(str(package / "_command.py"))["find"]
    assert find() is None
    (tmp_path / "cairn").touch(0o755)
    assert find() == str(tmp_path / "cairn")
