"""Export the names of CUDA: intrinsics for kernels; arrays, streams and events for the host.

Intrinsics are entries of the registry in ``ops``; host names are in ``devices`` and other packages
(``ops.names.host_names``). All names are imported on first use, so that cached kernels launch
without the compiler. ``__init__.pyi`` is generated from the same tables.
"""

from __future__ import annotations

from pycu2c.base import spelling_suggestions
from pycu2c.base.lazy_imports import import_module
from pycu2c.ops.names import cuda_namespace, numba_names
from pycu2c.ops.names.host_names import HOST_NAMES, MODULES


def __dir__() -> list[str]:
    return sorted([*dir(cuda_namespace.CUDA), *HOST_NAMES, *MODULES])


def __getattr__(name: str) -> object:
    """Import a name on first use."""
    if name == "__all__":
        return __dir__()
    if name.startswith("_"):  # tools probe such names
        raise AttributeError(f"pycu2c.cuda has no {name}", name=name)
    if name in MODULES:
        return import_module(MODULES[name])
    module = HOST_NAMES.get(name)
    if module is not None:
        host_name: object = getattr(import_module(module), name)
        globals()[name] = host_name
        return host_name
    member: object = getattr(cuda_namespace.CUDA, name, None)
    if member is not None:
        globals()[name] = member
        return member
    otherwise = "dir(cuda) lists all names"
    hint = numba_names.replacement_hint(name) or spelling_suggestions.did_you_mean(
        name, __dir__(), otherwise
    )
    raise AttributeError(f"pycu2c.cuda has no {name}: {hint}", name=name, obj=cuda_namespace.CUDA)
