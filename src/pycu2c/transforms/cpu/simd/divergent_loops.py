"""Select divergent loops that are worth strip-mining: SIMD batches of threads under an active mask.

The heuristics were measured with gcc 12, with AVX2 and with AVX-512. A loop over floats or 32-bit
integers runs 2 to 12 times as fast. Loops over 64-bit integers do not gain: AVX2 can neither
multiply nor convert them. Loops with memory accesses do not gain, because a single thread reuses
its cache lines. Population-count loops do not gain: C compilers replace them with one instruction.
"""

from __future__ import annotations

from collections.abc import Iterator

from pycu2c.analysis.effects import block_level_functions, is_block_level
from pycu2c.analysis.uniformity import Uniformity
from pycu2c.base.dtypes import FLOAT32
from pycu2c.base.types import Scalar
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import scalar_type
from pycu2c.ir.call_graph import callees, functions_that, recursive_functions
from pycu2c.ir.walk import all_expressions, bodies, contains, operations, statements
from pycu2c.ops.intrinsics.builtins import OPERATOR_INTRINSICS
from pycu2c.ops.operators import ADD, AND, C_DIV, C_REM, FLOORDIV, MOD, POW, SUB, bool_result

_VECTORIZABLE = frozenset(
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
_EXPANDED_FLOAT32 = ("math.exp", "math.log")  # for float32, helpers that only use arithmetic
_DIVISIONS = (OPERATOR_INTRINSICS[FLOORDIV], OPERATOR_INTRINSICS[MOD])
_INT64_OPERATORS = (ADD, SUB)  # allowed on 64-bit integers


def divergent_loops(body: ir.Body, uniformity: Uniformity) -> frozenset[ir.Stmt]:
    """Return the outermost loops of a kernel that are worth strip-mining."""
    if contains(body, ir.Print):
        return frozenset()  # printed output is in thread order
    return frozenset(_outermost_divergent(body, uniformity))


def functions_to_inline(module: ir.Module) -> frozenset[str]:
    """Return the functions to inline.

    These are functions with barriers, shared memory, or profitable loops. Beside barriers, they are
    also functions that compute a value of the thread's coordinates, such as its rank: uniformity of
    conditions around barriers depends on it.
    """
    recursive = recursive_functions(module)
    functions = [f for f in module.device_functions if f.name not in recursive]
    loops = frozenset(f.name for f in functions if profitable_loops(f))
    block_level = block_level_functions(module)
    if not block_level and not is_block_level(module.kernel):
        return loops
    return block_level | loops | functions_that(functions, _computes_coordinates)


def _computes_coordinates(function: ir.Function, others: frozenset[str]) -> bool:
    """Return whether a function without branches reads coordinates, or calls one that does.

    Calls of checks remain, as ``select_cpu_lowering`` looks for them.
    """
    if function.name.endswith(".check"):
        return False
    if not all(isinstance(s, ir.Assign | ir.Return) for s in statements(function.body)):
        return False
    reads = any(e.intrinsic.is_special_register for e in operations((function,)))
    return reads or not others.isdisjoint(callees(function))


def profitable_loops(function: ir.Function) -> tuple[ir.Stmt, ...]:
    """Return the loops that are worth strip-mining if they are divergent."""
    return tuple(filter(_is_profitable, early_exit_loops(function.body)))


def early_exit_loops(body: ir.Body) -> Iterator[ir.While | ir.For]:
    """Yield the loops that threads may leave at different times."""
    for s in statements(body):
        if isinstance(s, ir.While | ir.For) and (isinstance(s, ir.While) or _has_exit(s)):
            yield s


def _has_exit(loop: ir.For) -> bool:
    return contains(loop.body, ir.Break | ir.Return)


def _outermost_divergent(body: ir.Body, uniformity: Uniformity) -> Iterator[ir.Stmt]:
    for s in body:
        if isinstance(s, ir.While | ir.For) and s in uniformity.divergent:
            if _is_profitable(s):
                yield s
        else:
            for inner in bodies(s):
                yield from _outermost_divergent(inner, uniformity)


def _is_profitable(loop: ir.While | ir.For) -> bool:
    """Return whether a C compiler can vectorize a loop, with a gain."""
    inner_statements = tuple(statements((loop,)))
    if any(map(_clears_lowest_bit, loop.body)) and len(loop.body) <= 2:
        return False
    if not all(
        isinstance(s, ir.While | ir.For | ir.If | ir.Assign | ir.Declare) or _is_jump(s)
        for s in inner_statements
    ):
        return False
    return is_vectorizable((loop,))


def is_vectorizable(body: ir.Body) -> bool:
    """Return whether all expressions can be vectorized, and some with a gain."""
    values = tuple(all_expressions(body))
    return all(map(_is_vectorizable_node, values)) and any(map(_gains_from_vectors, values))


def _clears_lowest_bit(s: ir.Stmt) -> bool:
    """Return whether a statement is ``x &= x - 1``."""
    match s:
        case ir.Assign(
            ir.Var(x), ir.Binary(op, ir.Var(a), ir.Binary(minus, ir.Var(b), ir.Const(1)))
        ):
            return op is AND and minus is SUB and x == a == b
        case _:
            return False


def _is_jump(s: ir.Stmt) -> bool:
    return isinstance(s, ir.Break | ir.Continue | ir.Return)


def _is_vectorizable_node(e: ir.Expr) -> bool:
    if not isinstance(e.type, Scalar) or not _is_native_scalar(e.type):
        return False
    match e:
        case ir.Const() | ir.Var() | ir.Logical() | ir.Select() | ir.Unary() | ir.Let():
            return True
        case ir.Cast(operand=operand):
            return _has_vector_conversion(scalar_type(operand), e.type)
        case ir.Apply(intrinsic=intrinsic, arguments=arguments):
            if not arguments:
                return intrinsic.is_pure
            if intrinsic in _DIVISIONS and not isinstance(arguments[1], ir.Const):
                return False
            if intrinsic.name in _EXPANDED_FLOAT32:
                return e.type.dtype is FLOAT32
            return intrinsic.name in _VECTORIZABLE and not _is_int64(e.type)
        case ir.Binary(op=op, left=left, right=right):
            operand_type = scalar_type(left)
            if op in (C_DIV, C_REM):
                return isinstance(right, ir.Const) and not _is_int64(operand_type)
            if _is_int64(operand_type):
                return op.result is bool_result or (
                    op in _INT64_OPERATORS and isinstance(right, ir.Const)
                )
            return op is not POW
        case _:
            return False  # memory, calls, members of structs


def _is_native_scalar(operand_type: Scalar) -> bool:
    dtype = operand_type.dtype
    return not dtype.fields and not dtype.is_half


def _is_int64(operand_type: Scalar) -> bool:
    return operand_type.dtype.is_integer and operand_type.dtype.bits == 64


def _has_vector_conversion(source: Scalar, target: Scalar) -> bool:
    """Return whether vectors of a type can be converted to another without AVX-512."""
    has_float = source.dtype.is_float or target.dtype.is_float
    return not (has_float and (_is_int64(source) or _is_int64(target)))


def _gains_from_vectors(e: ir.Expr) -> bool:
    """Return whether a node is arithmetic that is faster in vectors."""
    return (
        isinstance(e, ir.Binary)
        and e.op.result is not bool_result
        and not _is_int64(scalar_type(e))
    )
