"""Inline block-level device functions into their callers (CPU).

``total = block_sum(x)`` -> the body of block_sum, with its result in a variable. On the CPU a block
is one C function, so functions that contain barriers, shared memory or divergent loops must be
inlined. Requires linearized calls (each a statement of its own); guarantees that no such device
function remains. Uses ``analysis.effects`` and the strip-mining heuristics.
"""

from __future__ import annotations

from pycu2c.analysis.effects import block_level_functions
from pycu2c.analysis.liveness import upward_exposed_reads
from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.records import dataclass, field, replace
from pycu2c.base.types import WEAK_BOOL, Array, Scalar
from pycu2c.ir import nodes as ir
from pycu2c.ir import views, walk
from pycu2c.ir.builders import cast, const, scalar_type, zero
from pycu2c.ir.call_graph import recursive_functions
from pycu2c.ir.expressions import Path
from pycu2c.transforms.common.structured_returns import eliminate_returns
from pycu2c.transforms.cpu.simd.divergent_loops import functions_to_inline


def inline_block_level(module: ir.Module) -> ir.Module:
    """Inline the device functions that contain barriers, shared memory or strip-mined loops."""
    block_level_names = functions_to_inline(module)
    _reject_recursion(module, block_level_functions(module))
    inlined: dict[str, ir.Function] = {}
    remaining: list[ir.Function] = []
    for function in module.device_functions:
        rewritten = replace(function, body=_Inliner(inlined).body(function.body))
        if rewritten.name in block_level_names:
            inlined[rewritten.name] = rewritten
        else:
            remaining.append(rewritten)
    kernel = module.kernel
    if inlined:
        kernel = replace(kernel, body=_Inliner(inlined).body(kernel.body))
    return replace(module, kernel=kernel, device_functions=tuple(remaining))


def _reject_recursion(module: ir.Module, block_level_names: frozenset[str]) -> None:
    """Raise a compile error for a recursive block-level function: it cannot be inlined."""
    rejected = recursive_functions(module) & block_level_names
    for function in module.device_functions:
        if function.name in rejected:
            fail(
                "barrier-recursion",
                Label(function.span, f"{function.python_name} calls itself"),
                hint="on the CPU, use a loop instead of recursion around barriers",
            )


@dataclass(slots=True)
class _Inliner:
    functions: dict[str, ir.Function]
    _count: int = 0
    _preceding: list[ir.Stmt] = field(default_factory=list)  # to insert before the statement

    def body(self, body: ir.Body) -> ir.Body:
        out: list[ir.Stmt] = []
        for s in body:
            inner = tuple(self.body(b) for b in walk.bodies(s))
            outer, self._preceding = self._preceding, []
            new = tuple(self.expression(e) for e in walk.operands(s))
            assert not (self._preceding and isinstance(s, ir.While)), (
                "linearization moves calls out of loop conditions"
            )
            out += self._preceding
            self._preceding = outer
            rewritten = walk.with_bodies(walk.with_operands(s, new), inner)
            if not (
                isinstance(rewritten, ir.Evaluate)
                and isinstance(rewritten.value, (ir.Const, ir.Var))
            ):
                out.append(rewritten)
        return tuple(out)

    def expression(self, e: ir.Expr) -> ir.Expr:
        if isinstance(e, ir.Call) and e.function in self.functions:
            arguments = tuple(self.expression(a) for a in e.arguments)
            return self._expand(replace(e, arguments=arguments))
        return walk.map_children(e, self.expression)

    def _bind_array(self, argument: ir.Expr, hint: str) -> ir.Var | ir.View:
        """Return an array argument; the operands of a view are evaluated once."""
        if isinstance(argument, ir.Var):
            return argument
        assert isinstance(argument, ir.View)
        operands: list[ir.Expr] = []
        for i, operand in enumerate(walk.children(argument)[1:]):
            if not isinstance(operand, ir.Const):
                var = ir.Var(f"{hint}.{i}", scalar_type(operand), operand.span)
                self._preceding.append(ir.Assign(var, operand, operand.span))
                operand = var
            operands.append(operand)
        view = walk.with_children(argument, (argument.array, *operands))
        assert isinstance(view, ir.View)
        return view

    def _expand(self, call: ir.Call) -> ir.Expr:
        """Insert the callee's body before the statement; return a variable with its result."""
        function = self.functions[call.function]
        self._count += 1
        tag = f"i{self._count}"
        arrays: dict[str, ir.Var | ir.View] = {}
        for parameter, argument in zip(function.parameters, call.arguments):
            if isinstance(parameter.type, Array):
                arrays[parameter.name] = self._bind_array(argument, f"{parameter.name}.{tag}")
            else:
                var = ir.Var(f"{parameter.name}.{tag}", parameter.type, argument.span)
                self._preceding.append(ir.Assign(var, argument, argument.span))
        body = _Renamer(tag, arrays).body((*_zero_initializers(function), *function.body))
        result = None
        if isinstance(function.result, Scalar):
            result = ir.Var(f"result.r{self._count}", function.result, call.span)
        returned = ir.Var(f"returned.r{self._count}", WEAK_BOOL, function.span)
        self._preceding += eliminate_returns(body, result, returned)
        return result if result is not None else ir.Const(False, WEAK_BOOL, call.span)


def _zero_initializers(function: ir.Function) -> ir.Body:
    """Assign 0 to the variables that the callee may read before it assigns them.

    Otherwise a second call would see the values of the first.
    """
    names = upward_exposed_reads(function.body) - {p.name for p in function.parameters}
    assigned = {
        s.var.name: s.var for s in walk.statements(function.body) if isinstance(s, ir.Assign)
    }
    span = function.span
    return tuple(
        ir.Assign(v, zero(scalar_type(v), span), span)
        for name, v in assigned.items()
        if name in names
    )


@dataclass(frozen=True, slots=True)
class _Renamer:
    """Copy a body with fresh variables; array parameters become the caller's arrays."""

    tag: str
    arrays: dict[str, ir.Var | ir.View]

    def body(self, body: ir.Body) -> ir.Body:
        return tuple(self.statement(s) for s in body)

    def statement(self, s: ir.Stmt) -> ir.Stmt:
        s = walk.map_operands(s, self.expression)
        s = walk.map_bodies(s, self.body)
        if isinstance(s, (ir.Assign, ir.For, ir.Allocate)):
            return replace(s, var=self.rename_variable(s.var))
        if not isinstance(s, ir.Store):
            return s
        array, indices, path = self.locate(s.array, s.indices)
        return replace(s, array=array, indices=indices, path=(*path, *s.path))

    def rename_variable(self, v: ir.Var) -> ir.Var:
        return replace(v, name=f"{v.name}.{self.tag}")

    def locate(
        self, array: ir.Var, indices: tuple[ir.Expr, ...]
    ) -> tuple[ir.Var, tuple[ir.Expr, ...], Path]:
        """Return array, indices and field path of an element in the caller's array."""
        caller_array = self.array(array)
        if not isinstance(caller_array, ir.View):
            return caller_array, indices, ()
        if len(indices) < len(caller_array.axes):
            return (
                caller_array.array,
                views.linear_element(caller_array, indices[0]),
                caller_array.path,
            )
        return caller_array.array, *views.array_indices(caller_array, indices)

    def array(self, v: ir.Var) -> ir.Var | ir.View:
        """Return the caller's array for a parameter.

        The array of another block of the cluster becomes a variable with the name of the caller's
        array and the type for arrays of clusters.
        """
        caller_array = self.arrays.get(v.name)
        if caller_array is None:
            return self.rename_variable(v)
        if not ir.in_cluster(v):
            return caller_array
        assert isinstance(caller_array, ir.Var), "the array of a cluster is a variable, not a view"
        return replace(v, name=caller_array.name)

    def expression(self, e: ir.Expr) -> ir.Expr:
        match e:
            case ir.Var():
                return self.array(e)
            case ir.Load() | ir.ElementOf():
                new = walk.with_children(e, (e.array, *map(self.expression, walk.children(e)[1:])))
                assert isinstance(new, ir.Load | ir.ElementOf)
                array, indices, path = self.locate(e.array, new.indices)
                if isinstance(new, ir.Load):
                    return views.field_at_path(
                        replace(new, array=array, indices=indices), path, e.span
                    )
                return replace(new, array=array, indices=indices, path=(*path, *new.path))
            case ir.Dim() | ir.Stride():
                return self.dimension(e)
            case ir.View():
                return self.view(e)
            case _:
                new = walk.map_children(e, self.expression)
                return (
                    replace(new, name=f"{new.name}.{self.tag}") if isinstance(new, ir.Let) else new
                )

    def dimension(self, e: ir.Dim | ir.Stride) -> ir.Expr:
        """Return a length or stride of an array that may be a view in the caller."""
        caller_array = self.array(e.array)
        if not isinstance(caller_array, ir.View):
            return replace(e, array=caller_array)
        if isinstance(e, ir.Dim):
            return cast(caller_array.lengths[e.axis], e.type)
        return views.multiply(
            cast(caller_array.steps[e.axis], e.type), self.element_stride(e, caller_array)
        )

    def element_stride(self, e: ir.Stride, caller_array: ir.View) -> ir.Expr:
        """Return the distance of two elements along an axis of the underlying array."""
        axis = caller_array.axes[e.axis]
        if axis < 0:
            return const(views.stride_inside_field(caller_array, axis), e.span, e.type)
        stride = replace(e, array=caller_array.array, axis=axis)
        return views.multiply(const(views.itemsize_ratio(caller_array), e.span, e.type), stride)

    def view(self, e: ir.View) -> ir.View:
        caller_array = self.array(e.array)
        parts = tuple(self.expression(child) for child in walk.children(e)[1:])
        new = walk.with_children(e, (e.array, *parts))
        assert isinstance(new, ir.View)
        if isinstance(caller_array, ir.View):
            return views.compose_views(caller_array, new)
        return replace(new, array=caller_array)
