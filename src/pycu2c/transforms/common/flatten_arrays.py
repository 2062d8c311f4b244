"""Flatten arrays to C pointers plus the lengths and strides that the code uses.

``a: float32[:, ::1]`` with ``a[i, j]`` -> ``a: pointer, a.shape.1`` with ``a[i * a.shape.1 + j]``.
Arrays with a fixed shape keep their indices. Requires the form ORDERED (``ir/forms.py``);
guarantees that global arrays have one index, and that functions take pointers and scalars.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from pycu2c.analysis.constant_strides import ConstantStrides, constant_stride, constant_strides
from pycu2c.analysis.launch_ranges import IndexRules
from pycu2c.base import dtypes
from pycu2c.base.records import dataclass, field, replace
from pycu2c.base.types import WEAK_INT, WEAK_INT32, Array, Scalar
from pycu2c.ir import nodes as ir
from pycu2c.ir import walk
from pycu2c.ir.builders import binary, cast, const, scalar_type
from pycu2c.ir.call_graph import recursive_functions
from pycu2c.ir.views import has_linear_start, itemsize_ratio, multiply, stride_inside_field
from pycu2c.ops.intrinsics.threads.cpu_block import shared_bytes
from pycu2c.ops.operators import ADD, C_DIV, MUL, SUB, Operator

ComponentKey = tuple[str, ir.ArgumentPart, int]  # array parameter, component, axis


def flatten(module: ir.Module, rules: IndexRules) -> ir.Module:
    """Flatten the arrays of all functions, callees before callers."""
    flat: dict[str, ir.Function] = {}
    signatures: dict[str, list[tuple[str, str]]] = {}
    strides = constant_strides(module)
    is_recursive = bool(recursive_functions(module))  # recursion needs a fixed point
    for function in module.device_functions:
        flat[function.name] = replace(function, parameters=_pointer_parameters(function))
    while True:
        for function in module.device_functions:
            flat[function.name] = _flat_function(function, rules, flat, strides[function.name])
        previous, signatures = signatures, {f.name: _signature(f) for f in flat.values()}
        if not is_recursive or signatures == previous:
            break
    kernel = _flat_function(module.kernel, rules, flat, strides[module.kernel.name])
    return replace(module, kernel=kernel, device_functions=tuple(flat.values()))


def _pointer_parameters(function: ir.Function) -> tuple[ir.Parameter, ...]:
    """Return the parameters as pointers without lengths and strides."""
    return tuple(
        replace(p, part=ir.ArgumentPart.DATA) if isinstance(p.type, Array) else p
        for p in function.parameters
    )


def _signature(function: ir.Function) -> list[tuple[str, str]]:
    return [(p.name, str(p.type)) for p in function.parameters]


def _flat_function(
    function: ir.Function,
    rules: IndexRules,
    flat: Mapping[str, ir.Function],
    strides: ConstantStrides,
) -> ir.Function:
    arrays = {p.name for p in function.parameters if isinstance(p.type, Array)}
    flattener = _Flattener(arrays, rules, flat, strides)
    body = flattener.body(function.body)
    return replace(function, parameters=flattener.parameters(function), body=body)


@dataclass(slots=True)
class _Flattener:
    arrays: set[str]  # array parameters; local arrays are declared with their shape
    rules: IndexRules
    flat: Mapping[str, ir.Function]
    strides: ConstantStrides
    used_components: dict[ComponentKey, Scalar] = field(default_factory=dict)

    def body(self, body: ir.Body) -> ir.Body:
        return tuple(self.statement(s) for s in body)

    def statement(self, s: ir.Stmt) -> ir.Stmt:
        s = walk.map_operands(s, self.expression)
        s = walk.map_bodies(s, self.body)
        if isinstance(s, ir.Store):
            return walk.with_indices(s, self.indices(s.array, s.indices))
        return s

    def expression(self, e: ir.Expr) -> ir.Expr:
        new = walk.map_children(e, self.expression)
        match new:
            case ir.Load() | ir.ElementOf():
                return walk.with_indices(new, self.indices(new.array, new.indices))
            case ir.Dim():
                return self.component(new.array, ir.ArgumentPart.SHAPE, new.axis, new.type, new)
            case ir.Stride():
                return self.component(new.array, ir.ArgumentPart.STRIDE, new.axis, new.type, new)
            case ir.Call():
                return replace(new, arguments=self.arguments(new))
            case _:
                return new

    def component(
        self, array: ir.Var, part: ir.ArgumentPart, axis: int, result_type: Scalar, origin: ir.Expr
    ) -> ir.Expr:
        """Return a length or stride of type ``result_type``: a parameter, or a literal if fixed."""
        assert isinstance(array.type, Array)
        is_stride = part is ir.ArgumentPart.STRIDE
        if array.type.shape is not None:
            length, *inner_lengths = array.type.shape[axis:]
            return const(
                math.prod(inner_lengths) if is_stride else length, origin.span, result_type
            )
        if array.name not in self.arrays or ir.in_cluster(array):  # dynamic shared memory
            if is_stride:
                return const(1, origin.span, result_type)
            size = const(array.type.dtype.size, origin.span, result_type)
            return binary(
                C_DIV, ir.Apply(shared_bytes, (), result_type, origin.span), size, origin.span
            )
        stride = constant_stride(array, axis, self.strides) if is_stride else None
        if stride is not None:
            return const(stride, origin.span, result_type)
        parameter_type = self.used_components.setdefault((array.name, part, axis), result_type)
        return cast(
            ir.Var(f"{array.name}.{part.value}.{axis}", parameter_type, origin.span), result_type
        )

    def indices(self, array: ir.Var, indices: tuple[ir.Expr, ...]) -> tuple[ir.Expr, ...]:
        """Return the one index of a pointer.

        It is computed in 32 bits if all indices have 32 bits: the result is less than the array's
        size, or the program is undefined.
        """
        array_type = array.type
        assert isinstance(array_type, Array)
        if array.name not in self.arrays:
            return indices
        if ir.in_cluster(array):  # one pointer per block of the cluster
            return indices[0], *self.indices(replace(array, type=array_type.in_block), indices[1:])
        if array_type.ndim == 0:
            return (const(0, array.span),)
        if array_type.layout == "C" and len(indices) == 1:
            return indices
        use_32_bits = self.rules.index32 and all(scalar_type(i).dtype.bits <= 32 for i in indices)
        unsigned = any(scalar_type(i).dtype is dtypes.UINT32 for i in indices)
        index_type = WEAK_INT32 if use_32_bits and not unsigned else WEAK_INT
        converted = [cast(i, index_type) for i in indices]
        linearize = self._row_major_index if array_type.layout == "C" else self._strided_index
        return (linearize(array, converted, index_type),)

    def _row_major_index(
        self, array: ir.Var, indices: list[ir.Expr], index_type: Scalar
    ) -> ir.Expr:
        """Return the index by Horner's rule: ``(i * rows + j) * columns + k``.

        The element of a neighbouring row is ``(i * rows + j) * columns + k + columns``, so that
        neighbours share the first part.
        """
        total, sign, offset = indices[0], ADD, None
        for axis, index in enumerate(indices[1:], start=1):
            if offset is None and _is_constant(0, total):
                total = index
                continue
            length = self.component(array, ir.ArgumentPart.SHAPE, axis, index_type, index)
            if offset is not None:
                offset = multiply(offset, length)
            elif (neighbor := _neighbor(total)) is not None:
                (total, sign), offset = neighbor, length
            scaled = length if _is_constant(1, total) else binary(MUL, total, length, index.span)
            total = _sum(scaled, index)
        return total if offset is None else binary(sign, total, offset, total.span)

    def _strided_index(self, array: ir.Var, indices: list[ir.Expr], index_type: Scalar) -> ir.Expr:
        total: ir.Expr = const(0, array.span, index_type)
        for axis, index in enumerate(indices):
            if _is_constant(0, index):
                continue
            stride = self.component(array, ir.ArgumentPart.STRIDE, axis, index_type, index)
            term = multiply(index, stride)
            total = term if _is_constant(0, total) else _sum(total, term)
        return total

    def arguments(self, call: ir.Call) -> tuple[ir.Expr, ...]:
        """Return the arguments of a call; arrays become the components that the callee takes."""
        out: list[ir.Expr] = []
        for parameter in self.flat[call.function].parameters:
            argument = call.arguments[parameter.argument]
            if isinstance(argument, ir.View):
                out.append(self.view_component(argument, parameter))
                continue
            if parameter.part in (ir.ArgumentPart.VALUE, ir.ArgumentPart.DATA):
                out.append(argument)
                continue
            assert isinstance(argument, ir.Var)
            assert isinstance(parameter.type, Scalar)
            part, axis = parameter.part, parameter.axis
            out.append(self.component(argument, part, axis, parameter.type, argument))
        return tuple(out)

    def view_component(self, view: ir.View, parameter: ir.Parameter) -> ir.Expr:
        """Return the data pointer, a length or a stride of a view for a callee."""
        if parameter.part is ir.ArgumentPart.DATA:
            indices = self.indices(view.array, view.first)
            return ir.ElementOf(view.array, indices, view.span, view.path)
        assert isinstance(parameter.type, Scalar)
        if parameter.part is ir.ArgumentPart.SHAPE:
            return cast(view.lengths[parameter.axis], parameter.type)
        stride_type = parameter.type
        stride = constant_stride(view, parameter.axis, self.strides)
        if stride is not None:
            return const(stride, view.span, stride_type)
        step, axis = cast(view.steps[parameter.axis], stride_type), view.axes[parameter.axis]
        element_step = stride_inside_field(view, axis) if axis < 0 else itemsize_ratio(view)
        step = multiply(step, const(element_step, view.span, stride_type))
        if has_linear_start(view) or axis < 0:
            return step
        return multiply(self.stride(view.array, axis, stride_type, view), step)

    def stride(self, array: ir.Var, axis: int, result_type: Scalar, origin: ir.Expr) -> ir.Expr:
        """Return the stride of an axis; that of a contiguous array is a product of lengths."""
        assert isinstance(array.type, Array)
        if array.type.layout != "C" or array.type.shape is not None or ir.in_cluster(array):
            return self.component(array, ir.ArgumentPart.STRIDE, axis, result_type, origin)
        total: ir.Expr = const(1, origin.span, result_type)
        for inner_axis in range(axis + 1, array.type.ndim):
            length = self.component(array, ir.ArgumentPart.SHAPE, inner_axis, result_type, origin)
            total = multiply(total, length)
        return total

    def parameters(self, function: ir.Function) -> tuple[ir.Parameter, ...]:
        """Return the parameters: each array's pointer, followed by its used components."""
        out: list[ir.Parameter] = []
        for p in function.parameters:
            if not isinstance(p.type, Array):
                out.append(p)
                continue
            out.append(replace(p, part=ir.ArgumentPart.DATA))
            components = sorted(
                ((part, axis) for name, part, axis in self.used_components if name == p.name),
                key=lambda key: (key[0].value, key[1]),
            )
            for part, axis in components:
                component_type = self.used_components[p.name, part, axis]
                name = f"{p.name}.{part.value}.{axis}"
                out.append(ir.Parameter(name, component_type, p.argument, part, axis))
        return tuple(out)


def _neighbor(index: ir.Expr) -> tuple[ir.Expr, Operator] | None:
    """Return the left side and the operator of ``x + 1`` or ``x - 1``, or None."""
    value, to = index, scalar_type(index)
    if isinstance(index, ir.Cast) and scalar_type(index.operand).dtype is to.dtype:
        value = index.operand  # from strong to weak
    if isinstance(value, ir.Binary) and value.op in (ADD, SUB) and _is_constant(1, value.right):
        return cast(value.left, to), value.op
    return None


def _is_constant(value: int, e: ir.Expr) -> bool:
    return isinstance(e, ir.Const) and e.value == value


def _sum(left: ir.Expr, right: ir.Expr) -> ir.Expr:
    """Return the sum; ``left + (x + y)`` becomes ``left + x + y``, the same modulo 2**n."""
    if isinstance(right, ir.Const) and right.value == 0:
        return left
    if isinstance(right, ir.Cast) and isinstance(right.operand, ir.Binary):
        inner, to = right.operand, right.type
        if inner.op in (ADD, SUB) and inner.type.dtype is to.dtype:  # from strong to weak
            right = replace(inner, left=cast(inner.left, to), right=cast(inner.right, to), type=to)
    if isinstance(right, ir.Binary) and right.op in (ADD, SUB):
        return binary(right.op, _sum(left, right.left), right.right, right.span)
    return binary(ADD, left, right, right.span)
