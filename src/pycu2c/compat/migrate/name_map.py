"""What becomes of the names of numba: which of them are here, and by which path. What is here, the
package itself is asked; no program is imported."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterator
from functools import cache
from types import ModuleType
from typing import Any

from pycu2c import cuda
from pycu2c.base.spelling_suggestions import did_you_mean
from pycu2c.ops.names.host_names import FOR_THE_HOST
from pycu2c.ops.names.numba_names import CURES

NUMBA, OURS = "numba", "pycu2c"

_OF_CUDA = (  # modules whose names are in cuda itself
    "api args cache_hints compiler cudadrv.linkable_code decorators intrinsics kernels.reduction "
    "misc.special np.ufunc reduction stubs vector_types"
)
MOVED: dict[str, str] = {
    "numba.cuda.types": "pycu2c.types",
    "numba.cuda.core": "pycu2c.core",
    "numba.cuda.np": "pycu2c.np",
    "numba.misc.special": "pycu2c",
    **{f"numba.cuda.{room}": "pycu2c.cuda" for room in _OF_CUDA.split()},
}
"""Modules of numba whose names are elsewhere here."""

HOST_FUNCTIONS: dict[str, str] = {
    "numba.njit": "numba compiles it for the host; kernels call it as a device function",
    "numba.jit": "numba compiles it for the host; kernels call it as a device function",
    "numba.prange": "it is of loops that numba compiles for the host",
    "numba.vectorize": "without target='cuda' numba compiles it for the host",
    "numba.guvectorize": "without target='cuda' numba compiles it for the host",
}
"""What stays numba's where a program uses it, though this package has something by its name."""

_STAYS = "numba has it for the host"


def is_numba(path: str) -> bool:
    return path == NUMBA or path.startswith("numba.")


def is_ours(path: str) -> bool:
    return path == OURS or path.startswith(f"{OURS}.")


def theirs(path: str) -> str:
    """The path in numba of what has the same name here."""
    return NUMBA + path.removeprefix(OURS) if is_ours(path) else path


def is_of_cuda(path: str) -> bool:
    return path == "numba.cuda" or path.startswith("numba.cuda.")


def why_it_stays(path: str) -> str:
    return HOST_FUNCTIONS.get(path, _STAYS)


def cure_for(path: str) -> str:
    """What to write for a name of ``numba.cuda`` that is not here."""
    parts = path.split(".")[2:]
    cures = (CURES[part] for part in parts if CURES.get(part, FOR_THE_HOST) != FOR_THE_HOST)
    hint = next(cures, None)
    known = dir(cuda) if len(parts) == 1 else ()
    return hint or did_you_mean(
        parts[-1], known, "it is of numba's own inside: dir(cuda) lists what there is", "cuda."
    )


@cache
def ours(path: str) -> str | None:
    """The path here of what ``path`` is in numba: that of the same name, or where it has moved."""
    return next((found for found in _candidates(path) if _found(found) is not None), None)


@cache
def ours_in_module(path: str) -> str | None:
    """The same, for what an import statement takes from a module."""
    modules = (c for c in _candidates(path) if is_module(c.rpartition(".")[0]))
    return next((found for found in modules if _found(found) is not None), None)


def _candidates(path: str) -> Iterator[str]:
    yield OURS + path.removeprefix(NUMBA)
    for theirs in sorted(MOVED, key=len, reverse=True):
        if path == theirs or path.startswith(f"{theirs}."):
            yield MOVED[theirs] + path.removeprefix(theirs)


@cache
def is_module(path: str) -> bool:
    """Whether ``import path`` works."""
    if not _may_be_named(path):
        return False
    try:
        spec = importlib.util.find_spec(path)
    except ModuleNotFoundError:
        return False
    return spec is not None and spec.origin is not None


def found(path: str) -> Any:
    """The object at a path of this package that ``ours`` has given."""
    return _found(path)


def _found(path: str) -> Any:
    """The object at a path of this package; None where there is none."""
    if not _may_be_named(path):
        return None
    reached: Any = importlib.import_module(OURS)
    done = OURS
    for part in path.split(".")[1:]:
        done = f"{done}.{part}"
        if is_module(done):
            reached = importlib.import_module(done)
            continue
        inside, reached = reached, getattr(reached, part, None)
        if reached is None or (isinstance(inside, ModuleType) and not _is_own(part, reached)):
            return None
    return reached


def _may_be_named(path: str) -> bool:
    """Whether users see a path, not only the package itself."""
    rooms = path.split(".")[1:2]
    public = {*importlib.import_module(OURS).__all__, "core", "np", "__version__"}
    return path == OURS or (path.startswith(f"{OURS}.") and rooms[0] in public)


def _is_own(name: str, value: object) -> bool:
    """Whether an attribute of a module is for users, not something that it imports."""
    if name.startswith("_"):
        return False
    home = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", OURS)
    return str(home).split(".")[0] == OURS
