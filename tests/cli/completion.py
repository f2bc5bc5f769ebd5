#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What bash, zsh and fish complete: every command, every option that its help tells, the values that tables name, scenes
and files. bash is asked in earnest; zsh and fish too where they are installed, else their files are read.

usage: completion.py CAIRN
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

CAIRN = os.path.abspath(sys.argv[1])


def tell(*words, **more):
    return subprocess.run(words, check=True, capture_output=True, text=True, **more).stdout


def commands():
    return re.findall(r"^  (\w+) ", tell(CAIRN, "help"), flags=re.M)


def options(command):
    """As the help has them."""
    return re.findall(r"^  (?:-\w, )?(--[\w-]+)", tell(CAIRN, command, "--help"), flags=re.M)


def names(command, key):
    return [row["name"] for row in json.loads(tell(CAIRN, command, "--json"))[key]]


BASH = """source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); compopt() { :; }
_cairn; printf '%s\\n' "${COMPREPLY[@]}" """


def ask_bash(script, folder):
    def ask(*words):
        return tell("bash", "-c", BASH, "bash", script, "cairn", *words, cwd=folder).split()
    return ask


def ask_fish(script, folder):
    def ask(*words):
        line = " ".join(("cairn", *words))
        out = tell("fish", "--no-config", "-c", f"source {script}; complete -C '{line}'", cwd=folder)
        return [row.split("\t")[0] for row in out.splitlines()]
    return ask


def check(ask):
    for command in commands():
        assert command in ask(""), command
        assert command in ask(command[:2]), command
        found = set(ask(command, "--"))
        wanted = set(options(command))
        assert wanted <= found, (command, wanted - found)
        assert all(o in wanted for o in found if o.startswith("--")), (command, found - wanted)
    assert set(ask("run", "--integrator", "")) == set(names("integrators", "integrators"))
    assert set(ask("solve", "--solver", "")) >= set(names("solvers", "solvers"))
    assert set(ask("run", "--effort", "")) == {"quick", "normal", "exact"}
    assert ask("run", "--friction", "con") == ["convex"]
    assert {"csv", "xdmf", "gltf", "vtk"} <= set(ask("export", "--to", ""))
    assert ask("run", "gran") == ["granular"], ask("run", "gran")
    assert set(ask("run", "")) >= set(names("scenes", "scenes")) | {"pile.json"}
    assert ask("report", "ru") == ["run.h5"] and ask("run", "--out", "ru") == ["run.h5"]
    assert ask("completion", "b") == ["bash"] and ask("help", "rep") == ["report"]
    assert ask("run", "--time", "") == []


def read(path, form):
    """Without the shell: all options are in its file."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for command in commands():
        for option in options(command):
            assert form.format(option.lstrip("-")) in text, (path, command, option)


def main():
    with tempfile.TemporaryDirectory() as folder:
        for name in ("run.h5", "pile.json"):
            open(os.path.join(folder, name), "w", encoding="utf-8").close()
        scripts = {}
        for shell in ("bash", "zsh", "fish"):
            scripts[shell] = os.path.join(folder, "." + shell)
            tell(CAIRN, "completion", shell, scripts[shell])
            assert open(scripts[shell], encoding="utf-8").read() == tell(CAIRN, "completion", shell)
        check(ask_bash(scripts["bash"], folder))
        read(scripts["zsh"], "--{}")
        read(scripts["fish"], "-l {} ")
        if shutil.which("fish"):
            check(ask_fish(scripts["fish"], folder))
        if shutil.which("zsh"):
            tell("zsh", "-n", scripts["zsh"])
        wrong = subprocess.run([CAIRN, "completion", "tcsh"], capture_output=True, text=True, check=False)
        assert wrong.returncode == 2 and "bash, zsh, fish" in wrong.stderr, wrong


main()
