"""Dates and durations as arguments: kernels compute with their integers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeGuard

import numpy as np

from pycu2c.base.diagnostics import LaunchError


def times_as_integers(values: tuple[object, ...], names: Sequence[str]) -> tuple[object, ...]:
    """Return the arguments with ``datetime64`` and ``timedelta64`` viewed as int64.

    Raises LaunchError if their units differ.
    """
    times: list[Any] = [value for value in values if _is_time(value)]
    if not times:
        return values
    units = {np.datetime_data(time.dtype) for time in times}
    if len(units) > 1:
        described = ", ".join(
            f"{name} {value.dtype}" for name, value in zip(names, values) if _is_time(value)
        )
        raise LaunchError(
            f"all dates and durations of a launch must have the same unit, not {described}: "
            "convert them, for example with .astype('datetime64[s]')"
        )
    return tuple(value.view(np.int64) if _is_time(value) else value for value in values)


def _is_time(value: object) -> TypeGuard[np.ndarray[Any, Any] | np.generic]:
    if not isinstance(value, np.ndarray | np.generic):
        return False
    return value.dtype.kind in "mM" and value.dtype.isnative
