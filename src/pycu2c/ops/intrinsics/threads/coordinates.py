"""Thread coordinates: indices and extents of thread, block and grid, one intrinsic per axis.

CUDA's variables are unsigned, but the intrinsics are Python ints. So the CUDA spelling casts to
``int`` where the compiler has proved that it suffices, else to ``long long``. On the CPU,
``threadIdx`` and the others are structs of int64 fields and need no cast.
"""

from __future__ import annotations

from collections.abc import Mapping

from pycu2c.base.dtypes import INT32, DType
from pycu2c.csyntax import nodes as c
from pycu2c.ops.intrinsics.kinds import const, form
from pycu2c.ops.intrinsics.reference_thread import REFERENCE_STATE
from pycu2c.ops.intrinsics.registry import Effect, Intrinsic, Spelling, intrinsic

AXES = ("x", "y", "z")

# CUDA's limits, the same for every device since compute capability 3.0
BLOCK_LIMIT = {"x": 1024, "y": 1024, "z": 64}
GRID_LIMIT = {"x": 2**31 - 1, "y": 65535, "z": 65535}

_DOCS = {
    "threadIdx": "Return the index of the thread in its block",
    "blockIdx": "Return the index of the block in the grid",
    "blockDim": "Return the threads per block",
    "gridDim": "Return the blocks per grid",
}


def _bounds(variable: str, axis: str) -> tuple[int, int]:
    limit = (BLOCK_LIMIT if variable in ("threadIdx", "blockDim") else GRID_LIMIT)[axis]
    return (0, limit - 1) if variable.endswith("Idx") else (1, limit)


def _read(variable: str, axis: str) -> int:
    value: int = getattr(REFERENCE_STATE.current(), variable)[AXES.index(axis)]
    return value


def _member(variable: str, axis: str) -> c.Expr:
    return c.MemberExpr(c.Name(variable), axis)


def _cast(value: c.Expr, dtype: DType) -> c.Expr:
    return c.CastExpr(c.NamedType(dtype.cuda), value)


def _declare_coordinate(variable: str, axis: str) -> Intrinsic:
    """Declare a coordinate such as ``cuda.threadIdx.x``."""

    def coordinate() -> int:
        return _read(variable, axis)

    coordinate.__doc__ = f"{_DOCS[variable]}, along {axis}."
    declare = intrinsic(
        f"cuda.{variable}.{axis}",
        cuda=lambda _, dtype: _cast(_member(variable, axis), dtype),
        c=lambda _, __: _member(variable, axis),
        is_special_register=True,
        is_divergent=variable == "threadIdx",
        bounds=_bounds(variable, axis),
    )
    return declare(coordinate)


COORDINATES = {(v, axis): _declare_coordinate(v, axis) for v in _DOCS for axis in AXES}


# ---- grid and gridsize: the front end lowers cuda.grid(n) to these, one per axis -------------


def _product(left: str, right: str, axis: str, plus: str = "") -> tuple[Spelling, Spelling]:
    """Return the CUDA and C spellings of ``left * right + plus`` along an axis."""

    def sum_of(first: c.Expr) -> c.Expr:
        product = c.BinaryExpr("*", first, _member(right, axis))
        return c.BinaryExpr("+", product, _member(plus, axis)) if plus else product

    def cuda(_: Mapping[str, c.Expr], dtype: DType) -> c.Expr:
        if dtype is INT32:
            return _cast(sum_of(_member(left, axis)), dtype)
        return sum_of(_cast(_member(left, axis), dtype))  # before it can overflow 32 bits

    return cuda, lambda _, __: sum_of(_member(left, axis))


def _declare_grid(axis: str) -> Intrinsic:
    def grid() -> int:
        return _read("blockIdx", axis) * _read("blockDim", axis) + _read("threadIdx", axis)

    grid.__doc__ = f"Return the index of the thread in the grid, along {axis}."
    cuda, plain = _product("blockIdx", "blockDim", axis, plus="threadIdx")
    greatest = GRID_LIMIT[axis] * BLOCK_LIMIT[axis] - 1
    declare = intrinsic(
        f"cuda.grid.{axis}", cuda=cuda, c=plain, is_divergent=True, bounds=(0, greatest)
    )
    return declare(grid)


def _declare_gridsize(axis: str) -> Intrinsic:
    def gridsize() -> int:
        return _read("gridDim", axis) * _read("blockDim", axis)

    gridsize.__doc__ = f"Return the threads of the grid, along {axis}."
    cuda, plain = _product("gridDim", "blockDim", axis)
    greatest = GRID_LIMIT[axis] * BLOCK_LIMIT[axis]
    declare = intrinsic(f"cuda.gridsize.{axis}", cuda=cuda, c=plain, bounds=(1, greatest))
    return declare(gridsize)


GRID = tuple(_declare_grid(axis) for axis in AXES)
GRIDSIZE = tuple(_declare_gridsize(axis) for axis in AXES)
BLOCK_COORDINATES = tuple(COORDINATES[v, axis] for v in ("blockIdx", "gridDim") for axis in AXES)


def _per_axis(intrinsics: tuple[Intrinsic, ...], ndim: int) -> int | tuple[int, ...]:
    indices = tuple(i.reference() for i in intrinsics[:ndim])
    return indices[0] if ndim == 1 else indices


_PER_AXIS = (
    "(ndim: Literal[1]) -> int",
    "(ndim: Literal[2]) -> tuple[int, int]",
    "(ndim: Literal[3]) -> tuple[int, int, int]",
)


@intrinsic("cuda.grid", effect=Effect.FORM, overloads=_PER_AXIS)
def grid(ndim: const) -> form:
    """Return the thread's index in the grid: an int for 1 axis, a tuple (x, y, …) for more."""
    return _per_axis(GRID, ndim)


@intrinsic("cuda.gridsize", effect=Effect.FORM, overloads=_PER_AXIS)
def gridsize(ndim: const) -> form:
    """Return the threads of the grid: an int for 1 axis, a tuple for 2 or 3."""
    return _per_axis(GRIDSIZE, ndim)
