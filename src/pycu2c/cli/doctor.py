"""Implement ``pycu2c doctor``: report the toolchain, the devices, and what is missing."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable

import click
import numpy as np

from pycu2c import __version__
from pycu2c.base.backends import default_backend
from pycu2c.base.errors import EnvironmentVariableError
from pycu2c.cuda_driver import driver
from pycu2c.declarations.options import parse_options
from pycu2c.native import extension
from pycu2c.runtime.cpu.thread_count import thread_count
from pycu2c.toolchain.cache import eviction
from pycu2c.toolchain.cc import cxx, discovery
from pycu2c.toolchain.link import nvjitlink
from pycu2c.toolchain.nvrtc import lost_negation, nvrtc
from pycu2c.toolchain.toolchain_errors import ToolchainError


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print an object with the same facts.")
def doctor(as_json: bool) -> None:
    """Report the compiler, NVRTC, driver, devices and cache, and what is missing."""
    facts, verdict = report()
    is_ready = verdict.startswith("ready")
    if as_json:
        click.echo(json.dumps({**facts, "ready": is_ready, "verdict": verdict}, indent=2))
    else:
        for name, fact in facts.items():
            click.echo(f"{name:<10}{fact.replace(chr(10), chr(10) + ' ' * 10)}")
        click.echo(verdict)
    sys.exit(0 if is_ready else 1)


def report() -> tuple[dict[str, str], str]:
    """Return the facts by name, and a verdict, which begins with "ready" if kernels can run."""
    compiler, has_compiler = _compiler()
    nvrtc_text, has_nvrtc = _nvrtc()
    gpu, has_cuda = _cuda()
    facts = {
        "Python": f"{sys.version.split()[0]}, pycu2c {__version__}",
        "numpy": np.__version__,
        "compiler": compiler,
        **({"threads": _or_problem(thread_count)} if has_compiler else {}),
        "launches": _dispatch(),
        "C++": _cxx(),
        "NVRTC": nvrtc_text,
        "linker": _linker(),
        "GPU": gpu,
        "cache": _or_problem(_cache),
    }
    try:
        for read_setting in (thread_count, eviction.limit, lambda: parse_options({})):
            read_setting()
        backend = default_backend()
    except EnvironmentVariableError as error:
        return facts, f"not ready: {error}"
    return facts, _verdict(backend, has_cuda, has_nvrtc, has_compiler)


def _or_problem(fact: Callable[[], object]) -> str:
    """Return a fact, or which environment variable is invalid."""
    try:
        return str(fact())
    except EnvironmentVariableError as error:
        return str(error)


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


def _compiler() -> tuple[str, bool]:
    try:
        return str(discovery.find_compiler()), True
    except ToolchainError as error:
        return f"missing: {error}", False


def _dispatch() -> str:
    if not extension.UNAVAILABLE:
        return "fast path, by the C extension"
    if extension.UNAVAILABLE == extension.REQUIRES_GIL:
        return f"slow path, tens of µs each: {extension.REQUIRES_GIL}"
    return (
        "slow path, tens of µs each: the C extension is not installed. To build it, install a C "
        "compiler and Python's headers (python3-dev), and run pip install --force-reinstall "
        f"--no-deps pycu2c. ({extension.UNAVAILABLE})"
    )


def _cxx() -> str:
    try:
        return str(cxx.find())
    except ToolchainError:
        return "none: CUDA C text requires clang++, g++ or zig to run on the CPU"


def _nvrtc() -> tuple[str, bool]:
    try:
        major, minor = nvrtc.version()
        archs = nvrtc.supported_archs()
    except ToolchainError as error:
        message, _, _ = str(error).partition("\n")
        return f"missing: {message}", False
    found = f"{major}.{minor}, {archs[0]} to {archs[-1]}"
    if lost_negation.is_affected((major, minor)):
        found += (
            "\nupdate it to 13.4 or later: this version drops a minus sign in "
            "min(min(x, -y), z) of 32-bit integers on GPUs of compute capability 9.0 and 10.x, "
            "so such kernels are not optimized"
        )
    return found, True


def _linker() -> str:
    library = nvjitlink.nvjitlink()
    if library is not None:
        major, minor = library.version()
        return f"nvJitLink {major}.{minor}"
    return "missing: pip install 'pycu2c[link]'"


def _cuda() -> tuple[str, bool]:
    if not driver.available():
        return f"none: {driver.unavailable_reason()}", False
    devices = (f"{device.name}, {device.arch}" for device in driver.devices())
    return "\n".join(devices), True


def _cache() -> str:
    usage = eviction.usage()
    if usage.problem:
        return f"not used: {usage.problem}"
    return f"{usage.directory}: {usage.entries} entries, {usage.size / 2**20:.1f} MiB"
