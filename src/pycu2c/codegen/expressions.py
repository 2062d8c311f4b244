"""Emit IR expressions as C expressions.

C converts operands implicitly. With ``exact``, the emitted expression has the C type of its IR
type. Without it, the expression may have another C type, because the C code around it converts the
value: an initializer, or an operator whose other operand has the type.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import assert_never

import numpy as np

from pycu2c.base.dtypes import FLOAT32, FLOAT64, INT32, DType
from pycu2c.base.records import dataclass, field, replace
from pycu2c.base.types import Array, Scalar
from pycu2c.base.values import wrap
from pycu2c.codegen import half_types, vector_math
from pycu2c.codegen.dialect import Dialect
from pycu2c.codegen.helpers.catalog import helper_called
from pycu2c.codegen.includes import is_math
from pycu2c.codegen.names import Names, identifier
from pycu2c.codegen.print_log import Prints
from pycu2c.codegen.structs import Structs
from pycu2c.csyntax import nodes as c
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import scalar_type
from pycu2c.ir.print_format import scalar_types
from pycu2c.ops.intrinsics.kinds import TYPE_DETERMINING_KINDS
from pycu2c.ops.operators import ADD, C_SHL, C_SHR, MUL, SUB, bool_result

_MODULAR_OPERATORS = (ADD, SUB, MUL)


@dataclass(slots=True)
class FileDefinitions:
    """The definitions of a file: those of the module, and those that its functions need.

    ``functions`` has the C names of functions and constants, ``coordinates`` the built-in
    variables that each function takes as parameters in C, ``vectors`` the called math functions
    with vector variants.
    """

    dialect: Dialect
    functions: dict[str, str]
    coordinates: Mapping[str, tuple[str, ...]]
    structs: Structs
    prints: Prints
    helpers: dict[tuple[str, DType], None] = field(default_factory=dict)
    headers: dict[str, None] = field(default_factory=dict)
    vectors: dict[str, None] = field(default_factory=dict)


@dataclass(slots=True)
class ExpressionEmitter:
    """Emits the expressions of one function.

    ``pointers`` are the arrays that are parameters. In a coroutine kernel, ``struct_members`` are
    the variables in its structs, and ``distributed_shared`` emits the shared array of the block
    with a given rank in the cluster.
    """

    file: FileDefinitions
    names: Names
    pointers: frozenset[str]
    struct_members: Mapping[str, c.Expr] = field(default_factory=dict)
    distributed_shared: Callable[[ir.Var, c.Expr], c.Expr] | None = None

    def variable(self, name: str) -> c.Expr:
        """Return a variable or array: a name, or a member of a struct."""
        return self.struct_members.get(name) or c.Name(self.names[name])

    def type(self, scalar: Scalar) -> c.NamedType:
        return c.NamedType(self.file.structs.type_name(scalar.dtype))

    def convert_implicitly(self, e: ir.Expr, dtype: DType) -> c.Expr:
        """Emit a value whose context converts it to ``dtype``; widening needs no cast."""
        if isinstance(e, ir.Cast) and scalar_type(e).dtype is dtype and _is_integral(e.operand):
            if scalar_type(e.operand).dtype is dtype:  # from a strong to a weak type
                return self.convert_implicitly(e.operand, dtype)
            # the context converts from the type of the operand, which must be exact
            return self._without_coordinate_cast(e.operand, self.emit(e.operand, exact=True))
        if isinstance(e, ir.Binary) and e.op in _MODULAR_OPERATORS and dtype is INT32:
            return self._modular_arithmetic(e)
        return self._without_coordinate_cast(e, self.emit(e, exact=False))

    def _subscript(self, e: ir.Expr) -> c.Expr:
        """Emit a subscript: omit widening conversions only, since strides can be negative."""
        if isinstance(e, ir.Cast) and _is_integral(e.operand):
            source, target = scalar_type(e.operand).dtype, scalar_type(e).dtype
            if source.bits < target.bits or source is target:
                return self._without_coordinate_cast(e.operand, self.emit(e.operand, exact=True))
        return self._without_coordinate_cast(e, self.emit(e, exact=False))

    def _modular_arithmetic(self, e: ir.Expr) -> c.Expr:
        """Emit sums, differences and products that are converted to int, without casts.

        If an operand is an unsigned coordinate, C computes in unsigned int. The low 32 bits of the
        result are the same as in int, so operands need no casts.
        """
        if isinstance(e, ir.Binary) and e.op in _MODULAR_OPERATORS and e.op.c is not None:
            e = _with_positive_constant(e)
            assert e.op.c is not None
            return c.BinaryExpr(
                e.op.c, self._modular_arithmetic(e.left), self._modular_arithmetic(e.right)
            )
        return self._without_coordinate_cast(e, self.emit(e, exact=False))

    def _without_coordinate_cast(self, e: ir.Expr, emitted: c.Expr) -> c.Expr:
        """Omit the cast of a CUDA coordinate, whose unsigned value fits any type."""
        if isinstance(e, ir.Apply) and e.intrinsic.bounds and isinstance(emitted, c.CastExpr):
            return emitted.operand
        return emitted

    def print_call(self, s: ir.Print) -> c.Expr:
        """Return the call that appends a record to the print log."""
        pairs = zip(s.values, scalar_types(s.text))
        values = tuple(self.convert_implicitly(value, t.dtype) for value, t in pairs)
        return c.CallExpr(self.file.prints.name(s.text), values)

    def emit(self, e: ir.Expr, exact: bool = True) -> c.Expr:
        match e:
            case ir.Const():
                return self._literal(e, exact)
            case ir.Var():
                return self._variable(e)
            case ir.Unary():
                return c.UnaryExpr(e.op.c, self.emit(e.operand, exact))
            case ir.Binary():
                return self._binary(e, exact)
            case ir.Logical():
                op = "&&" if e.op is ir.LogicalOp.AND else "||"
                return c.BinaryExpr(op, self.emit(e.left, False), self.emit(e.right, False))
            case ir.Select():
                return self._select(e, exact)
            case ir.Cast():
                return self._cast(e)
            case ir.Load():
                return self.lvalue(e)
            case ir.ElementOf():
                return c.UnaryExpr("&", self.lvalue(e))
            case ir.Member():
                return self._member(e)
            case ir.Item():
                return self._item(e)
            case ir.Pack():
                parts = tuple(self.emit(part) for part in e.parts)
                return self.file.structs.construct(e.type.dtype, parts)
            case ir.Apply():
                return self._apply(e)
            case ir.Call():
                return self._call(e)
            case ir.Dim() | ir.Stride() | ir.Let() | ir.View():
                raise AssertionError(f"{type(e).__name__} is lowered before code generation")
            case _:
                assert_never(e)

    def _variable(self, e: ir.Var) -> c.Expr:
        name = self.variable(e.name)
        t = e.type
        if isinstance(t, Array) and t.shape is not None and t.ndim > 1:
            if e.name in self.pointers:
                return name
            first_element: c.Expr = name
            for _ in t.shape:
                first_element = c.Index(first_element, c.Number("0"))
            return c.UnaryExpr("&", first_element)
        return name

    def _binary(self, e: ir.Binary, exact: bool) -> c.Expr:
        if _adds_zero(e):
            return self.emit(e.left, exact)
        e = _with_positive_constant(e)
        is_comparison = e.op.result is bool_result
        left_is_literal = isinstance(e.left, ir.Const)
        if e.op in (C_SHL, C_SHR):
            left, right = self.emit(e.left, exact=True), self.emit(e.right, exact=False)
        else:
            # C would compute an operation on two literals in int
            operands_exact = (
                exact or is_comparison or (_is_literal_expression(e) and _may_differ_in_int(e))
            )
            # C converts one operand to the type of the other one
            converts_right = _is_implicit_conversion(e.right, e.left, is_comparison)
            converts_left = not (
                converts_right and isinstance(e.left, ir.Cast)
            ) and _is_implicit_conversion(e.left, e.right, is_comparison)
            left = self._operand(e.left, converts_left, operands_exact and not left_is_literal)
            right = self._operand(e.right, converts_right, operands_exact and left_is_literal)
            if is_comparison and isinstance(e.right, ir.Const) and e.right.value >= 0:
                left = self._without_coordinate_cast(e.left, left)
        assert e.op.c is not None, f"{e.op} is not C's"
        return c.BinaryExpr(e.op.c, left, right)

    def _operand(self, e: ir.Expr, is_implicit: bool, exact: bool) -> c.Expr:
        """Emit an operand; omit a conversion that C does implicitly."""
        if isinstance(e, ir.Cast) and is_implicit:
            if e.type.dtype.is_float:
                return self._without_coordinate_cast(e.operand, self._cast_operand(e))
            return self._operand(e.operand, False, exact)
        if isinstance(e, ir.Cast) and scalar_type(e).dtype is INT32:
            inner = scalar_type(e.operand).dtype
            if inner.is_integral and inner.bits < 32:
                return self.emit(e.operand, exact)
        return self.emit(e, exact)

    def _select(self, e: ir.Select, exact: bool) -> c.Expr:
        condition = self.emit(e.condition, False)
        # if one operand has the right type, C converts the other
        then = self._selected(e.then, exact and not isinstance(e.then, ir.Const))
        both_literal = isinstance(e.then, ir.Const) and isinstance(e.orelse, ir.Const)
        orelse = self._selected(
            e.orelse, exact and (both_literal or not isinstance(e.orelse, ir.Const))
        )
        return c.Conditional(condition, then, orelse)

    def _selected(self, e: ir.Expr, exact: bool) -> c.Expr:
        """Emit an operand of a selection; a field of a packed struct as a value.

        In C++, a selection of two lvalues is an lvalue, without the alignment of a packed struct.
        """
        emitted = self.emit(e, exact)
        is_lvalue = isinstance(emitted, c.MemberExpr | c.Index)
        if (
            is_lvalue
            and isinstance(e, ir.Member | ir.Item)
            and self.file.structs.uses_packed_structs
        ):
            return c.CastExpr(self.type(e.type), emitted)
        return emitted

    def _cast(self, e: ir.Cast) -> c.Expr:
        if scalar_type(e.operand).dtype is e.type.dtype:  # weak and strong types are the same in C
            return self.emit(e.operand)
        source = scalar_type(e.operand).dtype
        if source.is_half or e.type.dtype.is_half:
            function = half_types.conversion(source, e.type.dtype, self.file.dialect.name)
            return c.CallExpr(function, (self.emit(e.operand),))
        return c.CastExpr(
            self.type(e.type), self._without_coordinate_cast(e.operand, self._cast_operand(e))
        )

    def _cast_operand(self, e: ir.Cast) -> c.Expr:
        """Emit the operand of a conversion."""
        return self.emit(
            e.operand, exact=_is_literal_expression(e.operand) and _may_differ_in_int(e.operand)
        )

    def lvalue(self, e: ir.Access) -> c.Expr:
        """Emit an lvalue: ``a[i]``, ``a[i].x``."""
        lvalue: c.Expr = self.variable(e.array.name)
        indices = e.indices
        if ir.in_cluster(e.array):
            lvalue, indices = self._distributed_shared_array(e.array, indices[0]), indices[1:]
        for index in indices[:-1]:
            lvalue = c.Index(lvalue, self._subscript(index))
        if indices:
            lvalue = c.Index(self._element_pointer(e, lvalue), self._subscript(indices[-1]))
        path = () if isinstance(e, ir.Load) else e.path
        for i, key in enumerate(path):
            if not isinstance(key, str):
                lvalue = c.Index(lvalue, self._subscript(key))
            elif i == 0 and _is_reference(e.array):  # p->x
                lvalue = c.MemberExpr(self.variable(e.array.name), identifier(key), arrow=True)
            else:
                lvalue = c.MemberExpr(lvalue, identifier(key))
        return lvalue

    def _distributed_shared_array(self, array: ir.Var, rank: ir.Expr) -> c.Expr:
        """Emit the shared array of another block of the cluster."""
        block_rank = self._subscript(rank)
        if self.distributed_shared is not None:
            return self.distributed_shared(array, block_rank)
        self.file.helpers["shared_of", INT32] = None
        return c.CallExpr("shared_of", (self.variable(array.name), block_rank))

    def _member(self, e: ir.Member) -> c.Expr:
        """Emit the value of a field."""
        if isinstance(e.operand, ir.Load) and _is_reference(e.operand.array):
            lvalue = c.MemberExpr(
                self.variable(e.operand.array.name), identifier(e.field), arrow=True
            )
        else:
            lvalue = c.MemberExpr(self.emit(e.operand), identifier(e.field))
        return self.file.structs.load_field(scalar_type(e.operand).dtype, e.type.dtype, lvalue)

    def _item(self, e: ir.Item) -> c.Expr:
        """Emit the value of an element of a field."""
        lvalue = c.Index(self.emit(e.operand), self._subscript(e.index))
        owner = e.operand
        while isinstance(owner, ir.Item):
            owner = owner.operand
        assert isinstance(owner, ir.Member)
        return self.file.structs.load_field(scalar_type(owner.operand).dtype, e.type.dtype, lvalue)

    def stored_value(self, s: ir.Store) -> c.Expr:
        """Emit the value of a store, in the type of the field."""
        dtype = scalar_type(s.value).dtype
        value = self.convert_implicitly(s.value, dtype)
        assert isinstance(s.array.type, Array)
        element = s.array.type.element
        structs = [ir.field_type(element, s.path[:i]).dtype for i in range(len(s.path))]
        return self.file.structs.store_field(structs, dtype, value)

    def _element_pointer(self, e: ir.Access, array: c.Expr) -> c.Expr:
        """Emit a pointer to the first element, if the last index is a linear index."""
        t = e.array.type
        assert isinstance(t, Array)
        missing_indices = t.ndim - len(e.indices)
        if e.array.name in self.pointers or missing_indices <= 0:
            return array
        for _ in range(missing_indices + 1):
            array = c.Index(array, c.Number("0"))
        return c.UnaryExpr("&", array)

    def _apply(self, e: ir.Apply) -> c.Expr:
        dialect, intrinsic = self.file.dialect, e.intrinsic
        spelling = dialect.spelling_of(intrinsic)
        assert spelling is not None, f"{intrinsic.name} has no {dialect.name} spelling"
        self.file.headers |= dict.fromkeys(dialect.header_names(intrinsic))
        dtype = self._dtype_of(e)
        names = [name for name, kind in intrinsic.parameters if kind != "index"]
        arguments = {n: self.emit(a) for n, a in zip(names, e.arguments)}
        result = spelling(arguments, dtype)
        if isinstance(result, c.CallExpr) and is_math(result.function):
            if vector_math.has_vector_variant(result.function):
                self.file.vectors[result.function] = None
        if helper := helper_called(result):
            self.file.helpers[helper] = None
        if intrinsic.c_result is None or intrinsic.c_result is scalar_type(e).dtype:
            return result
        return c.CastExpr(self.type(scalar_type(e)), result)

    def _dtype_of(self, e: ir.Apply) -> DType:
        """Return the dtype that selects the variant of an intrinsic."""
        kinds = [kind for _, kind in e.intrinsic.parameters if kind != "index"]
        for kind, argument in zip(kinds, e.arguments):
            if kind in TYPE_DETERMINING_KINDS and isinstance(argument.type, Scalar):
                return argument.type.dtype
        return e.type.dtype if isinstance(e.type, Scalar) else INT32

    def _call(self, e: ir.Call) -> c.Expr:
        coordinates = tuple(c.Name(name) for name in self.file.coordinates.get(e.function, ()))
        arguments = tuple(self.emit(a, exact=False) for a in e.arguments)
        return c.CallExpr(self.file.functions[e.function], coordinates + arguments)

    def _literal(self, e: ir.Const, exact: bool) -> c.Expr:
        dtype = e.type.dtype
        if dtype.is_half:
            value = self._float(float(e.value), FLOAT32)
            return c.CallExpr(
                half_types.conversion(FLOAT32, dtype, self.file.dialect.name), (value,)
            )
        if dtype.is_float:
            return self._float(float(e.value), dtype)
        if isinstance(e.value, bool) or dtype.name == "bool":
            return c.Number("true" if e.value else "false")
        return self.integer(wrap(int(e.value), e.type), dtype, exact)

    def constant_element(self, e: ir.Expr, packed: bool = False) -> c.Expr:
        """Emit an element of a constant array, where C allows only constants.

        packed: whether the element is in a packed struct.
        """
        if isinstance(e, ir.Pack):
            structs, element_type = self.file.structs, e.type.dtype
            is_packed = structs.is_packed(element_type, packed)
            parts = tuple(self.constant_element(part, is_packed) for part in e.parts)
            return structs.initializer(element_type, parts, is_packed)
        dtype = scalar_type(e).dtype
        assert isinstance(e, ir.Const)
        if self.file.dialect.name == "cuda" and dtype in (FLOAT32, FLOAT64):
            return self._constant_float(float(e.value), dtype)
        if not dtype.is_half:
            return self.emit(e, exact=False)
        literal = self._float(float(e.value), FLOAT32)
        dialect = self.file.dialect.name
        return half_types.constant(float(e.value), literal, dtype, dialect, packed)

    def _constant_float(self, value: float, dtype: DType) -> c.Expr:
        """Emit a float constant; CUDA's infinity is a call, so a quotient replaces it."""
        if math.isfinite(value):
            return self._float(value, dtype)
        dividend = 0.0 if math.isnan(value) else math.copysign(1.0, value)
        return c.BinaryExpr("/", self._float(dividend, dtype), self._float(0.0, dtype))

    def integer(self, value: int, dtype: DType, exact: bool) -> c.Expr:
        """Emit an integer, with a suffix where the type or the width requires one."""
        needs_width = not -(2**31) < value < 2**31
        suffix = dtype.suffix if exact or needs_width else ""
        if value == dtype.minimum and dtype.is_signed and dtype.bits >= 32:
            next_value = c.Number(f"-{-(value + 1)}{suffix}")  # C has no literal for the minimum
            return c.BinaryExpr("-", next_value, c.Number("1"))
        return c.Number(f"{value}{suffix}")

    def _float(self, value: float, dtype: DType) -> c.Expr:
        if math.isnan(value):
            return c.Number(self.file.dialect.nan[dtype.short])
        if math.isinf(value):
            infinity: c.Expr = c.Number(self.file.dialect.infinity[dtype.short])
            return infinity if value > 0 else c.UnaryExpr("-", infinity)
        shortest = str(np.float32(value)) if dtype is FLOAT32 else repr(value)
        if not any(mark in shortest for mark in ".e"):
            shortest += ".0"
        return c.Number(shortest + dtype.suffix)


def _is_reference(array: ir.Var) -> bool:
    """Return whether a pointer refers to one element."""
    return isinstance(array.type, Array) and array.type.ndim == 0


def _is_implicit_conversion(e: ir.Expr, other: ir.Expr, is_comparison: bool) -> bool:
    """Return whether C converts a number implicitly to the type of ``other``.

    Of two conversions, the right one is implicit if possible. Compilers warn about comparisons of
    signed with unsigned integers.
    """
    if not isinstance(e, ir.Cast):
        return False
    source, target = scalar_type(e.operand).dtype, e.type.dtype
    if isinstance(other, ir.Cast) and is_comparison and source.is_signed != target.is_signed:
        return False
    if not target.is_float and (isinstance(other, ir.Select) or _is_literal_expression(other)):
        return False  # literals of integers may have another type in C
    return _widens(source, target)


def _widens(source: DType, target: DType) -> bool:
    """Return whether C converts the first type to the second if an operation has both."""
    if target.is_half or source.is_half:  # functions convert them
        return False
    if target.is_float:
        return source.is_integer or (source.is_float and source.bits < target.bits)
    if not (source.is_integer and target.is_integer) or target.bits < 32:
        return False
    return source.bits < target.bits or (source.bits == target.bits and not target.is_signed)


def _is_literal_expression(e: ir.Expr) -> bool:
    """Return whether an expression consists of literals, and so has their C type."""
    match e:
        case ir.Const():
            return True
        case ir.Unary():
            return _is_literal_expression(e.operand)
        case ir.Select():
            return _is_literal_expression(e.then) and _is_literal_expression(e.orelse)
        case ir.Binary():
            is_shift_or_comparison = e.op in (C_SHL, C_SHR) or e.op.result is bool_result
            return (
                not is_shift_or_comparison
                and _is_literal_expression(e.left)
                and _is_literal_expression(e.right)
            )
        case _:
            return False


def _adds_zero(e: ir.Binary) -> bool:
    """Return whether an expression is ``x + 0``, which unrolled loops over tuples create."""
    return (
        e.op in (ADD, SUB)
        and isinstance(e.right, ir.Const)
        and e.right.value == 0
        and e.right.type.dtype.is_integer
    )


def _with_positive_constant(e: ir.Binary) -> ir.Binary:
    """Return ``x - 1`` for ``x + -1``, and ``x + 1`` for ``x - -1``."""
    right, opposite = e.right, {ADD: SUB, SUB: ADD}
    if e.op not in opposite or not isinstance(right, ir.Const) or not right.type.dtype.is_integer:
        return e
    if not right.type.dtype.minimum < right.value < 0:
        return e
    return replace(e, op=opposite[e.op], right=replace(right, value=-right.value))


def _may_differ_in_int(e: ir.Expr) -> bool:
    """Return whether C may compute an expression of literals in int, with another result."""
    dtype = scalar_type(e).dtype
    computes = isinstance(e, (ir.Unary, ir.Binary, ir.Select)) and not isinstance(e, ir.Const)
    return computes and dtype.is_integer and dtype is not INT32


def _is_integral(e: ir.Expr) -> bool:
    return scalar_type(e).dtype.is_integral
