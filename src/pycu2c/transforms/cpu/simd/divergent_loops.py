"""CPU: which loops that threads leave at different times are worth running in strips of threads
that go together, some of them masked off. Decides; moves nothing.

What pays was measured with gcc 12 with AVX2 alone and with AVX-512: a loop of floats or 32-bit
ints is two to twelve times as fast. One whose values are 64-bit ints is not: AVX2 multiplies and
converts none. Nor is one with memory accesses, as a thread alone walks along its cache lines.
And a loop that counts the bits of a number is none to compilers: they know a word for it.
"""

from __future__ import annotations

from collections.abc import Iterator

from pycu2c.analysis import uniformity
from pycu2c.analysis.effects import block_level_functions
from pycu2c.base.dtypes import FLOAT32
from pycu2c.base.types import Scalar
from pycu2c.ir.builders import scalar_type
from pycu2c.ir.call_graph import recursive_functions
from pycu2c.ir.nodes import (
    Apply,
    Assign,
    Binary,
    Body,
    Break,
    Cast,
    Const,
    Continue,
    Declare,
    Expr,
    For,
    Function,
    If,
    Let,
    Logical,
    Module,
    Print,
    Return,
    Select,
    Stmt,
    Unary,
    Var,
    While,
)
from pycu2c.ir.walk import all_expressions, bodies, statements
from pycu2c.ops.intrinsics.builtins import OPERATOR_INTRINSICS
from pycu2c.ops.operators import ADD, AND, FLOORDIV, MOD, POW, QUOTIENT, REMAINDER, SUB, truth

_VECTORISED = frozenset(
    (
        "abs",
        "python.floordiv",
        "python.mod",
        "python.shl",
        "python.shr",
        "min",
        "max",
        "numpy.minimum",
        "numpy.maximum",
        "math.sqrt",
        "math.hypot",
        "math.fabs",
        "math.copysign",
        "cuda.fma",
    )
)
_WRITTEN_OUT = ("math.exp", "math.log")  # in arithmetic, for float32
_DIVISIONS = (OPERATOR_INTRINSICS[FLOORDIV], OPERATOR_INTRINSICS[MOD])
_COUNTING = (ADD, SUB)  # all that 64-bit ints may do in such a loop


def divergent_loops(body: Body, facts: uniformity.Uniformity) -> frozenset[Stmt]:
    """The outermost loops of a kernel that threads are to run in strips."""
    if any(isinstance(s, Print) for s in statements(body)):
        return frozenset()  # what threads print comes in their order
    return frozenset(_found(body, facts))


def functions_to_inline(module: Module) -> frozenset[str]:
    """The device functions that are not called thread by thread: a block or a strip of it runs
    them together."""
    never = recursive_functions(module)
    loops = {f.name for f in module.devices if f.name not in never and profitable_loops(f)}
    return block_level_functions(module) | loops


def profitable_loops(function: Function) -> tuple[Stmt, ...]:
    """The loops that pay in strips if threads leave them at different times."""
    return tuple(filter(_pays, early_exit_loops(function.body)))


def early_exit_loops(body: Body) -> Iterator[While | For]:
    """The loops that threads may leave at different times."""
    for s in statements(body):
        if isinstance(s, While | For) and (isinstance(s, While) or _is_left_inside(s)):
            yield s


def _is_left_inside(loop: For) -> bool:
    return any(isinstance(s, Break | Return) for s in statements(loop.body))


def _found(body: Body, facts: uniformity.Uniformity) -> Iterator[Stmt]:
    for s in body:
        if isinstance(s, While | For) and s in facts.divergent:
            if _pays(s):
                yield s
        else:
            for inner in bodies(s):
                yield from _found(inner, facts)


def _pays(loop: While | For) -> bool:
    """Whether a compiler makes vectors of all that stands in a loop, and these are wide."""
    parts = tuple(statements((loop,)))
    if any(map(_clears_lowest_bit, loop.body)) and len(loop.body) <= 2:
        return False
    if not all(isinstance(s, While | For | If | Assign | Declare) or _jumps(s) for s in parts):
        return False
    return is_vectorizable((loop,))


def is_vectorizable(body: Body) -> bool:
    """Whether a compiler makes vectors of all that is computed, and some of it is wide."""
    values = tuple(all_expressions(body))
    return all(map(_is_vector_work, values)) and any(map(_is_wide_work, values))


def _clears_lowest_bit(s: Stmt) -> bool:
    """``x &= x - 1``, of numbers that C computes with as they are."""
    match s:
        case Assign(Var(x), Binary(op, Var(a), Binary(less, Var(b), Const(1)))):
            return op is AND and less is SUB and x == a == b
        case _:
            return False


def _jumps(s: Stmt) -> bool:
    return isinstance(s, Break | Continue | Return)


def _is_vector_work(e: Expr) -> bool:
    if not isinstance(e.type, Scalar) or not _is_number(e.type):
        return False
    match e:
        case Const() | Var() | Logical() | Select() | Unary() | Let():
            return True
        case Cast(operand=operand):
            return _converts(scalar_type(operand), e.type)
        case Apply(intrinsic=row, arguments=arguments):
            if not arguments:
                return row.is_pure
            if row in _DIVISIONS and not isinstance(arguments[1], Const):
                return False
            if row.name in _WRITTEN_OUT:
                return e.type.dtype is FLOAT32
            return row.name in _VECTORISED and not _is_long(e.type)
        case Binary(op=op, left=left, right=right):
            kind = scalar_type(left)
            if op in (QUOTIENT, REMAINDER):
                return isinstance(right, Const) and not _is_long(kind)
            if _is_long(kind):
                return op.result is truth or (op in _COUNTING and isinstance(right, Const))
            return op is not POW
        case _:
            return False  # memory, calls, parts of structs


def _is_number(kind: Scalar) -> bool:
    dtype = kind.dtype
    return not dtype.fields and not dtype.is_half


def _is_long(kind: Scalar) -> bool:
    return kind.dtype.is_integer and kind.dtype.bits == 64


def _converts(source: Scalar, to: Scalar) -> bool:
    """Whether vectors of one type are converted to another without AVX-512."""
    floats = source.dtype.is_float or to.dtype.is_float
    return not (floats and (_is_long(source) or _is_long(to)))


def _is_wide_work(e: Expr) -> bool:
    """Arithmetic that vectors do faster than a thread alone."""
    return isinstance(e, Binary) and e.op.result is not truth and not _is_long(scalar_type(e))
