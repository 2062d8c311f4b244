"""Texture reads, and surface reads and writes.

The GPU uses CUDA's functions. The CPU uses helpers with the arithmetic of the texture units
(``codegen/helpers/texture_helpers.py``). The reference calls the host object
(``devices/textures.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pycu2c.base.dtypes import DType
from pycu2c.csyntax import nodes as c
from pycu2c.ops.intrinsics.kinds import (
    T,
    coordinate,
    surface1d,
    surface2d,
    surface3d,
    texture1d,
    texture2d,
    texture3d,
)
from pycu2c.ops.intrinsics.registry import Effect, Intrinsic, Spelling, intrinsic
from pycu2c.ops.intrinsics.spelling import helper

# ---- textures ----------------------------------------------------------------------------------


def _fetch(a: Mapping[str, c.Expr], dtype: DType) -> c.Expr:
    """Return a fetch by index as a read at the center of the element.

    CUDA's ``tex1Dfetch`` takes only textures on linear memory.
    """
    index = c.CastExpr(c.NamedType("float"), a["i"])
    middle = c.BinaryExpr("+", index, c.Number("0.5f"))
    return _template_call("tex1D")({"texture": a["texture"], "x": middle}, dtype)


def _template_call(name: str) -> Spelling:
    """Return the spelling of an instance of a CUDA template for the element type."""

    def spell(a: Mapping[str, c.Expr], dtype: DType) -> c.Expr:
        return c.CallExpr(f"{name}<{dtype.cuda}>", tuple(a.values()))

    return spell


def _texture(cuda: Spelling | None = None) -> Callable[[Callable[..., Any]], Intrinsic]:
    """Declare an intrinsic that reads a texture; the helper has the name of CUDA's function."""

    def declare(body: Callable[..., Any]) -> Intrinsic:
        name = body.__name__
        spell = cuda or _template_call(name)
        return intrinsic(f"cuda.{name}", cuda=spell, c=helper(name))(body)

    return declare


@_texture()
def tex1D(texture: texture1d, x: coordinate) -> T:
    """Return the value of a texture with one axis at ``x``."""
    return texture.at(x)


@_texture()
def tex2D(texture: texture2d, x: coordinate, y: coordinate) -> T:
    """Return the value of a texture at ``x`` along its last axis and ``y`` along its first."""
    return texture.at(x, y)


@_texture()
def tex3D(texture: texture3d, x: coordinate, y: coordinate, z: coordinate) -> T:
    """Return the value of a texture at ``x`` along its last axis, then ``y`` and ``z``."""
    return texture.at(x, y, z)


@_texture(_fetch)
def tex1Dfetch(texture: texture1d, i: int) -> T:
    """Return element ``i`` of a 1D texture with unnormalized coordinates, as ``tex1D`` at
    ``i + 0.5``."""
    return texture.at(i + 0.5)


# ---- surfaces ----------------------------------------------------------------------------------

_BOUNDARY_MODE = "cudaBoundaryModeZero"  # elements outside read as 0 and are not written


def _surface(name: str) -> Spelling:
    """Return the spelling of a surface function, whose x coordinate is in bytes in CUDA."""

    def spell(a: Mapping[str, c.Expr], dtype: DType) -> c.Expr:
        size = c.Number(str(dtype.size))
        coordinates = {**a, "x": c.BinaryExpr("*", a["x"], size) if dtype.size > 1 else a["x"]}
        return c.CallExpr(f"{name}<{dtype.cuda}>", (*coordinates.values(), c.Name(_BOUNDARY_MODE)))

    return spell


def _declare_surface(body: Callable[..., Any]) -> Intrinsic:
    name = body.__name__
    return intrinsic(f"cuda.{name}", effect=Effect.MEMORY, cuda=_surface(name), c=helper(name))(
        body
    )


@_declare_surface
def surf1Dread(surface: surface1d, x: int) -> T:
    """Element ``x`` of a surface; 0 outside of it."""
    return surface.element(x)


@_declare_surface
def surf2Dread(surface: surface2d, x: int, y: int) -> T:
    """The element of a surface at ``x`` along its last axis and ``y`` along its first; 0 outside of
    it."""
    return surface.element(x, y)


@_declare_surface
def surf3Dread(surface: surface3d, x: int, y: int, z: int) -> T:
    """The element of a surface at ``x`` along its last axis, ``y`` and ``z`` along those before; 0
    outside of it."""
    return surface.element(x, y, z)


@_declare_surface
def surf1Dwrite(value: T, surface: surface1d, x: int) -> None:
    """Set element ``x`` of a surface; a write outside of it is ignored."""
    surface.set_element(value, x)


@_declare_surface
def surf2Dwrite(value: T, surface: surface2d, x: int, y: int) -> None:
    """Set the element at ``x``, ``y`` of a surface; a write outside of it is ignored."""
    surface.set_element(value, x, y)


@_declare_surface
def surf3Dwrite(value: T, surface: surface3d, x: int, y: int, z: int) -> None:
    """Set the element at ``x``, ``y``, ``z`` of a surface; a write outside of it is ignored."""
    surface.set_element(value, x, y, z)
