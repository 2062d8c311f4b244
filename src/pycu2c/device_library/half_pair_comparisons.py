"""Comparisons of ``half2`` and ``bfloat162`` by CUDA's names: twelve, each in three forms.

Which one it is, and what a NaN answers, the comparison of one number says; CUDA has an instruction
for each form.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pycu2c.ops.intrinsics.floats.half_names  # noqa: F401  # the comparisons of one number
from pycu2c.inline_c.functions import c_function
from pycu2c.ops.intrinsics.registry import REGISTRY, Intrinsic

_NAMES = ("eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu")


def _pair(compared: Any) -> Callable[..., Any]:
    def pair(a: Any, b: Any) -> Any:
        a.x, a.y = float(compared(a.x, b.x)), float(compared(a.y, b.y))
        return a

    return pair


def _both(compared: Any) -> Callable[..., Any]:
    def both(a: Any, b: Any) -> Any:
        return compared(a.x, b.x) and compared(a.y, b.y)

    return both


def _mask(compared: Any) -> Callable[..., Any]:
    def mask(a: Any, b: Any) -> Any:
        return (0xFFFF if compared(a.x, b.x) else 0) | (0xFFFF0000 if compared(a.y, b.y) else 0)

    return mask


# the name, what is made of a comparison, what it gives if not a pair, and what that means
_FORMS: tuple[tuple[str, Callable[[Any], Callable[..., Any]], str, str], ...] = (
    ("h{}2", _pair, "", "1.0 where {}, else 0.0."),
    ("hb{}2", _both, "bool", "Whether in both components {}."),
    ("h{}2_mask", _mask, "uint32", "The 16 bits of a component are 1 where {}, else 0."),
)


def comparisons(room: str, kind: Any) -> dict[str, Any]:
    """The comparisons of ``cuda.fp16`` or ``cuda.bf16``."""
    made = {}
    for short in _NAMES:
        compared = REGISTRY[f"cuda.{room}.h{short}"]
        for pattern, form, gives, doc in _FORMS:
            name = pattern.format(short)
            function = form(compared)
            function.__name__ = function.__qualname__ = name
            function.__doc__ = doc.format(_told(compared))
            signature = f"{gives or kind}({kind}, {kind})"
            text = f"return __{name}(a, b);"
            made[name] = c_function(cuda=text, pure=True, signature=signature)(function)
    return made


def _told(compared: Intrinsic) -> str:
    """``a == b`` in the words of the comparison of one number."""
    told = compared.doc.partition(":")[0].rstrip(".")
    return told.replace("x ", "a ").replace(" y", " b")
