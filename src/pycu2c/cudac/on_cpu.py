"""CUDA C text -> C++ -> a library that runs it on the cores of this machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pycu2c.cudac.compiled import Code
from pycu2c.cudac.options import Options
from pycu2c.cudac.texts import Text
from pycu2c.diagnostics import LaunchError


class Generated(NamedTuple):
    """The C++ of a text."""

    text: str


def generated(text: Text, options: Options, expressions: Sequence[str]) -> Generated:
    raise LaunchError("CUDA C does not run on the CPU yet")


def compiled(text: Text, options: Options, expressions: Sequence[str]) -> Code:
    raise LaunchError("CUDA C does not run on the CPU yet")
