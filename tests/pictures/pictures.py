# SPDX-License-Identifier: Apache-2.0
"""What the tests of pictures share: the command, and the pixels of a PNG."""
import os
import struct
import subprocess
import sys
import zlib

COMMAND = os.path.abspath(sys.argv[1])


def cairn(*words, cwd):
    done = subprocess.run([COMMAND, *words], cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, f"cairn {' '.join(words)}: {done.returncode}: {done.stderr}"
    return done.stdout


def fails(status, message, *words, cwd, env=None):
    done = subprocess.run([COMMAND, *words], cwd=cwd, capture_output=True, text=True, env=env)
    assert done.returncode == status and message in done.stderr, f"cairn {' '.join(words)}: {done.returncode}: {done.stderr}"
    assert done.stderr.count("\n") == 1, done.stderr


def paeth(a, b, c):
    p = a + b - c
    pa, pb, pc = abs(p - a), abs(p - b), abs(p - c)
    return a if pa <= pb and pa <= pc else b if pb <= pc else c


def png_pixels(path):
    """Width, height, rows of (red, green, blue); every sum of the file is checked."""
    with open(path, "rb") as file:
        data = file.read()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", path
    at, packed, head = 8, b"", None
    while at < len(data):
        size, = struct.unpack(">I", data[at:at + 4])
        name, body = data[at + 4:at + 8], data[at + 8:at + 8 + size]
        crc, = struct.unpack(">I", data[at + 8 + size:at + 12 + size])
        assert crc == zlib.crc32(name + body), name
        if name == b"IHDR":
            head = struct.unpack(">IIBBBBB", body)
        if name == b"IDAT":
            packed += body
        at += 12 + size
    width, height, depth, kind = head[:4]
    assert depth == 8 and kind in (2, 6), head
    each = 3 if kind == 2 else 4
    raw = zlib.decompress(packed)
    assert len(raw) == height * (each * width + 1)
    rows, above = [], bytes(each * width)
    for y in range(height):
        start = y * (each * width + 1)
        how, line = raw[start], bytearray(raw[start + 1:start + 1 + each * width])
        for i in range(len(line)):
            a = line[i - each] if i >= each else 0
            c = above[i - each] if i >= each else 0
            line[i] = (line[i] + (0, a, above[i], (a + above[i]) // 2, paeth(a, above[i], c))[how]) & 255
        rows.append([tuple(line[each * x:each * x + 3]) for x in range(width)])
        above = bytes(line)
    return width, height, rows
