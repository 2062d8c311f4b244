"""Helpers for atomic operations that neither CUDA nor gcc has.

Each has three forms: a compare-exchange loop in CUDA C, the same in C, and a non-atomic form for
memory that only one OS thread accesses.
"""

from __future__ import annotations

import re
from string import Template

from pycu2c.base.dtypes import BFLOAT16, FLOAT16, FLOAT32, FLOAT64, DType
from pycu2c.base.records import dataclass
from pycu2c.codegen.half_types import conversion
from pycu2c.codegen.helpers.templates import Helper, c_definition


@dataclass(frozen=True, slots=True)
class _Update:
    """The new value of an element: a formula of ``old`` and ``value``.

    ``condition`` tells whether to update; it is a formula of these and of ``expected``.
    ``float_condition`` replaces it for floats.
    """

    comment: str
    new: str
    condition: str = ""
    float_condition: str = ""


_UPDATES = {
    "add": _Update("*place += value", "old + value"),
    "sub": _Update("*place -= value", "old - value"),
    "and_": _Update("*place &= value", "old & value"),
    "or_": _Update("*place |= value", "old | value"),
    "xor": _Update("*place ^= value", "old ^ value"),
    "inc": _Update("*place = *place + 1, or 0 from value on", "old >= value ? 0 : old + 1"),
    "dec": _Update(
        "*place = *place - 1, or value from 0 and above value",
        "old == 0 || old > value ? value : old - 1",
    ),
    "exch": _Update("*place = value", "value"),
    "max": _Update("*place = max(*place, value)", "value", "value > old"),
    "min": _Update("*place = min(*place, value)", "value", "value < old"),
    "nanmax": _Update(
        "*place = max(*place, value), ignoring NaN",
        "value",
        "value > old",
        "value > old || (old != old && value == value)",
    ),
    "nanmin": _Update(
        "*place = min(*place, value), ignoring NaN",
        "value",
        "value < old",
        "value < old || (old != old && value == value)",
    ),
    "cas": _Update("if (*place == expected) *place = value", "value", "old == expected"),
}

# CUDA's compare-and-swap takes integers of 16, 32 and 64 bits
_UPDATE_LOOP, _CONDITIONAL_LOOP, _EXCHANGE, _COMPARE_EXCHANGE, _PLAIN_UPDATE, _CUDA_LOOP = (
    c_definition("c/atomic").split("\n\n")
)
_WORD_OF_BYTE = """\
    const unsigned long long address = (unsigned long long)place;
    unsigned short *const word = (unsigned short *)(address & ~1ULL);  // a byte is one half of it
    const int shift = 8 * (int)(address & 1);"""
_BIT_CONVERSIONS = {
    FLOAT16: ("__ushort_as_half(was)", "__half_as_ushort(next)"),
    BFLOAT16: ("__ushort_as_bfloat16(was)", "__bfloat16_as_ushort(next)"),
    FLOAT32: ("__uint_as_float(was)", "__float_as_uint(next)"),
    FLOAT64: (
        "__longlong_as_double((long long)was)",
        "(unsigned long long)__double_as_longlong(next)",
    ),
}
_WORD_WITH_BYTE = "(unsigned short)((was & ~(0xff << shift)) | (unsigned char)next << shift)"
_WORD_TYPES = {
    8: "unsigned short",
    16: "unsigned short",
    32: "unsigned int",
    64: "unsigned long long",
}


def atomic_text(helper: str, dtype: DType, dialect: str) -> str:
    """Return the template of a helper, with placeholders for qualifiers and types."""
    prefix, _, name = helper.partition("_")
    update = _UPDATES[name]
    condition = (dtype.is_float and update.float_condition) or update.condition
    values = {
        "name": name,
        "comment": update.comment,
        "parameters": "$T expected, $T value" if name == "cas" else "$T value",
        "new": _new_value(update.new, dtype, dialect),
        "condition": _as_floats(condition, dtype, dialect),
    }
    if prefix == "plain":
        values["if"] = f"if ({values['condition']}) " if condition else ""
        return Template(_PLAIN_UPDATE).safe_substitute(values)
    if dialect == "c":
        builtins = (
            {"exch": _EXCHANGE} if dtype.is_float else {"cas": _COMPARE_EXCHANGE, "exch": _EXCHANGE}
        )
        text = builtins.get(name, _CONDITIONAL_LOOP if condition else _UPDATE_LOOP)
        return Template(text).safe_substitute(values)
    loop = _loop_over_word(dtype, values["new"], values["condition"])
    return Template(_CUDA_LOOP).safe_substitute(values | loop)


def _loop_over_word(dtype: DType, new: str, condition: str) -> dict[str, str]:
    """Return the loop in CUDA C over the word that contains a value."""
    word_type, word, value, word_of_next = _word_of(dtype)
    steps = f"        const $T old = {value};\n" if condition or "old" in new else ""
    steps += f"        if (!({condition})) break;\n" if condition else ""
    if new == "value":
        word_of_next = re.sub(r"\bnext\b", "value", word_of_next)
    else:
        steps += f"        const $T next = {new};\n"
    return {"word_type": word_type, "word": word, "steps": steps, "from": value, "to": word_of_next}


def _word_of(dtype: DType) -> tuple[str, str, str, str]:
    """Return the type and address of the word that contains a value, and the conversions."""
    word_type = _WORD_TYPES[dtype.bits]
    word = f"    {word_type} *const word = ({word_type} *)place;"
    if dtype in _BIT_CONVERSIONS:
        return word_type, word, *_BIT_CONVERSIONS[dtype]
    if dtype.bits == 8:
        return word_type, _WORD_OF_BYTE, "($T)(was >> shift)", _WORD_WITH_BYTE
    return (
        word_type,
        word,
        *(("($T)was", f"({word_type})next") if dtype.is_signed else ("was", "next")),
    )


def _new_value(formula: str, dtype: DType, dialect: str) -> str:
    """Return a formula in the type of the element; sums of signed integers are unsigned to wrap."""
    if " " not in formula:  # ``value``
        return formula
    if dtype.is_half:
        return f"{conversion(FLOAT32, dtype, dialect)}({_as_floats(formula, dtype, dialect)})"
    if dtype.is_signed and formula[4] in "+-":  # ``old + value``, ``old - value``
        return f"($T)(($W)old {formula[4]} ($W)value)"
    return formula


def _as_floats(formula: str, dtype: DType, dialect: str) -> str:
    """Return a condition, in which halves are compared as floats."""
    if not dtype.is_half:
        return formula
    wide = conversion(dtype, FLOAT32, dialect) + r"(\1)"
    return re.sub(r"\b(old|value|expected)\b", wide, formula)


ATOMIC_HELPERS = dict.fromkeys(
    tuple(f"{prefix}_{name}" for name in _UPDATES for prefix in ("atomic", "plain")),
    Helper(generate=atomic_text),
)
