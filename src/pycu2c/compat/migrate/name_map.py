"""Map paths of numba and numba-cuda-mlir to pycu2c by introspection of pycu2c.

No user program is imported.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
from collections.abc import Iterator
from functools import cache
from types import ModuleType
from typing import Any

from pycu2c import cuda
from pycu2c.base.spelling_suggestions import did_you_mean
from pycu2c.ops.names.host_names import HOST_ONLY_HINT
from pycu2c.ops.names.numba_names import HINTS

NUMBA, MLIR, PYCU2C = "numba", "numba_cuda_mlir", "pycu2c"

_MERGED_MODULES = (  # numba modules whose names are in pycu2c.cuda
    "api args cache_hints compiler cudadrv.linkable_code decorators intrinsics kernels.reduction "
    "misc.special np.ufunc reduction stubs vector_types"
)
MOVED_MODULES: dict[str, str] = {
    "numba.cuda.types": "pycu2c.types",
    "numba.cuda.core": "pycu2c.core",
    "numba.cuda.np": "pycu2c.np",
    "numba.misc.special": "pycu2c",
    **{f"numba.cuda.{module}": "pycu2c.cuda" for module in _MERGED_MODULES.split()},
}
"""Modules of numba with another path in pycu2c."""

HOST_FUNCTIONS: dict[str, str] = {
    "numba.njit": "numba compiles it for the host; kernels can call it as a device function",
    "numba.jit": "numba compiles it for the host; kernels can call it as a device function",
    "numba.prange": "numba compiles its loops for the host",
    "numba.vectorize": "without target='cuda' numba compiles it for the host",
    "numba.guvectorize": "without target='cuda' numba compiles it for the host",
}
"""Names that are not migrated although pycu2c has the same names, with the reasons."""

_HOST_REASON = "numba provides it for the host"


def is_numba(path: str) -> bool:
    return path.partition(".")[0] in (NUMBA, MLIR)


def is_pycu2c(path: str) -> bool:
    return path == PYCU2C or path.startswith(f"{PYCU2C}.")


def numba_path(path: str) -> str:
    """Return the numba path of a path of pycu2c or numba-cuda-mlir.

    All modules of numba-cuda-mlir are those of ``numba.cuda``, some in ``cuda`` or ``numba_cuda``.
    """
    if is_pycu2c(path) or path == MLIR:
        return NUMBA + path.removeprefix(PYCU2C).removeprefix(MLIR)
    return re.sub(rf"^{MLIR}(\.(numba_)?cuda\b)?", "numba.cuda", path)


def is_in_numba_cuda(path: str) -> bool:
    return path == "numba.cuda" or path.startswith("numba.cuda.")


def reason_to_keep(path: str) -> str:
    return HOST_FUNCTIONS.get(path, _HOST_REASON)


def hint_for(path: str) -> str:
    """Return a hint for a name of ``numba.cuda`` that pycu2c does not have."""
    parts = path.split(".")[2:]
    hints = (HINTS[part] for part in parts if HINTS.get(part, HOST_ONLY_HINT) != HOST_ONLY_HINT)
    hint = next(hints, None)
    candidates = dir(cuda) if len(parts) == 1 else ()
    return hint or did_you_mean(
        parts[-1], candidates, "it is internal to numba; dir(cuda) lists the public names", "cuda."
    )


@cache
def pycu2c_path(path: str) -> str | None:
    """Return the pycu2c path of a numba path, which may have moved; None if absent."""
    return next(
        (candidate for candidate in _candidates(path) if lookup(candidate) is not None), None
    )


@cache
def pycu2c_import_path(path: str) -> str | None:
    """Return the pycu2c path for a ``from … import`` statement, whose parent must be a module."""
    modules = (c for c in _candidates(path) if is_module(c.rpartition(".")[0]))
    return next((candidate for candidate in modules if lookup(candidate) is not None), None)


def _candidates(path: str) -> Iterator[str]:
    yield PYCU2C + path.removeprefix(NUMBA)
    for numba_module in sorted(MOVED_MODULES, key=len, reverse=True):
        if path == numba_module or path.startswith(f"{numba_module}."):
            yield MOVED_MODULES[numba_module] + path.removeprefix(numba_module)


@cache
def is_module(path: str) -> bool:
    """Return whether ``import path`` succeeds."""
    if not _is_public(path):
        return False
    try:
        spec = importlib.util.find_spec(path)
    except ModuleNotFoundError:
        return False
    return spec is not None and spec.origin is not None


def lookup(path: str) -> Any:
    """Return the public object at a pycu2c path; None if there is none."""
    if not _is_public(path):
        return None
    value: Any = importlib.import_module(PYCU2C)
    prefix = PYCU2C
    for part in path.split(".")[1:]:
        prefix = f"{prefix}.{part}"
        if is_module(prefix):
            value = importlib.import_module(prefix)
            continue
        parent, value = value, getattr(value, part, None)
        if value is None or (isinstance(parent, ModuleType) and not _is_exported(part, value)):
            return None
    return value


def _is_public(path: str) -> bool:
    """Return whether a path is part of the public API."""
    names = path.split(".")[1:2]
    public = {*importlib.import_module(PYCU2C).__all__, "core", "np", "__version__"}
    return path == PYCU2C or (path.startswith(f"{PYCU2C}.") and names[0] in public)


def _is_exported(name: str, value: object) -> bool:
    """Return whether an attribute of a module is public, not an import of the module."""
    if name.startswith("_"):
        return False
    defining_module = (
        value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", PYCU2C)
    )
    return str(defining_module).split(".")[0] == PYCU2C
