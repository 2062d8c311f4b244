"""Define comparisons of ``half2`` and ``bfloat162`` with CUDA's names: twelve, each in three forms.

The scalar comparisons define the NaN semantics. CUDA has an instruction for each form.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pycu2c.ops.intrinsics.floats.half_names  # noqa: F401  # registers the scalar comparisons
from pycu2c.inline_c.functions import c_function
from pycu2c.ops.intrinsics.registry import REGISTRY, Intrinsic

_SUFFIXES = ("eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu")


def _pair(comparison: Any) -> Callable[..., Any]:
    def pair(a: Any, b: Any) -> Any:
        a.x, a.y = float(comparison(a.x, b.x)), float(comparison(a.y, b.y))
        return a

    return pair


def _both(comparison: Any) -> Callable[..., Any]:
    def both(a: Any, b: Any) -> Any:
        return comparison(a.x, b.x) and comparison(a.y, b.y)

    return both


def _mask(comparison: Any) -> Callable[..., Any]:
    def mask(a: Any, b: Any) -> Any:
        return (0xFFFF if comparison(a.x, b.x) else 0) | (0xFFFF0000 if comparison(a.y, b.y) else 0)

    return mask


# (name, maker of the function, result type if not a pair, docstring)
_FORMS: tuple[tuple[str, Callable[[Any], Callable[..., Any]], str, str], ...] = (
    ("h{}2", _pair, "", "1.0 where {}, else 0.0."),
    ("hb{}2", _both, "bool", "Whether in both components {}."),
    ("h{}2_mask", _mask, "uint32", "The 16 bits of a component are 1 where {}, else 0."),
)


def comparisons(module: str, pair_type: Any) -> dict[str, Any]:
    """Return the comparisons of ``cuda.fp16`` or ``cuda.bf16`` by name."""
    functions = {}
    for suffix in _SUFFIXES:
        comparison = REGISTRY[f"cuda.{module}.h{suffix}"]
        for pattern, make_function, result, doc in _FORMS:
            name = pattern.format(suffix)
            function = make_function(comparison)
            function.__name__ = function.__qualname__ = name
            function.__doc__ = doc.format(_description(comparison))
            signature = f"{result or pair_type}({pair_type}, {pair_type})"
            text = f"return __{name}(a, b);"
            functions[name] = c_function(cuda=text, pure=True, signature=signature)(function)
    return functions


def _description(comparison: Intrinsic) -> str:
    """Return the scalar comparison's description with ``a`` and ``b`` as operands."""
    description = comparison.doc.partition(":")[0].rstrip(".")
    return description.replace("x ", "a ").replace(" y", " b")
