"""Print C expressions and types. Only this module writes parentheses.

Parentheses follow the precedence of C operators and the warnings of gcc's ``-Wparentheses``.
"""

from __future__ import annotations

from typing import assert_never

from pycu2c.csyntax import nodes as c

# ---- expressions ---------------------------------------------------------------------------

_OPERATOR_LEVELS: tuple[tuple[str, ...], ...] = (
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
_PRECEDENCE = {op: level for level, ops in enumerate(_OPERATOR_LEVELS, start=1) for op in ops}
_CONDITIONAL, _UNARY, _PRIMARY = 0, len(_OPERATOR_LEVELS) + 1, len(_OPERATOR_LEVELS) + 2

_COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">="})
_SHIFTS = frozenset({"<<", ">>"})
_BITWISE = frozenset({"&", "|", "^"})
_LOGICAL = frozenset({"&&", "||"})


def print_expr(e: c.Expr) -> str:
    """Return the text of an expression, with the parentheses that C, gcc or a reader needs."""
    match e:
        case c.Name(text) | c.Number(text):
            return text
        case c.String(value):
            return _quoted(value)
        case c.UnaryExpr(op, operand):
            return print_prefix(op, operand)
        case c.BinaryExpr(op, left, right):
            return f"{_operand(op, left, 0)} {op} {_operand(op, right, 1)}"
        case c.Conditional(condition, then, orelse):
            wrap_test = isinstance(condition, c.Conditional) or _operator(condition) in _LOGICAL
            test = _parenthesized(print_expr(condition), wrap_test)
            first = _parenthesized(print_expr(then), isinstance(then, c.Conditional))
            return f"{test} ? {first} : {print_expr(orelse)}"
        case c.CallExpr(function, arguments):
            return f"{function}({', '.join(map(print_expr, arguments))})"
        case c.Index(base, index):
            return f"{_postfix_operand(base)}[{print_expr(index)}]"
        case c.MemberExpr(base, field, arrow):
            return f"{_postfix_operand(base)}{'->' if arrow else '.'}{field}"
        case c.CastExpr(type_, operand):
            return f"({print_type(type_)}){print_unary_operand(operand)}"
        case c.CompoundLiteral(head, items):
            return f"{head}{{{', '.join(map(print_expr, items))}}}"
        case _:
            assert_never(e)


def _precedence(e: c.Expr) -> int:
    """Return the precedence of an expression; a greater number binds more tightly."""
    match e:
        case c.BinaryExpr(op, _, _):
            return _PRECEDENCE[op]
        case c.Conditional():
            return _CONDITIONAL
        case c.UnaryExpr() | c.CastExpr():
            return _UNARY
        case c.Number(text):
            return _UNARY if text[0] in "+-" else _PRIMARY
        case _:
            return _PRIMARY


def _operator(e: c.Expr) -> str:
    return e.op if isinstance(e, c.BinaryExpr | c.UnaryExpr) else ""


def _parenthesized(text: str, condition: bool) -> str:
    return f"({text})" if condition else text


def _operand(op: str, e: c.Expr, side: int) -> str:
    """Print the left (side 0) or right (side 1) operand of a binary operator."""
    needed = _precedence(e) < _PRECEDENCE[op] + side  # all binary operators are left-associative
    return _parenthesized(print_expr(e), needed or _is_confusing(op, e))


def _is_confusing(op: str, e: c.Expr) -> bool:
    """Return whether gcc warns about, or a reader may misread, an operand without parentheses."""
    if isinstance(e, c.UnaryExpr):
        return e.op == "!" and op in _BITWISE | _COMPARISONS
    if not isinstance(e, c.BinaryExpr):
        return False
    inner = e.op
    if op in _BITWISE:
        return inner != op
    if op in _SHIFTS:
        return True
    if op in _COMPARISONS:
        return inner in _SHIFTS | _COMPARISONS
    if op in _LOGICAL:
        return inner in _BITWISE or (inner in _LOGICAL and inner != op)
    # `a * b * c` and `a * b / c` read well
    if op in _OPERATOR_LEVELS[-1] and inner in _OPERATOR_LEVELS[-1]:
        return inner != "*" or op == "%"
    return False


def print_prefix(op: str, operand: c.Expr) -> str:
    """Print a prefix operator: ``-x``, but ``-(-x)``, because ``--x`` is one token."""
    text = print_unary_operand(operand)
    return op + _parenthesized(text, op[-1] in "+-&" and text[0] == op[-1])


def print_unary_operand(e: c.Expr) -> str:
    """Print the operand of a prefix operator or a cast."""
    return _parenthesized(print_expr(e), _precedence(e) < _UNARY)


def _postfix_operand(e: c.Expr) -> str:
    """Print the operand before ``[`` or ``.``; a number needs parentheses, as in ``(1.).x``."""
    return _parenthesized(print_expr(e), _precedence(e) < _PRIMARY or isinstance(e, c.Number))


_ESCAPES = {ord('"'): '\\"', ord("\\"): "\\\\", ord("\n"): "\\n", ord("\t"): "\\t"}


def _quoted(value: str) -> str:
    """Return a string literal. Octal escapes end after three digits; hexadecimal ones do not."""
    out: list[str] = []
    for byte in value.encode("utf-8", "surrogatepass"):
        if byte == ord("?") and out and out[-1] in ("?", "\\?"):
            out.append("\\?")  # two question marks may begin a trigraph
        elif byte in _ESCAPES:
            out.append(_ESCAPES[byte])
        else:
            out.append(chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}")
    return f'"{"".join(out)}"'


# ---- types ---------------------------------------------------------------------------------


def print_type(t: c.CType, name: str = "") -> str:
    """Return the text of a type, or of a declaration of ``name``: ``float (*row)[16]``."""
    match t:
        case c.NamedType(text, const):
            base = f"const {text}" if const else text
            return f"{base} {name}" if name else base
        case c.PointerType(pointee, const, restrict):
            flags = (("const", const), ("__restrict__", restrict))
            qualifiers = [qualifier for qualifier, is_set in flags if is_set]
            star = "*" + " ".join([*qualifiers, name] if name else qualifiers)
            return print_type(pointee, _parenthesized(star, isinstance(pointee, c.ArrayType)))
        case c.ArrayType(element, extents):
            return print_type(element, name + ("".join(f"[{n}]" for n in extents) or "[]"))
        case _:
            assert_never(t)
