# SPDX-License-Identifier: Apache-2.0
"""Builds cairn._core from the public headers: the C interface is written once, in include/cairn.

The preprocessor's output of the headers is what cffi reads; the C compiler checks every layout. With
CAIRN_SOURCE and CAIRN_BUILD the sources and a build tree elsewhere are used, with CAIRN_LIBRARIES the
libraries named.
"""
import json
import os
import re
import subprocess

from cffi import FFI

here = os.path.dirname(os.path.abspath(__file__))
root = os.path.abspath(os.environ.get("CAIRN_SOURCE", os.path.join(here, "..")))
build = os.path.abspath(os.environ.get("CAIRN_BUILD", os.path.join(root, "build")))
libraries = (os.environ.get("CAIRN_LIBRARIES", "").split()
             or [os.path.join(build, "libcairn-io.a"), os.path.join(build, "libcairn.a")])
include = os.path.join(root, "include")

# all of them, the whole library first
names = ["cairn"] + sorted(name[:-2] for name in os.listdir(os.path.join(include, "cairn"))
                           if name.endswith(".h") and not name.endswith("_list.h") and name != "cairn.h")
headers = "".join("#include <cairn/%s.h>\n" % name for name in names)

# What C calls in Python: the user functions of a world, and of forces.
hooks = """
extern "Python" {
  void cairn_before_step(void *, CnWorld *, double, double);
  int32_t cairn_filter(void *, const CnWorld *, CnShapeId, CnShapeId);
  void cairn_modify(void *, const CnWorld *, CnContactTuning *);
  CnStatus cairn_force(void *, const CnWorld *, double, const CnStageBody *, int32_t, CnTwist *);
}
"""


def declarations():
    """The headers as plain declarations, without what the C library's own headers bring."""
    out = subprocess.run(["cc", "-E", "-P", "-I", include, "-D__attribute__(x)=", "-"], input=headers,
                         text=True, capture_output=True, check=True).stdout
    out = out.replace("__extension__", "")
    start = out.index("const char *cn_version(void);")
    return out[start:]


def sentences():
    """What the headers say of functions and of fields of structs, for help and docstrings."""
    told = {}
    folder = os.path.join(include, "cairn")
    for name in sorted(os.listdir(folder)):
        text = open(os.path.join(folder, name), encoding="utf-8").read()
        pattern = r"((?:^///.*\n)+)^CN_API [^;(]*?(cn_\w+)\("
        for comment, function in re.findall(pattern, text, flags=re.M):
            told[function] = " ".join(line.lstrip("/ ") for line in comment.strip().split("\n"))
        for body, struct in re.findall(r"^typedef struct \w+ \{\n(.*?)^\} (\w+);", text, flags=re.M | re.S):
            flat = re.sub(r"\n\s*///< ", " ", body)
            for fields, comment in re.findall(r"^\s+[\w ]+?[ *](\w[\w, \[\]]*);\s*///< (.*)$", flat, flags=re.M):
                for field in fields.split(","):
                    told[struct + "." + re.sub(r"\[.*", "", field).strip()] = comment
    return told


def command(*words):
    done = subprocess.run(words, text=True, capture_output=True)
    return done.stdout.split() if done.returncode == 0 else []


ffi = FFI()
ffi.cdef(declarations() + hooks)
ffi.set_source(
    "cairn._core", headers, include_dirs=[include],
    extra_compile_args=["-O1"],
    extra_objects=libraries,
    extra_link_args=(command("pkg-config", "--libs", "hdf5-serial", "jansson")
                     or command("pkg-config", "--libs", "hdf5", "jansson"))
    + (["-lexpat", "-lpng", "-lz"] if os.path.exists(os.path.join(root, "src/io/robots")) else [])
    + os.environ.get("CAIRN_LINK", "").split() + ["-lm", "-lpthread"],
    py_limited_api=True)


def write_sentences(folder):
    with open(os.path.join(folder, "cairn", "_sentences.json"), "w", encoding="utf-8") as file:
        json.dump(sentences(), file, indent=0, sort_keys=True)


if __name__ == "__main__":
    out = os.environ.get("CAIRN_PYTHON_OUT", here)
    os.makedirs(os.path.join(out, "cairn"), exist_ok=True)
    ffi.compile(tmpdir=out)
    write_sentences(out)
