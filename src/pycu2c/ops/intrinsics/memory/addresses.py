"""Addresses of elements, from which checks compute where the shadow of an element is."""

from __future__ import annotations

from pycu2c.base.dtypes import UINT64
from pycu2c.csyntax import nodes as c
from pycu2c.ops.intrinsics.kinds import array, index, uint64
from pycu2c.ops.intrinsics.registry import intrinsic


@intrinsic(
    "check.address",
    reads=True,
    cuda=lambda a, _: c.CastExpr(c.NamedType(UINT64.cuda), a["array"]),
    c=lambda a, _: c.CastExpr(c.NamedType(UINT64.c), a["array"]),
)
def address_of(array: array, index: index) -> uint64:
    """Return the address of ``array[index]``, in bytes."""
    base: int = array.__array_interface__["data"][0]
    offsets = (i * stride for i, stride in zip(index, array.strides))
    return array.dtype.type(base + sum(offsets))
