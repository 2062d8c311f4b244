"""What ``k[grid, block]`` gives, and what all of them share of their kernel.

Kept light, as ``kernel.py``: what launches need is imported at the first of them.
"""

from __future__ import annotations

from typing import Any, NoReturn, ParamSpec

from pycu2c.base.diagnostics import CompileError, LaunchError
from pycu2c.base.gc_pause import gc_paused
from pycu2c.base.types import Signature
from pycu2c.cuda_driver import driver
from pycu2c.kernels import launcher as launching
from pycu2c.native.extension import ConfiguredBase, TableReference
from pycu2c.runtime.cuda import memory, startup
from pycu2c.runtime.launch_configuration import IMMORTAL_STREAM_TYPES, LaunchRequest

P = ParamSpec("P")

_BACKEND = 2  # where it stands in what a launcher is made of


class Launches(TableReference):
    """What the configurations of a kernel share: what has been compiled of it, and the dispatch
    table, or None."""

    __slots__ = ("_form", "_launcher")

    def __init__(self, *form: Any) -> None:
        self._form = form
        self._launcher: launching.Launcher | None = None

    @property
    def launcher(self) -> launching.Launcher:
        """Made at the first use: what it imports takes its time."""
        if self._launcher is None:
            with gc_paused():
                self._launcher = launching.Launcher(*self._form)
        return self._launcher

    @property
    def for_launch(self) -> launching.Launcher:
        """The same, for a launch: where that is for a GPU, the driver starts meanwhile."""
        if self._form[_BACKEND] in ("auto", "cuda"):
            startup.begin()
        return self.launcher

    def forget(self) -> None:
        self._launcher = self.table = None

    def prepared(self, signature: Signature) -> Launches:
        """For launches with arguments of these types alone."""
        made = Launches(*self._form)
        made._launcher = self.launcher.prepared(signature)
        return made


class Configured(ConfiguredBase[P]):
    """A kernel with its grid and block; call it with the arguments.

    A call that misses the dispatch table of the kernel calls ``_launch_slow``."""

    __slots__ = ("_wanted",)
    _launches: Launches

    def __init__(self, launches: Launches, wanted: LaunchRequest) -> None:
        self._wanted, stream = wanted, wanted.stream
        if stream is None:
            configuration = wanted.configuration(0, ordered=True)
        else:
            ordered = memory.in_order_with_default(stream)
            configuration = wanted.configuration(driver.stream_of(stream), ordered)
        super().__init__(launches, configuration)

    def __repr__(self) -> str:
        wanted = self._wanted
        on = "" if wanted.stream is None else f", stream {wanted.stream!r}"
        name = self._launches.launcher.name
        return f"<kernel {name}, grid {wanted.grid}, block {wanted.block}{on}>"

    def __copy__(self) -> Configured[P]:
        return self

    def __deepcopy__(self, memo: object) -> Configured[P]:
        return self

    def __reduce__(self) -> NoReturn:
        name = self._launches.launcher.name
        raise TypeError(
            f"{name}[grid, block] is not pickled: pickle {name}, which goes by its name"
        )

    def _launch_slow(self, *arguments: P.args, **named: P.kwargs) -> None:
        """Launch by the Python slow path, which records the launch in the dispatch table."""
        launches = self._launches
        launcher = launches.for_launch
        try:
            values = launcher.values(arguments, named)
            launcher.launch(self._configuration, self._wanted, values)
        except (CompileError, LaunchError) as error:
            raise error.with_traceback(None) from error.__cause__  # the text says where it is
        launches.table = launcher.table_for_calls


def key_of(configuration: Any) -> object:
    """What tells a configuration from others: 4 and 4.0 are equal, and one is an error. Where all
    is as usual it is the configuration itself, which C looks up (dispatch/callables.c)."""
    if type(configuration) is not tuple:
        raise TypeError("a configuration is a tuple")
    grid, block, *rest = configuration
    if rest and type(rest[0]) not in IMMORTAL_STREAM_TYPES:
        raise TypeError("a stream of another package is not kept alive")
    types = [_types_in(grid), _types_in(block), *map(type, rest[1:])]
    return configuration if all(t is int for t in types) else (configuration, *types)


def _types_in(extent: object) -> object:
    if type(extent) is not tuple:
        return type(extent)
    types = tuple(map(type, extent))
    return int if all(t is int for t in types) else types
