"""C names for the variables of a function: the user's own wherever C and CUDA allow them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from pycu2c.ir.nodes import Allocate, Body, Declare, For, Function, Module
from pycu2c.ir.walk import bodies
from pycu2c.types import Array

# C and C++ keywords, and what CUDA or the C headers declare under names that people like
RESERVED = frozenset(
    """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl const
    constexpr const_cast continue decltype default delete do double dynamic_cast else enum
    explicit export extern false float for friend goto if inline int long mutable namespace new
    noexcept not not_eq nullptr operator or or_eq private protected public register
    reinterpret_cast restrict return short signed sizeof static static_assert static_cast struct
    switch template this thread_local throw true try typedef typeid typename union unsigned using
    virtual void volatile wchar_t while xor xor_eq typeof asm linux unix
    threadIdx blockIdx blockDim gridDim warpSize dim3 uint3 clock clock64 printf assert malloc
    free memcpy memset nan nanf y0 y1 yn j0 j1 jn index rindex time norm rnorm norm3d norm4d abs
    labs llabs min max div ldiv exp log pow sin cos tan sqrt rsqrt fabs floor ceil round trunc
    rint fma fmod gamma lgamma tgamma erf erfc erfinv erfcinv cbrt rcbrt hypot rhypot acos asin
    atan atan2 sinh cosh tanh exp2 exp10 expm1 log2 log10 log1p logb ilogb ldexp frexp modf
    scalbn nearbyint remainder remquo copysign nextafter fdim fmax fmin signbit isnan isinf
    isfinite isnormal signgam significand drem finite random srandom rand srand abort exit atexit
    system select signal saturate mul24 umul24 main args block thread first_block last_block
    state int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t size_t NULL
    INFINITY NAN near far
    """.split()  # noqa: SIM905
)


def identifier(name: str) -> str:
    """A C identifier close to a Python name: ``größe`` -> ``gru00f6u00dfe``, ``double_``."""
    plain = "".join(c if c.isascii() else f"u{ord(c):04x}" for c in name)
    plain = re.sub(r"\W", "_", plain)
    starts_reserved = plain.startswith("__") or re.match(r"_[A-Z]", plain) or plain[:1].isdigit()
    if starts_reserved:
        plain = "v" + plain
    return f"{plain}_" if plain in RESERVED else plain


def _spelled(name: str, ndim: int) -> str:
    """The name that a variable would like: ``a.shape.0`` -> ``a_len``; versions are dropped."""
    base, *rest = name.split(".")
    for kind in ("shape", "stride"):
        if kind in rest:
            axis = rest[rest.index(kind) + 1]
            return f"{base}_len" if (kind, ndim) == ("shape", 1) else f"{base}_{kind}{axis}"
    if "item" in rest:
        return f"{base}_{rest[rest.index('item') - 1]}"
    return f"{base}_given" if "given" in rest else base


@dataclass(slots=True)
class Names:
    """The C name of each variable of one function; no two that are visible together share one."""

    taken: frozenset[str]  # the functions of the file
    known: dict[str, str] = field(default_factory=dict)

    def __getitem__(self, name: str) -> str:
        return self.known[name]

    def give(self, name: str, visible: set[str], ndim: int = 0) -> None:
        wish = identifier(_spelled(name, ndim))
        chosen, count = wish, 0
        while chosen in visible or chosen in self.taken:
            count += 1
            chosen = f"{wish.rstrip('_')}_{count}"
        self.known[name] = chosen
        visible.add(chosen)


def name_variables(function: Function, taken: Iterable[str]) -> Names:
    """Names for parameters first, then for what each block declares."""
    names = Names(frozenset(taken))
    ndims = {p.argument: p.type.ndim for p in function.parameters if isinstance(p.type, Array)}
    visible: set[str] = set()
    for p in function.parameters:
        names.give(p.name, visible, ndims.get(p.argument, 0))
    _name_block(function.body, names, visible)
    return names


def _name_block(body: Body, names: Names, visible: set[str]) -> None:
    visible = set(visible)
    for s in body:
        if isinstance(s, (Declare, Allocate)):
            names.give(s.var.name, visible)
    for s in body:
        inner = set(visible)
        if isinstance(s, For):
            names.give(s.var.name, inner)
        for block in bodies(s):
            _name_block(block, names, inner)


def function_names(module: Module) -> dict[str, str]:
    """C names of the module's functions, by their names in the IR."""
    names: dict[str, str] = {}
    for function in (module.kernel, *module.devices):
        wish = identifier(function.name.split(".")[0])
        chosen, count = wish, 0
        while chosen in names.values():
            count += 1
            chosen = f"{wish.rstrip('_')}_{count}"
        names[function.name] = chosen
    return names
