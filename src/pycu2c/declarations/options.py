"""The options of ``@kernel`` on meaning and speed, independent of targets."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, TypeAlias, get_args

from pycu2c.base import spelling_suggestions
from pycu2c.base.dtypes import FLOAT32, FLOAT64, DType
from pycu2c.base.errors import Error, environment_setting, environment_switch
from pycu2c.base.limits import MAX_BLOCK_THREADS, MAX_CLUSTER_BLOCKS, MAX_REGISTERS
from pycu2c.base.records import dataclass, field_names, replace
from pycu2c.declarations import link_files
from pycu2c.ops.names.dtype_names import scalar_named

CheckGroup: TypeAlias = Literal["memory", "race", "init", "sync", "arithmetic", "wrap", "lossy"]
CHECK_GROUPS: tuple[CheckGroup, ...] = get_args(CheckGroup)
DEFAULT_CHECK_GROUPS = CHECK_GROUPS[:-2]  # programs wrap and round on purpose, too


class OptionError(Error, TypeError):
    """An unknown option of ``@kernel``, or an invalid value."""


@dataclass(frozen=True, slots=True)
class Options:
    """How a kernel and the device functions that it calls are compiled.

    weak_float: the type of a Python float without a typed context; None means float64.
    wraparound: whether an index may be negative at run time, and counts from the end.
    fmad: whether ``a * b + c`` may be contracted to a fused multiply-add.
    fastmath: whether to trade accuracy of floating-point results for speed.
    strict: whether a read of a variable that some path leaves unassigned is an error.
    check: the groups of checks with which the kernel is instrumented; empty without checks. With
        any, the launch also raises the exceptions and failed assertions of the kernel.
    lineinfo: whether to emit line information for profilers and debuggers.
    max_registers: the maximum number of registers of a thread on a GPU; None lets the compiler
        decide.
    link: files to link with the compiled code, with their targets.
    launch_bounds: the maximum number of threads of a block, and the minimum number of resident
        blocks on a multiprocessor; empty without bounds.
    cluster: the number of blocks of a cluster along x, y and z; empty without clusters.
    programmatic_stream_serialization: whether a launch may begin before the previous kernel of the
        stream has ended.
    """

    weak_float: DType | None = None
    wraparound: bool = True
    fmad: bool = True
    fastmath: bool = False
    strict: bool = False
    check: tuple[CheckGroup, ...] = ()
    lineinfo: bool = False
    max_registers: int | None = None
    launch_bounds: tuple[int, ...] = ()
    cluster: tuple[int, ...] = ()
    programmatic_stream_serialization: bool = False
    link: tuple[link_files.Link, ...] = ()

    def with_links(self, links: tuple[link_files.Link, ...]) -> Options:
        """Return these options with more files to link."""
        return replace(self, link=tuple(dict.fromkeys((*self.link, *links)))) if links else self


DEFAULT_OPTIONS = Options()
OPTION_NAMES = field_names(Options)


def parse_options(options: Mapping[str, object]) -> Options:
    """Return the options of a ``@kernel`` decorator. Raises OptionError."""
    options = {
        "lineinfo": environment_switch("PYCU2C_LINEINFO"),
        "check": environment_setting(
            "PYCU2C_CHECK", _parse_checks, _CHECK_VALUES, DEFAULT_OPTIONS.check
        ),
        **options,
    }
    return Options(
        **{name: _PARSERS.get(name, _boolean)(name, value) for name, value in options.items()}
    )


def _boolean(name: str, setting: object) -> bool:
    if type(setting) is not bool:
        raise OptionError(f"{name} is True or False, not {setting!r}")
    return setting


def _weak_float(name: str, setting: object) -> DType | None:
    if setting is None or setting is float:
        return None
    scalar = scalar_named(setting)
    if scalar is None or scalar.dtype not in (FLOAT32, FLOAT64):
        raise OptionError(f"{name} is float32 or float64, not {setting!r}")
    return FLOAT32 if scalar.dtype is FLOAT32 else None


def _max_registers(name: str, setting: object) -> int | None:
    if setting is None or (type(setting) is int and 16 <= setting <= MAX_REGISTERS):
        return setting
    raise OptionError(f"{name} is a number from 16 to {MAX_REGISTERS}, not {setting!r}")


def _launch_bounds(name: str, setting: object) -> tuple[int, ...]:
    numbers = _positive_numbers(setting, 2)
    if numbers is None or any(n > MAX_BLOCK_THREADS for n in numbers[:1]):
        raise OptionError(
            f"{name} is the most threads of a block, up to {MAX_BLOCK_THREADS}, or a tuple of that "
            f"and the least number of blocks on a multiprocessor, not {setting!r}"
        )
    return numbers


def _cluster(name: str, setting: object) -> tuple[int, ...]:
    numbers = _positive_numbers(setting, 3)
    if numbers is None or math.prod(numbers) > MAX_CLUSTER_BLOCKS:
        raise OptionError(
            f"{name} is how many blocks a cluster has, or a tuple of that along x, y and z; all "
            f"GPUs that have clusters take 8, and some up to {MAX_CLUSTER_BLOCKS}, not {setting!r}"
        )
    return (*numbers, 1, 1)[:3] if numbers else ()


def _positive_numbers(setting: object, most: int) -> tuple[int, ...] | None:
    """Return up to ``most`` positive ints of a tuple, one int, or none; None for other values."""
    numbers = () if setting is None else setting if isinstance(setting, tuple) else (setting,)
    valid = tuple(n for n in numbers if type(n) is int and n > 0)
    return valid if len(valid) == len(numbers) <= most else None


def _links(name: str, setting: object) -> tuple[link_files.Link, ...]:
    try:
        return link_files.parse_links(setting)
    except link_files.BadLink as error:
        raise OptionError(str(error)) from None


_CHECK_VALUES = f"0, 1, or some of {', '.join(CHECK_GROUPS)}"


def _parse_checks(text: str) -> tuple[CheckGroup, ...]:
    """Parse the environment variable: 1 for the default checks, or a list of groups."""
    try:
        return _check("check", text == "1" if text in ("0", "1") else text)
    except OptionError as error:
        raise ValueError(text) from error


def _check(name: str, setting: object) -> tuple[CheckGroup, ...]:
    """Parse True, False, a tuple of groups, or text: ``"memory,race"``."""
    if isinstance(setting, bool):
        return DEFAULT_CHECK_GROUPS if setting else ()
    groups = setting.replace(" ", "").split(",") if isinstance(setting, str) else setting
    if not isinstance(groups, (tuple, list)) or not set(groups) <= set(CHECK_GROUPS):
        raise OptionError(f"{name} is True, or some of {', '.join(CHECK_GROUPS)}, not {setting!r}")
    return tuple(group for group in CHECK_GROUPS if group in groups)


_PARSERS: dict[str, Callable[[str, object], Any]] = {
    "weak_float": _weak_float,
    "max_registers": _max_registers,
    "launch_bounds": _launch_bounds,
    "cluster": _cluster,
    "link": _links,
    "check": _check,
}


def check_option_names(names: Iterable[str], other_options: Iterable[str]) -> None:
    """Raise OptionError for names that are neither in ``other_options`` nor in ``Options``."""
    valid_names = [*other_options, *OPTION_NAMES]
    for name in names:
        if name not in valid_names:
            closest = spelling_suggestions.closest_name(name, valid_names, cutoff=0.5)
            hint = f"did you mean {closest}?" if closest else f"it has {', '.join(valid_names)}"
            raise OptionError(f"@kernel has no option {name!r}: {hint}")
