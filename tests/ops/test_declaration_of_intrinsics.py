"""Modules that declare intrinsics: each name once, however often an import is interrupted."""

from __future__ import annotations

import subprocess
import sys

import pytest

ONCE = """
from pycu2c.ops.intrinsics import registry

def declare_once(registered, name, intrinsic):
    assert name not in registered, f"{name} is declared twice"
    dict.__setitem__(registered, name, intrinsic)

registry._Registry.__setitem__ = declare_once
registry.import_all()
print(len(registry.REGISTRY))
"""

INTERRUPTED = """
import sys
from pycu2c.ops.intrinsics import registry

DECLARE = registry.intrinsic("").__code__
calls = interrupts = 0

def interrupt(frame, event, _):
    global calls
    if event == "return" and frame.f_code is DECLARE:
        calls += 1
        if calls in (1, 5, 25, 125, 625):
            raise KeyboardInterrupt

while True:
    sys.setprofile(interrupt)
    try:
        registry.import_all()
        break
    except KeyboardInterrupt:
        interrupts += 1
assert interrupts == 5, calls
print(len(registry.REGISTRY))
"""


@pytest.mark.parametrize("program", [ONCE, INTERRUPTED], ids=["once", "interrupted"])
def test_each_intrinsic_is_declared(program: str) -> None:
    from pycu2c.ops.intrinsics.all import REGISTRY

    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ran.stdout == f"{len(REGISTRY)}\n", ran.stderr
