# SPDX-License-Identifier: Apache-2.0
"""What Python costs, and how batches use two cores; below two minutes on a quiet machine.

usage: make bench-python, or PYTHONPATH=build/python python3 python/bench/overhead.py [quick]

Each figure is the best of several, beside what is asked of it. Exit status 1 where one is missed; MuJoCo's rollout
of the same robot is printed for comparison where libmujoco is installed.
"""
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

import cairn

here = os.path.dirname(os.path.abspath(__file__))
model = os.path.join(here, "crawler.xml")
quick = sys.argv[1:] == ["quick"]
missed = 0


def told(what, value, unit, asked="", good=True):
    global missed
    good = good or quick
    missed += not good
    print(f"{what:58} {value:12.4g} {unit:8} {asked:16} {'' if good else 'MISSED'}", flush=True)


def best(function, repeats=5):
    times = []
    for _ in range(1 if quick else repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def step():
    """The same world stepped by Python one by one, and by a loop in C (a batch of one)."""
    count = 200 if quick else 20000
    world = cairn.World(time_step=1e-4)
    world.floor()
    world.body(cairn.sphere(0.1), position=(0, 0, 0.1))
    world.step(100)
    batch = cairn.Batch(world, 1, threads=1)

    def by_python():
        for _ in range(count):
            world.step()

    a, b = best(by_python), best(lambda: batch.step(steps=count))
    told("a ball on a floor, a step by a loop in C", 1e6 * b / count, "us")
    told("a step called from Python, above that", 1e6 * (a - b) / count, "us", "<= 5", (a - b) / count <= 5e-6)


def view():
    world = cairn.World()
    world.many(cairn.sphere(0.01), np.random.default_rng(1).random((1000 if quick else 100_000, 3)) * 100)
    seen = world.view().positions
    assert not seen.flags.owndata and not seen.flags.writeable
    count = 1000
    t = best(lambda: [world.view().positions for _ in range(count)])
    told(f"poses of {len(world)} bodies, no copy", 1e6 * t / count, "us", "< 10", t / count < 10e-6)
    t = best(lambda: world.state())
    told("the same copied, with twists", 1e6 * t, "us")


def robot():
    world = cairn.load(model)
    hips = [joint for joint in world.joints if joint.name.startswith("hip")]
    assert len(hips) == 4, [joint.name for joint in world.joints]
    for hip in hips:
        hip.set(drive="effort", motor_effort=0)
    return world, [(hip, 0, "effort") for hip in hips]


def batches():
    count, steps = (64, 5) if quick else (4096, 20)
    world, controls = robot()
    efforts = np.repeat((-1 + 2 * np.arange(count) / count)[:, None], 4, axis=1)
    rates = {}
    for threads in (1, 2):
        batch = cairn.Batch(world, count, threads=threads, controls=controls)
        batch.step(efforts, 5)  # memory of the steps
        batch.reset()
        times = []
        for _ in range(1 if quick else 3):
            batch.reset()
            start = time.perf_counter()
            failed = batch.step(efforts, steps)
            times.append(time.perf_counter() - start)
            assert not failed.any()
        rates[threads] = count * steps / min(times)
        told(f"{count} robots, {threads} threads: steps of one robot", rates[threads], "1/s")
        del batch
    share = rates[2] / (2 * rates[1])
    told("share of twice the rate of one thread", share, "", ">= .85", share >= 0.85)
    for threads in (1, 2):
        seconds = mujoco(count, steps, threads)
        if seconds:
            told(f"MuJoCo's rollout of the same, {threads} threads", count * steps / seconds, "1/s")


def mujoco(count, steps, threads):
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "rollout")
        made = subprocess.run(["cc", "-O2", os.path.join(here, "rollout_mujoco.c"), "-o", program, "-lmujoco", "-lpthread"],
                              capture_output=True)
        if made.returncode:
            print("MuJoCo's rollout: not built (libmujoco-dev)")
            return None
        words = [program, model, str(count), str(steps), str(threads)]
        return min(float(subprocess.run(words, text=True, capture_output=True, check=True).stdout)
                   for _ in range(1 if quick else 3))


if __name__ == "__main__":
    print(f"cairn {cairn.__version__}, Python {sys.version.split()[0]}, load {os.getloadavg()[0]:.2f}")
    step()
    view()
    batches()
    sys.exit(1 if missed else 0)
