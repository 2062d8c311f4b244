"""A plug-in of coverage.py: counts lines of kernels that threads execute as covered.

Select it in the configuration of coverage.py: ``plugins = ["pycu2c.coverage"]``.
"""

from __future__ import annotations

import sys
from functools import cache
from types import SimpleNamespace
from typing import Any

from coverage import Coverage

from pycu2c.runtime import launch_observers


def coverage_init(registry: object, options: object) -> None:
    """Record the lines of kernels that are compiled from now on; coverage.py calls it.

    Parameters
    ----------
    registry : object
        The registry of plug-ins of coverage.py; not used.
    options : dict
        The options of the plug-in; not used.
    """
    if _OBSERVER not in launch_observers.OBSERVERS:
        launch_observers.OBSERVERS.append(_OBSERVER)


def _record(arcs: launch_observers.Arcs) -> None:
    """Add the lines of a launch to the data of the measurement that is running, if one is."""
    coverage: Any = Coverage.current()
    if coverage is None:
        return
    data = coverage._data  # get_data() would also search for files that were not executed
    new = {}
    for file, pairs in arcs.items():
        name = _name_in_data(coverage, file)
        recorded = _recorded(data, data._current_context, name)
        if name and not pairs <= recorded:
            new[name] = pairs - recorded
            recorded |= pairs
    if not new:
        return
    if coverage.get_option("run:branch"):
        data.add_arcs(new)
    else:
        data.add_lines({name: {max(pair) for pair in pairs} for name, pairs in new.items()})


_OBSERVER = launch_observers.LaunchObserver(record_lines=_record)


@cache
def _recorded(data: object, context: str | None, name: str | None) -> set[tuple[int, int]]:
    """Return the pairs of lines of a file that launches have recorded in a context."""
    return set()


@cache
def _name_in_data(coverage: Any, file: str) -> str | None:
    """Return the name of a file in the data; None if it is not measured."""
    modules = [m for m in sys.modules.values() if getattr(m, "__file__", None) == file]
    frame = SimpleNamespace(f_globals=vars(modules[0]) if modules else {"__file__": file})
    decision = coverage._should_trace(file, frame)
    return coverage._file_mapper(decision.source_filename) if decision.trace else None
