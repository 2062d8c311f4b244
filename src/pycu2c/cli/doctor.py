"""Implement ``pycu2c doctor``: report the toolchain, the devices, and what is missing."""

from __future__ import annotations

import sys

import click
import numpy as np

from pycu2c.base.backends import default_backend
from pycu2c.cuda_driver import driver
from pycu2c.native import extension
from pycu2c.runtime.cpu.thread_count import thread_count
from pycu2c.toolchain.cache import eviction
from pycu2c.toolchain.cc import cxx, discovery
from pycu2c.toolchain.link import nvjitlink
from pycu2c.toolchain.nvrtc import nvrtc
from pycu2c.toolchain.toolchain_errors import ToolchainError


@click.command()
def doctor() -> None:
    """Report the compiler, NVRTC, driver, devices and cache, and what is missing."""
    lines, complete = report()
    for line in lines:
        click.echo(line)
    sys.exit(0 if complete else 1)


def report() -> tuple[list[str], bool]:
    """Return the lines to print, and whether kernels can run."""
    compiler_lines, has_compiler = _compiler()
    nvrtc_line, has_nvrtc = _nvrtc()
    cuda_line, has_cuda = _cuda()
    lines = [
        f"numpy     {np.__version__}",
        *compiler_lines,
        _dispatch(),
        _cxx(),
        nvrtc_line,
        _linker(),
        cuda_line,
        _cache(),
    ]
    try:
        backend = default_backend()
    except ValueError as error:
        return [*lines, f"not ready: {error}"], False
    verdict = _verdict(backend, has_cuda, has_nvrtc, has_compiler)
    return [*lines, verdict], verdict.startswith("ready")


def _verdict(backend: str, has_cuda: bool, has_nvrtc: bool, has_compiler: bool) -> str:
    """Return where kernels without an explicit back end run."""
    if backend == "python":
        return "ready: kernels run in the reference interpreter (PYCU2C_BACKEND=python)"
    if backend == "cuda" and not has_cuda:
        return "not ready: PYCU2C_BACKEND=cuda, but no GPU is available; unset it to use the CPU"
    if has_cuda and has_nvrtc:
        return "ready: kernels run on the GPU"
    if has_cuda:
        return "not ready: kernels run on the GPU, but NVRTC is missing; backend='cpu' works"
    if has_compiler:
        return "ready: kernels run on the CPU"
    return "not ready: kernels run with backend='python' only, the slow reference"


def _compiler() -> tuple[list[str], bool]:
    try:
        compiler = discovery.find_compiler()
    except ToolchainError as error:
        return [f"compiler  missing: {error}"], False
    return [f"compiler  {compiler}", f"threads   {thread_count()}"], True


def _dispatch() -> str:
    if not extension.UNAVAILABLE:
        return "launches  fast path: the C extension is there"
    return (
        "launches  slow path, tens of µs each: there is no C extension. Where a C compiler and "
        "Python's headers (python3-dev) are, pip install --force-reinstall --no-deps pycu2c "
        f"builds it. ({extension.UNAVAILABLE})"
    )


def _cxx() -> str:
    try:
        return f"C++       {cxx.find()}"
    except ToolchainError:
        return "C++       none: CUDA C as text needs clang++, g++ or zig to run on the CPU"


def _nvrtc() -> tuple[str, bool]:
    try:
        major, minor = nvrtc.version()
        archs = nvrtc.supported_archs()
    except ToolchainError as error:
        message, _, _ = str(error).partition("\n")
        return f"NVRTC     missing: {message}", False
    return f"NVRTC     {major}.{minor}, {archs[0]} to {archs[-1]}", True


def _linker() -> str:
    library = nvjitlink.nvjitlink()
    if library is not None:
        major, minor = library.version()
        return f"linker    nvJitLink {major}.{minor}"
    return "linker    CUDA driver (nvJitLink is not installed: pip install 'pycu2c[link]')"


def _cuda() -> tuple[str, bool]:
    if not driver.available():
        return f"GPU       none: {driver.unavailable_reason()}", False
    devices = (f"{device.name}, {device.arch}" for device in driver.devices())
    return "GPU       " + "\n          ".join(devices), True


def _cache() -> str:
    usage = eviction.usage()
    if usage.problem:
        return f"cache     not used: {usage.problem}"
    return f"cache     {usage.directory}: {usage.entries} entries, {usage.size / 2**20:.1f} MiB"
