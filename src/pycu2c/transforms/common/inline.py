"""Device functions that a whole block runs together are put into their callers.

On the CPU a block is one C function: what holds a barrier, shared memory or a loop that threads
leave at different times must be part of it. ``total = block_sum(x)`` -> the body of block_sum,
its result in a variable.
"""

from __future__ import annotations

from pycu2c.analysis.effects import block_level_functions
from pycu2c.analysis.live_across_barriers import upward_exposed_reads
from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.records import dataclass, field, replace
from pycu2c.base.types import WEAK_BOOL, Array, Scalar
from pycu2c.ir.builders import cast, const, scalar_type, zero
from pycu2c.ir.call_graph import recursive_functions
from pycu2c.ir.expressions import Path
from pycu2c.ir.nodes import (
    Allocate,
    Assign,
    Body,
    Call,
    Const,
    Dim,
    ElementOf,
    Evaluate,
    Expr,
    For,
    Function,
    Let,
    Load,
    Module,
    Stmt,
    Store,
    Stride,
    Var,
    View,
    While,
    in_cluster,
)
from pycu2c.ir.views import (
    array_indices,
    compose_views,
    linear_element,
    multiply,
    read_path,
    stride_inside_field,
    view_elements_per_element,
)
from pycu2c.ir.walk import (
    bodies,
    children,
    operands,
    statements,
    with_bodies,
    with_children,
    with_operands,
)
from pycu2c.transforms.common.structured_returns import without_returns
from pycu2c.transforms.cpu.simd.divergent_loops import run_apart


def inline_block_level(module: Module) -> Module:
    """The module without device functions that hold barriers or shared memory, or loops that
    may be run in strips of threads."""
    together = run_apart(module)
    _refuse_recursion(module, block_level_functions(module))
    inlined: dict[str, Function] = {}
    kept: list[Function] = []
    for function in module.devices:
        done = replace(function, body=_Inliner(inlined).body(function.body))
        if done.name in together:
            inlined[done.name] = done
        else:
            kept.append(done)
    kernel = module.kernel
    if inlined:
        kernel = replace(kernel, body=_Inliner(inlined).body(kernel.body))
    return replace(module, kernel=kernel, devices=tuple(kept))


def _refuse_recursion(module: Module, together: frozenset[str]) -> None:
    """A function that calls itself cannot be a part of its caller."""
    for function in module.devices:
        if function.name in recursive_functions(module) & together:
            fail(
                "barrier-place",
                Label(function.span, f"{function.python_name} calls itself"),
                help="on the CPU, write a loop around what waits for other threads",
            )


@dataclass(slots=True)
class _Inliner:
    functions: dict[str, Function]
    _count: int = 0
    _before: list[Stmt] = field(default_factory=list)

    def body(self, body: Body) -> Body:
        out: list[Stmt] = []
        for s in body:
            inner = tuple(self.body(b) for b in bodies(s))
            outer, self._before = self._before, []
            new = tuple(self.expression(e) for e in operands(s))
            assert not (self._before and isinstance(s, While)), "calls are statements by now"
            out += self._before
            self._before = outer
            done = with_bodies(with_operands(s, new), inner)
            if not (isinstance(done, Evaluate) and isinstance(done.value, (Const, Var))):
                out.append(done)
        return tuple(out)

    def expression(self, e: Expr) -> Expr:
        if isinstance(e, Call) and e.function in self.functions:
            arguments = tuple(self.expression(a) for a in e.arguments)
            return self._expanded(replace(e, arguments=arguments))
        return with_children(e, tuple(self.expression(c) for c in children(e)))

    def _array(self, argument: Expr, hint: str) -> Var | View:
        """An array argument; what a view is made of is computed once."""
        if isinstance(argument, Var):
            return argument
        assert isinstance(argument, View)
        parts: list[Expr] = []
        for number, part in enumerate(children(argument)[1:]):
            if not isinstance(part, Const):
                kept = Var(f"{hint}.{number}", scalar_type(part), part.span)
                self._before.append(Assign(kept, part, part.span))
                part = kept
            parts.append(part)
        view = with_children(argument, (argument.array, *parts))
        assert isinstance(view, View)
        return view

    def _expanded(self, call: Call) -> Expr:
        """The callee's body before this statement; its value as a variable."""
        function = self.functions[call.function]
        self._count += 1
        tag = f"i{self._count}"
        arrays: dict[str, Var | View] = {}
        for parameter, argument in zip(function.parameters, call.arguments):
            if isinstance(parameter.type, Array):
                arrays[parameter.name] = self._array(argument, f"{parameter.name}.{tag}")
            else:
                var = Var(f"{parameter.name}.{tag}", parameter.type, argument.span)
                self._before.append(Assign(var, argument, argument.span))
        body = _Renamer(tag, arrays).body((*_unset(function), *function.body))
        result = None
        if isinstance(function.result, Scalar):
            result = Var(f"result.{tag}", function.result, call.span)
        returned = Var(f"returned.{tag}", WEAK_BOOL, function.span)
        self._before += without_returns(body, result, returned)
        return result if result is not None else Const(False, WEAK_BOOL, call.span)


def _unset(function: Function) -> Body:
    """Each call begins anew: what it may read before it is set is 0, and not what the last call
    has left."""
    read = upward_exposed_reads(function.body) - {p.name for p in function.parameters}
    found = {s.var.name: s.var for s in statements(function.body) if isinstance(s, Assign)}
    span = function.span
    return tuple(
        Assign(v, zero(scalar_type(v), span), span) for name, v in found.items() if name in read
    )


@dataclass(frozen=True, slots=True)
class _Renamer:
    """Makes a copy with variables of its own; array parameters are the caller's arrays."""

    tag: str
    arrays: dict[str, Var | View]

    def body(self, body: Body) -> Body:
        return tuple(self.statement(s) for s in body)

    def statement(self, s: Stmt) -> Stmt:
        s = with_operands(s, tuple(self.expression(e) for e in operands(s)))
        s = with_bodies(s, tuple(self.body(b) for b in bodies(s)))
        if isinstance(s, (Assign, For, Allocate)):
            return replace(s, var=self.own(s.var))
        if not isinstance(s, Store):
            return s
        array, indices, path = self.place(s.array, s.indices)
        return replace(s, array=array, indices=indices, path=(*path, *s.path))

    def own(self, v: Var) -> Var:
        return replace(v, name=f"{v.name}.{self.tag}")

    def place(self, array: Var, indices: tuple[Expr, ...]) -> tuple[Var, tuple[Expr, ...], Path]:
        """An element in the caller's array, and in which field."""
        given = self.array(array)
        if not isinstance(given, View):
            return given, indices, ()
        if len(indices) < len(given.axes):
            return given.array, linear_element(given, indices[0]), given.path
        return given.array, *array_indices(given, indices)

    def array(self, v: Var) -> Var | View:
        """What stands for an array here; one of a cluster has the name of that of a block."""
        given = self.arrays.get(v.name)
        if given is None:
            return self.own(v)
        if not in_cluster(v):
            return given
        assert isinstance(given, Var), "a view is not known to be of shared memory"
        return replace(v, name=given.name)

    def expression(self, e: Expr) -> Expr:
        match e:
            case Var():
                return self.array(e)
            case Load() | ElementOf():
                new = with_children(e, (e.array, *map(self.expression, children(e)[1:])))
                assert isinstance(new, Load | ElementOf)
                array, indices, path = self.place(e.array, new.indices)
                if isinstance(new, Load):
                    return read_path(replace(new, array=array, indices=indices), path, e.span)
                return replace(new, array=array, indices=indices, path=(*path, *new.path))
            case Dim() | Stride():
                return self.measure(e)
            case View():
                return self.view(e)
            case _:
                new = with_children(e, tuple(self.expression(child) for child in children(e)))
                return replace(new, name=f"{new.name}.{self.tag}") if isinstance(new, Let) else new

    def measure(self, e: Dim | Stride) -> Expr:
        """A length or stride of an array that may be a view here."""
        given = self.array(e.array)
        if not isinstance(given, View):
            return replace(e, array=given)
        if isinstance(e, Dim):
            return cast(given.lengths[e.axis], e.type)
        return multiply(cast(given.steps[e.axis], e.type), self.pace(e, given))

    def pace(self, e: Stride, given: View) -> Expr:
        """How far one step is along an axis of what the view is a part of, in its elements."""
        axis = given.axes[e.axis]
        if axis < 0:
            return const(stride_inside_field(given, axis), e.span, e.type)
        stride = replace(e, array=given.array, axis=axis)
        return multiply(const(view_elements_per_element(given), e.span, e.type), stride)

    def view(self, e: View) -> View:
        given = self.array(e.array)
        parts = tuple(self.expression(child) for child in children(e)[1:])
        new = with_children(e, (e.array, *parts))
        assert isinstance(new, View)
        if isinstance(given, View):
            return compose_views(given, new)
        return replace(new, array=given)
