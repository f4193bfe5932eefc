"""Wrote doubles.txt and values.txt beside it, once: what Python says that JsonTest holds Java to.

doubles.txt: the bits of a double in hex, a space, its repr. values.txt: any spelling of a value, a tab, the canonical one.
Run again only to add; the committed lines stay.
"""
import json
import random
import struct
from pathlib import Path

random.seed(20261121)
HERE = Path(__file__).parent


def double(bits):
    return struct.unpack(">d", struct.pack(">Q", bits))[0]


def bits(number):
    return struct.unpack(">Q", struct.pack(">d", number))[0]


doubles = [0.0, -0.0, 1.0, -1.5, 0.1, 1e16, 9999999999999998.0, 1e15, 123456789012345680.0, 1e-5, 0.0001, 1e22, 1e23]
doubles += [5e-324, -5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 9007199254740993.0, 2 / 3, 1e100, 1e-100]
doubles += [2.0**e for e in range(-1074, 1024)]  # where the neighbours below are nearer than those above
doubles += [double(bits(2.0**e) + d) for e in range(-1000, 1000, 25) for d in (-1, 1)]
doubles += [10.0**e for e in range(-30, 31)]
doubles += [round(random.uniform(-1000, 1000), random.randint(0, 6)) for _ in range(500)]
doubles += [random.random() * 10 ** random.randint(-8, 20) for _ in range(1500)]
doubles += [d for d in (double(random.getrandbits(64)) for _ in range(2500)) if abs(d) < float("inf")]
(HERE / "doubles.txt").write_text("".join(f"{bits(d):016x} {json.dumps(d)}\n" for d in doubles))

CHARS = list("abzAZ09 /\\\"'<>&") + ["\n", "\r", "\t", "\b", "\f", "\0", "\x1f", "\x7f", "\x80", "é", "ß", "\u2028"]
CHARS += ["\u20ac", "漢", "\ud7ff", "\ue000", "\uffff", "\U00010000", "😀", "\U0010ffff"]


def text():
    return "".join(random.choice(CHARS) for _ in range(random.randint(0, 6)))


def value(depth):
    kind = random.randint(0, 9 if depth < 5 else 6)
    if kind == 0:
        return random.choice([None, True, False])
    if kind == 1:
        return random.randint(-100, 100)
    if kind == 2:
        return random.randint(-(10 ** random.randint(1, 60)), 10 ** random.randint(1, 60))
    if kind == 3:
        return random.choice(doubles)
    if kind <= 6:
        return text()
    if kind == 7:
        return [value(depth + 1) for _ in range(random.randint(0, 4))]
    return {text(): value(depth + 1) for _ in range(random.randint(0, 6))}


values = [{}, [], "", {"": {}}, [[[]]], {"a": [], "b": {}}, 2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 10**300]
values += [{"b": 1, "a": 2, "B": 3, "é": 4, "\ue000": 5, "😀": 6, "\uffff": 7, "": 8, "aa": 9}, {"1": 0, "10": 0, "9": 0}]
values += [value(0) for _ in range(1500)]
lines = []
for any_value in values:
    lines.append(json.dumps(any_value) + "\t" + json.dumps(any_value, sort_keys=True) + "\n")
(HERE / "values.txt").write_text("".join(lines))
