"""What was generated for a kernel in an earlier process, found without typing it again.

The key is made of everything that the compiler may look at: the text of the kernel's file and of
those of the functions that it names, the value of each global and closure that it names, the types
of the arguments, the options. It takes in more than the compiler reads, never less; a kernel that
names something whose value cannot be told here is not remembered.
"""

from __future__ import annotations

import contextlib
import functools
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from pycu2c import entries
from pycu2c.dtypes import Told, dtype_told
from pycu2c.lazy import lazy_module
from pycu2c.options import DEFAULT, Options
from pycu2c.parameters import Parameter, Part
from pycu2c.records import replace
from pycu2c.runtime.arguments import layout_of
from pycu2c.runtime.runner import Known, Runner, Variant
from pycu2c.source import Source
from pycu2c.surroundings import NotTold, surroundings
from pycu2c.toolchain import cache, compilers, places
from pycu2c.toolchain.binary import Binary
from pycu2c.types import Array, Scalar, Signature

if TYPE_CHECKING:
    from pycu2c import extents, keeping
    from pycu2c.runtime import cpu, cpu_runner, cuda, cuda_runner, driver
    from pycu2c.toolchain import cc, failures, nvrtc, own_files
else:
    extents = lazy_module("pycu2c.extents")
    keeping = lazy_module("pycu2c.keeping")
    cc = lazy_module("pycu2c.toolchain.cc")
    cpu = lazy_module("pycu2c.runtime.cpu")
    cpu_runner = lazy_module("pycu2c.runtime.cpu_runner")
    cuda = lazy_module("pycu2c.runtime.cuda")
    cuda_runner = lazy_module("pycu2c.runtime.cuda_runner")
    driver = lazy_module("pycu2c.runtime.driver")
    failures = lazy_module("pycu2c.toolchain.failures")
    nvrtc = lazy_module("pycu2c.toolchain.nvrtc")
    own_files = lazy_module("pycu2c.toolchain.own_files")

_BACKENDS = ("cpu", "cuda")
_FIRST = "known"  # the entry with what is known of a kernel


def look_by_pool() -> None:
    """Where kernels run on the CPU, their pool will be loaded: it may be of use before."""
    if not entries.REMEMBERS:
        return
    if not cpu.has_pool():
        found = _known_pool()
        if found is None:
            return
        cpu.know_pool(found)
    entries.look_by(cpu.look)


def _known_pool() -> Binary | None:
    """The pool's library; None where it is still to be compiled, or cannot be. By the state of its
    files it is found without reading and hashing them: a tenth of a known kernel's first launch."""
    try:
        found = _kept(entries.load(_key_of_pool()), cpu.POOL, "", DEFAULT)
        if found is None:
            found = cc.known(cpu.pool_text(), cpu.POOL)
            if found:
                _keep_pool(found.key)
    except failures.ToolchainError:  # it is said when there is something to compile
        return None
    return found


@functools.cache
def _keep_pool(name: str) -> None:
    """Let later processes find it, by its name in the cache."""
    if not places.place().problem:
        entries.store(_key_of_pool(), name, keeping.files_of_pool())


def _key_of_pool() -> str:
    return cache.key_of("pool", compilers.identity(), entries.HOME, sys.version)


def _kept(key: str | None, entry: str, text: str, options: Options) -> Binary | None:
    """A library by its name in the cache, if it is there."""
    found = cache.load(key, ".so") if key else None
    if found is None:
        return None
    return Binary("so", entry, text, found.data, found.path, found.log, options.link, key or "")


class Memory:
    """What is remembered of a kernel for one signature. ``key`` is empty if nothing can be."""

    def __init__(self, source: Source, signature: Signature, options: Options) -> None:
        self._options, self.key = options, ""
        if not entries.REMEMBERS:
            return
        with contextlib.suppress(NotTold):
            told = surroundings(source, signature)
            files = (own_files.identity(path) for _, path in options.link)
            rest = (entries.HOME, sys.version, np.__version__, repr(options), *files)
            self.key = cache.key_of(told, *rest)

    @functools.cached_property
    def _first(self) -> dict[str, Any]:
        """What a launch needs to know first, and the first runner that was made: one file has what
        most launches need."""
        return self._load(_FIRST) or {}

    @functools.cached_property
    def known(self) -> Known | None:
        """What a launch needs to know first."""
        found = self._first.get("known")
        return Known(**{**found, "written": frozenset(found["written"])}) if found else None

    def keep_known(self, known: Known) -> None:
        self._first["known"] = keeping.facts_of(known)
        self._store(_FIRST, self._first)

    def runner(self, variant: Variant, names: tuple[str, ...]) -> Runner | None:
        """The kernel for a kind of launch, compiled and loaded."""
        found = self._facts(_told(variant)) if variant.backend in _BACKENDS else None
        if found is None:
            return None
        layout = layout_of([_parameter(*row) for row in found["parameters"]])
        text, entry = found["text"], found["entry"]
        options = self._options.linking(tuple(found["links"]))
        if variant.backend == "cpu":
            key = found["keys"].get(compilers.identity())
            binary = _kept(key, entry, text, options) or cc.compile(text, entry, options=options)
            on_cpu = cpu.CpuKernel(binary, bool(variant.accumulators))
            return cpu_runner.CpuRunner(names, layout, on_cpu)
        binary = nvrtc.compile(text, entry, driver.arch(), options=options)
        kernel = cuda.CudaKernel(binary, found["together"], self._options.cluster)
        written = frozenset(found["written"]), tuple(map(_overwritten, found["overwritten"]))
        return cuda_runner.CudaRunner(found["name"], written[0], layout, kernel, written[1])

    def _facts(self, told: str) -> Any:
        return self._first[told] if told in self._first else self._load(told)

    def keep_runner(self, variant: Variant, runner: Runner) -> None:
        """Only of kernels that take no more than a call."""
        facts = keeping.facts_of_runner(variant, runner)
        if not facts:
            return
        told = _told(variant)
        if len(self._first) == 1:  # what is known, and nothing else
            self._first[told] = facts
            self._store(_FIRST, self._first)
        else:
            self._store(told, facts)
        if variant.backend == "cpu" and cpu.pool().made:
            _keep_pool(cpu.pool().made)

    def _load(self, what: str) -> Any:
        return entries.load(cache.key_of(self.key, what)) if self.key else None

    def _store(self, what: str, content: object) -> None:
        if self.key:
            entries.store(cache.key_of(self.key, what), content)


def _told(variant: Variant) -> str:
    """A variant as its text is: the same for every device."""
    return repr(replace(variant, gpu=0))


def _overwritten(row: Any) -> extents.Overwritten:
    argument, axes = row
    return extents.Overwritten(argument, tuple(_place(*axis) for axis in axes))


def _place(axis: int, strided: bool, bounds: list[tuple[int, int | None]]) -> extents.Place:
    return extents.Place(axis, strided, frozenset(extents.Length(*bound) for bound in bounds))


def _parameter(
    name: str, dtype: Told, weak: bool, argument: int, part: str, axis: int
) -> Parameter:
    row = dtype_told(dtype)
    kind = Array(row, 1) if part == Part.DATA.value else Scalar(row, weak)
    return Parameter(name, kind, argument, Part(part), axis)
