"""What this machine has of what kernels need, and the one command that brings what is missing."""

from __future__ import annotations

import numpy as np

from pycu2c.runtime import driver
from pycu2c.runtime.cores import thread_count
from pycu2c.toolchain import compilers, nvrtc, room
from pycu2c.toolchain.binary import ToolchainError


def report() -> tuple[list[str], bool]:
    """Lines to print, and whether kernels can run here at all."""
    compiler, has_compiler = _compiler()
    cuda, has_cuda = _cuda()
    lines = [f"numpy     {np.__version__}", *compiler, *_nvrtc(), *cuda, _cache()]
    usable = has_compiler or has_cuda
    lines.append("ready" if usable else "not ready: kernels run on backend='python' only")
    return lines, usable


def _compiler() -> tuple[list[str], bool]:
    try:
        found = compilers.find_compiler()
    except ToolchainError as error:
        return [f"compiler  missing: {error}"], False
    return [f"compiler  {found}", f"threads   {thread_count()}"], True


def _nvrtc() -> list[str]:
    try:
        major, minor = nvrtc.version()
        archs = nvrtc.supported_archs()
    except ToolchainError as error:
        return [f"NVRTC     missing: {error}"]
    return [f"NVRTC     {major}.{minor}, {archs[0]} to {archs[-1]}"]


def _cuda() -> tuple[list[str], bool]:
    if not driver.available():
        return [f"GPU       none: {driver.why_not()}"], False
    return [f"GPU       {driver.device().name}, {driver.arch()}"], True


def _cache() -> str:
    found = room.info()
    if found.problem:
        return f"cache     not used: {found.problem}"
    return f"cache     {found.directory}: {found.entries} entries, {found.size / 2**20:.1f} MB"
