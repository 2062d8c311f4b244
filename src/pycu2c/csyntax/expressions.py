"""C expressions and types -> text. The only place that writes parentheses.

Knows C's grammar and gcc's ``-Wparentheses``; knows nothing of statements.
"""

from __future__ import annotations

from typing import assert_never

from pycu2c.csyntax.nodes import (
    ArrayOf,
    Binary,
    Braced,
    Call,
    Cast,
    Conditional,
    CType,
    Expr,
    Index,
    Member,
    Name,
    Named,
    Number,
    Pointer,
    String,
    Unary,
)

# ---- expressions ---------------------------------------------------------------------------

_LEVELS: tuple[tuple[str, ...], ...] = (
    ("||",),
    ("&&",),
    ("|",),
    ("^",),
    ("&",),
    ("==", "!="),
    ("<", "<=", ">", ">="),
    ("<<", ">>"),
    ("+", "-"),
    ("*", "/", "%"),
)
_BINDING = {op: level for level, ops in enumerate(_LEVELS, start=1) for op in ops}
_CONDITIONAL, _UNARY, _PRIMARY = 0, len(_LEVELS) + 1, len(_LEVELS) + 2

_COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">="})
_SHIFTS = frozenset({"<<", ">>"})
_BITS = frozenset({"&", "|", "^"})
_LOGIC = frozenset({"&&", "||"})


def print_expr(e: Expr) -> str:
    """An expression, with the parentheses that C, gcc's warnings or a reader ask for."""
    match e:
        case Name(text) | Number(text):
            return text
        case String(value):
            return _quoted(value)
        case Unary(op, operand):
            return prefixed(op, operand)
        case Binary(op, left, right):
            return f"{_operand(op, left, 0)} {op} {_operand(op, right, 1)}"
        case Conditional(condition, then, orelse):
            alone = isinstance(condition, Conditional) or _operator(condition) in _LOGIC
            test = _wrapped(print_expr(condition), alone)
            chosen = _wrapped(print_expr(then), isinstance(then, Conditional))
            return f"{test} ? {chosen} : {print_expr(orelse)}"
        case Call(function, arguments):
            return f"{function}({', '.join(map(print_expr, arguments))})"
        case Index(base, index):
            return f"{_base(base)}[{print_expr(index)}]"
        case Member(base, field, arrow):
            return f"{_base(base)}{'->' if arrow else '.'}{field}"
        case Cast(type_, operand):
            return f"({print_type(type_)}){tight(operand)}"
        case Braced(head, items):
            return f"{head}{{{', '.join(map(print_expr, items))}}}"
        case _:
            assert_never(e)


def _binding(e: Expr) -> int:
    """How tightly an expression holds together; tighter is greater."""
    match e:
        case Binary(op, _, _):
            return _BINDING[op]
        case Conditional():
            return _CONDITIONAL
        case Unary() | Cast():
            return _UNARY
        case Number(text):
            return _UNARY if text[0] in "+-" else _PRIMARY
        case _:
            return _PRIMARY


def _operator(e: Expr) -> str:
    return e.op if isinstance(e, Binary | Unary) else ""


def _wrapped(text: str, wanted: bool) -> str:
    return f"({text})" if wanted else text


def _operand(op: str, e: Expr, side: int) -> str:
    """The left (side 0) or right (1) operand of a binary operator."""
    needed = _binding(e) < _BINDING[op] + side  # all of them associate to the left
    return _wrapped(print_expr(e), needed or _is_confusing(op, e))


def _is_confusing(op: str, e: Expr) -> bool:
    """Whether gcc or a reader would ask for parentheses that the grammar does not."""
    if isinstance(e, Unary):
        return e.op == "!" and op in _BITS | _COMPARISONS
    if not isinstance(e, Binary):
        return False
    inner = e.op
    if op in _BITS:
        return inner != op
    if op in _SHIFTS:
        return True
    if op in _COMPARISONS:
        return inner in _SHIFTS | _COMPARISONS
    if op in _LOGIC:
        return inner in _BITS or (inner in _LOGIC and inner != op)
    if op in _LEVELS[-1] and inner in _LEVELS[-1]:  # `a * b * c` and `a * b / c` read well
        return inner != "*" or op == "%"
    return False


def prefixed(op: str, operand: Expr) -> str:
    """``-x``, but ``-(-x)``: two tokens never run into one."""
    text = tight(operand)
    return op + _wrapped(text, op[-1] in "+-&" and text[0] == op[-1])


def tight(e: Expr) -> str:
    """The operand of a prefix operator or a cast."""
    return _wrapped(print_expr(e), _binding(e) < _UNARY)


def _base(e: Expr) -> str:
    """What stands before ``[`` or ``.``; a number's own dot is kept away from it."""
    return _wrapped(print_expr(e), _binding(e) < _PRIMARY or isinstance(e, Number))


_ESCAPES = {ord('"'): '\\"', ord("\\"): "\\\\", ord("\n"): "\\n", ord("\t"): "\\t"}


def _quoted(value: str) -> str:
    """A literal that nothing in the text can end; octal, as it never takes in what follows."""
    out: list[str] = []
    for byte in value.encode("utf-8", "surrogatepass"):
        if byte == ord("?") and out and out[-1] in ("?", "\\?"):
            out.append("\\?")  # two in a row may begin a trigraph
        elif byte in _ESCAPES:
            out.append(_ESCAPES[byte])
        else:
            out.append(chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}")
    return f'"{"".join(out)}"'


# ---- types ---------------------------------------------------------------------------------


def print_type(t: CType, name: str = "") -> str:
    """A type, or the declaration of ``name`` with it: ``float (*row)[16]``."""
    match t:
        case Named(text, const):
            base = f"const {text}" if const else text
            return f"{base} {name}" if name else base
        case Pointer(to, const, restrict):
            words = [w for w, on in (("const", const), ("__restrict__", restrict)) if on]
            star = "*" + " ".join([*words, name] if name else words)
            return print_type(to, _wrapped(star, isinstance(to, ArrayOf)))
        case ArrayOf(of, extents):
            return print_type(of, name + ("".join(f"[{n}]" for n in extents) or "[]"))
        case _:
            assert_never(t)
