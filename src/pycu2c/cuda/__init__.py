"""The names of CUDA: those inside a kernel, and on the host those of arrays, streams and events.

The former are rows of the registry, the latter objects of several rooms. All are imported when one
is first asked for: a kernel that is known is run without. Type checkers and editors read
``__init__.pyi``, made of the same rows.
"""

from __future__ import annotations

import importlib

from pycu2c.base import spelling_suggestions
from pycu2c.ops.names import cuda_namespace, numba_names
from pycu2c.ops.names.host_names import HOST_NAMES, MODULES


def __dir__() -> list[str]:
    return sorted([*dir(cuda_namespace.CUDA), *HOST_NAMES, *MODULES])


def __getattr__(name: str) -> object:
    """Called for names that the module has not got, yet."""
    if name == "__all__":
        return __dir__()
    if name.startswith("_"):  # tools look for these in every object
        raise AttributeError(f"pycu2c.cuda has no {name}", name=name)
    if name in MODULES:
        return importlib.import_module(MODULES[name])
    room = HOST_NAMES.get(name)
    if room is not None:
        found: object = getattr(importlib.import_module(room), name)
        globals()[name] = found
        return found
    row: object = getattr(cuda_namespace.CUDA, name, None)
    if row is not None:
        globals()[name] = row
        return row
    otherwise = "dir(cuda) lists what it has"
    hint = numba_names.CURES.get(name) or spelling_suggestions.did_you_mean(
        name, __dir__(), otherwise
    )
    raise AttributeError(f"pycu2c.cuda has no {name}: {hint}", name=name, obj=cuda_namespace.CUDA)
