"""What ``@kernel`` may be told about meaning and speed. Knows no target and no compiler."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields

from pycu2c.dtypes import FLOAT32, FLOAT64, DType
from pycu2c.intrinsics.dtype_names import scalar_named
from pycu2c.nearest import nearest
from pycu2c.records import dataclass


class BadOption(TypeError):
    """An option that ``@kernel`` does not have, or a value that it does not take."""


@dataclass(frozen=True, slots=True)
class Options:
    """How a kernel and the device functions that it calls are compiled.

    weak_float: what a Python float is by itself; None stands for float64.
    wraparound: whether an index may be negative at run time, and then counts from the end.
    fmad: whether ``a * b + c`` may be one operation that rounds once.
    fastmath: whether speed goes before the last bits of floating-point results.
    strict: whether a read that some path has not assigned is an error.
    """

    weak_float: DType | None = None
    wraparound: bool = True
    fmad: bool = True
    fastmath: bool = False
    strict: bool = False


DEFAULT = Options()
NAMES = tuple(field.name for field in fields(Options))


def options_from(given: Mapping[str, object]) -> Options:
    """The options that ``@kernel`` was given, by name. Raises BadOption."""
    for name, value in given.items():
        if name != "weak_float" and type(value) is not bool:
            raise BadOption(f"{name} is True or False, not {value!r}")
    switches = {name: bool(v) for name, v in given.items() if name != "weak_float"}
    return Options(weak_float=_weak_float(given.get("weak_float")), **switches)


def _weak_float(given: object) -> DType | None:
    if given is None or given is float:
        return None
    scalar = scalar_named(given)
    if scalar is None or scalar.dtype not in (FLOAT32, FLOAT64):
        raise BadOption(f"weak_float is float32 or float64, not {given!r}")
    return FLOAT32 if scalar.dtype is FLOAT32 else None


def check_names(given: Iterable[str], known: Iterable[str]) -> None:
    """Refuse names that ``@kernel`` does not have. Raises BadOption."""
    names = [*known, *NAMES]
    for name in given:
        if name not in names:
            near = nearest(name, names, cutoff=0.5)
            cure = f"did you mean {near}?" if near else f"it has {', '.join(names)}"
            raise BadOption(f"@kernel has no option {name!r}: {cure}")
