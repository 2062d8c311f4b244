"""CUDA's integer functions: high products, averages, dot products, permutations, funnel shifts."""

from __future__ import annotations

from collections.abc import Callable

from pycu2c.base.dtypes import DType
from pycu2c.base.types import Scalar
from pycu2c.base.values import convert
from pycu2c.ops.intrinsics.integers.bits import split_word
from pycu2c.ops.intrinsics.kinds import FIXED
from pycu2c.ops.intrinsics.registry import Intrinsic, declare
from pycu2c.ops.intrinsics.spelling import overloaded


def _declare(
    name: str, types: str, compute: Callable[..., int], doc: str, cuda: str = ""
) -> Intrinsic:
    """Declare a function; ``types`` are those of the parameters x, y, z and of the result."""
    *kinds, result_kind = types.split()
    result = Scalar(FIXED[result_kind])
    signature = ", ".join(f"{parameter}: {kind}" for parameter, kind in zip("xyz", kinds))
    return declare(
        __name__,
        f"cuda.{name}",
        f"{signature} -> {result_kind}",
        lambda *numbers: convert(compute(*map(int, numbers)), result),
        doc,
        cuda=overloaded(cuda or f"__{name}"),
        c=overloaded(name),
    )


# ---- products ----------------------------------------------------------------------------------


def _upper(dtype: DType) -> Callable[[int, int], int]:
    return lambda x, y: (x * y) >> dtype.bits


def _signed_24(x: int) -> int:
    return ((x & 0xFFFFFF) ^ 0x800000) - 0x800000


_declare("mulhi", "int32 int32 int32", _upper(FIXED["int32"]), "The upper 32 bits of ``x * y``.")
_declare(
    "umulhi", "uint32 uint32 uint32", _upper(FIXED["uint32"]), "The upper 32 bits of ``x * y``."
)
_declare("mul64hi", "int64 int64 int64", _upper(FIXED["int64"]), "The upper 64 bits of ``x * y``.")
_declare(
    "umul64hi", "uint64 uint64 uint64", _upper(FIXED["uint64"]), "The upper 64 bits of ``x * y``."
)
_declare(
    "mul24",
    "int32 int32 int32",
    lambda x, y: _signed_24(x) * _signed_24(y),
    "The lower 32 bits of the product of the lower 24 bits of each.",
)
_declare(
    "umul24",
    "uint32 uint32 uint32",
    lambda x, y: (x & 0xFFFFFF) * (y & 0xFFFFFF),
    "The lower 32 bits of the product of the lower 24 bits of each.",
)

# ---- averages, differences ---------------------------------------------------------------------

_AVERAGES = (
    ("hadd", 0, "The average of ``x`` and ``y``, rounded down, without overflow."),
    ("rhadd", 1, "The average of ``x`` and ``y``, rounded up, without overflow."),
)
for _name, _carry, _doc in _AVERAGES:
    for _sign, _kind in (("", "int32"), ("u", "uint32")):
        _declare(
            f"{_sign}{_name}",
            f"{_kind} {_kind} {_kind}",
            lambda x, y, carry=_carry: (x + y + carry) >> 1,
            _doc,
        )
_declare("sad", "int32 int32 uint32 uint32", lambda x, y, z: abs(x - y) + z, "``|x - y| + z``.")
_declare("usad", "uint32 uint32 uint32 uint32", lambda x, y, z: abs(x - y) + z, "``|x - y| + z``.")


# ---- bytes -------------------------------------------------------------------------------------


def _byte_perm(x: int, y: int, z: int) -> int:
    source = [*split_word(x, 8, False), *split_word(y, 8, False)]
    return sum(source[z >> 4 * position & 7] << 8 * position for position in range(4))


_declare(
    "byte_perm",
    "uint32 uint32 uint32 uint32",
    _byte_perm,
    "Four of the eight bytes of ``x`` and ``y``, the lowest first; the lower 3 bits of each 4 bits "
    "of ``z`` select one.",
)


def _dot(bits: int, signed: bool, start: int = 0) -> Callable[[int, int, int], int]:
    """Return a dot product; ``start`` is the first byte of the second word."""

    def compute(x: int, y: int, z: int) -> int:
        pairs = zip(split_word(x, bits, signed), split_word(y, 8, signed)[start:])
        return sum(a * b for a, b in pairs) + z

    return compute


for _kind, _signed, _prefix in (("int32", True, ""), ("uint32", False, "u")):
    _types = f"{_kind} {_kind} {_kind} {_kind}"
    for _stem, _bits, _start, _doc in (
        ("dp4a", 8, 0, "``z``, and the products of the four bytes of ``x`` with those of ``y``."),
        ("dp2a_lo", 16, 0, "``z``, and the halves of ``x`` times the lower two bytes of ``y``."),
        ("dp2a_hi", 16, 2, "``z``, and the halves of ``x`` times the upper two bytes of ``y``."),
    ):
        _declare(f"{_prefix}{_stem}", _types, _dot(_bits, _signed, _start), _doc, f"__{_stem}")


# ---- two words, shifted ------------------------------------------------------------------------


def _funnel(left: bool, clamps: bool) -> Callable[[int, int, int], int]:
    def compute(x: int, y: int, z: int) -> int:
        joined, shift = y << 32 | x, min(z, 32) if clamps else z & 31
        return joined << shift >> 32 if left else joined >> shift

    return compute


for _name, _left, _clamps, _doc in (
    ("funnelshift_l", True, False, "The upper word of ``y:x`` shifted left by ``z & 31``."),
    ("funnelshift_lc", True, True, "The upper word of ``y:x`` shifted left by ``min(z, 32)``."),
    ("funnelshift_r", False, False, "The lower word of ``y:x`` shifted right by ``z & 31``."),
    ("funnelshift_rc", False, True, "The lower word of ``y:x`` shifted right by ``min(z, 32)``."),
):
    _declare(_name, "uint32 uint32 uint32 uint32", _funnel(_left, _clamps), _doc)
