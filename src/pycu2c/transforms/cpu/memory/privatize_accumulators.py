"""Privatize accumulators: give each OS thread its own copy of small integer arrays (CPU).

Applies to contiguous integer arrays that a kernel only updates by one kind of atomic operation with
unused results, such as ``cuda.atomic.add(counts, i, v)``: add or sub, and, or, xor, min, max. Each
OS thread updates its copy and merges it into the array after its blocks. Integer addition is
associative; float addition is not. Requires the form WORK_ITEM_LOOPS (``ir/forms.py``). Guarantees
one BlockLoop between the initialization and the merge. Reference: Tu and Padua, "Automatic array
privatization" (1993).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import reduce

from pycu2c.analysis.suspension_points import coroutine_loop
from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.base.limits import MAX_ACCUMULATOR_ELEMENTS
from pycu2c.base.records import dataclass, replace
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_INT, Array, MemorySpace, Scalar
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import binary, cast, const, integer
from pycu2c.ir.name_suffixes import PRIVATE
from pycu2c.ir.walk import all_expressions, map_stmt, statements
from pycu2c.ops.intrinsics.memory.atomic import ADD, AND, MAX, MIN, NONATOMIC, OR, SUB, XOR
from pycu2c.ops.intrinsics.registry import Intrinsic
from pycu2c.ops.operators import MUL, NE

_MERGE_OPERATIONS = {ADD: ADD, SUB: ADD, AND: AND, OR: OR, XOR: XOR, MAX: MAX, MIN: MIN}


def accumulators(kernel: ir.Function) -> dict[str, Intrinsic]:
    """Map each contiguous integer array with only one kind of update to its merge operation."""
    updates = list(_updates(kernel.body))
    update_counts = Counter(element.array.name for _, element in updates)
    use_counts = _use_counts(kernel.body)
    result: dict[str, Intrinsic] = {}
    for p in kernel.parameters:
        merge_operations = {
            _MERGE_OPERATIONS[intrinsic]
            for intrinsic, element in updates
            if element.array.name == p.name
        }
        has_only_updates = (
            update_counts[p.name] == use_counts[p.name] and len(merge_operations) == 1
        )
        is_contiguous_integer_array = (
            isinstance(p.type, Array) and p.type.layout == "C" and p.type.dtype.is_integer
        )
        if has_only_updates and is_contiguous_integer_array:
            result[p.name] = merge_operations.pop()
    return result


def accumulator_arguments(module: ir.Module) -> tuple[int, ...]:
    """Return the positions of a built kernel's arguments that may be privatized."""
    names = accumulators(module.kernel)
    return tuple(p.argument for p in module.kernel.parameters if p.name in names)


def _updates(body: ir.Body) -> Iterator[tuple[Intrinsic, ir.ElementOf]]:
    """Yield the atomic updates with unused results: operation and element."""
    for s in statements(body):
        if (
            isinstance(s, ir.Evaluate)
            and isinstance(s.value, ir.Apply)
            and s.value.intrinsic in _MERGE_OPERATIONS
        ):
            element = s.value.arguments[0]
            assert isinstance(element, ir.ElementOf)
            yield s.value.intrinsic, element


def _use_counts(body: ir.Body) -> Counter[str]:
    """Count the uses of each array other than shape queries, whose variables may be shared."""
    expressions = list(all_expressions(body))
    uses = Counter(e.name for e in expressions if isinstance(e, ir.Var))
    uses.subtract(e.array.name for e in expressions if isinstance(e, ir.Dim | ir.Stride))
    uses.update(s.array.name for s in statements(body) if isinstance(s, ir.Store))
    return uses


# ---- private copies ---------------------------------------------------------------------------


def privatize_accumulators(module: ir.Module, assumptions: LaunchAssumptions) -> ir.Module:
    """Privatize the accumulators of a kernel in work-item loops.

    ``cuda.atomic.add(&counts[i], v)`` -> ``block.atomic.add(&counts.private[i], v)``.
    ``counts.private`` is initialized before all blocks, and merged into ``counts`` after them.
    Coroutines are not changed.
    """
    kernel = module.kernel
    merge_operations = accumulators(kernel)
    privatized = [
        p
        for p in kernel.parameters
        if p.part is ir.ArgumentPart.DATA and p.name in merge_operations
    ]
    privatized = [p for p in privatized if p.argument in assumptions.unaliased_accumulators]
    if not privatized or coroutine_loop(kernel.body) is not None:
        return module
    scalar_types = {p.name: p.type for p in kernel.parameters if isinstance(p.type, Scalar)}
    private_copies = {
        p.name: _PrivateCopy(p, merge_operations[p.name], scalar_types, kernel.span)
        for p in privatized
    }
    body = map_stmt(kernel.body, lambda s: (_redirect(s, private_copies),))
    initialization = [s for copy in private_copies.values() for s in copy.initialization()]
    merges = [s for copy in private_copies.values() for s in copy.merge_back()]
    parameters = list(kernel.parameters)
    for copy in private_copies.values():
        _add_length_parameters(parameters, copy)
    new_body = (*initialization, ir.BlockLoop(body, kernel.span), *merges)
    return replace(module, kernel=replace(kernel, body=new_body, parameters=tuple(parameters)))


def _redirect(s: ir.Stmt, private_copies: Mapping[str, _PrivateCopy]) -> ir.Stmt:
    """Redirect an update to the private copy."""
    if not isinstance(s, ir.Evaluate) or not isinstance(s.value, ir.Apply):
        return s
    element, *values = s.value.arguments or (None,)
    if not isinstance(element, ir.ElementOf) or element.array.name not in private_copies:
        return s
    private_element = replace(element, array=private_copies[element.array.name].var)
    return replace(
        s,
        value=replace(
            s.value, intrinsic=NONATOMIC[s.value.intrinsic], arguments=(private_element, *values)
        ),
    )


def _add_length_parameters(parameters: list[ir.Parameter], copy: _PrivateCopy) -> None:
    """Add the length parameters of the array that the kernel does not have yet."""
    parameter_names = {p.name for p in parameters}
    position = parameters.index(copy.parameter) + 1
    for axis, var in enumerate(copy.lengths()):
        if var.name not in parameter_names:
            argument = copy.parameter.argument
            parameters.insert(
                position, ir.Parameter(var.name, WEAK_INT, argument, ir.ArgumentPart.SHAPE, axis)
            )
        position += 1


@dataclass(frozen=True, slots=True)
class _PrivateCopy:
    """The private copy of an array, of which each OS thread has one."""

    parameter: ir.Parameter
    merge_operation: Intrinsic
    scalar_types: Mapping[str, Scalar]  # scalar parameters of the kernel
    span: Span

    @property
    def array(self) -> ir.Var:
        return ir.Var(self.parameter.name, self.parameter.type, self.span)

    @property
    def var(self) -> ir.Var:
        array_type = Array(
            self.parameter.type.dtype, 1, "C", MemorySpace.WORKER, (MAX_ACCUMULATOR_ELEMENTS,)
        )
        return ir.Var(f"{self.parameter.name}.{PRIVATE}", array_type, self.span)

    def lengths(self) -> list[ir.Var]:
        assert isinstance(self.parameter.type, Array)
        axes = range(self.parameter.type.ndim)
        names = [f"{self.parameter.name}.shape.{axis}" for axis in axes]
        return [ir.Var(name, self.scalar_types.get(name, WEAK_INT), self.span) for name in names]

    def element_count(self) -> ir.Expr:
        first, *others = (cast(length, WEAK_INT) for length in self.lengths())
        return reduce(lambda a, b: binary(MUL, a, b, self.span), others, first)

    def initialization(self) -> tuple[ir.Stmt, ...]:
        """Allocate the copy and set each element to the neutral value."""
        return (
            ir.Allocate(self.var, self.span),
            self._for_each(lambda i: ir.Store(self.var, (i,), self._neutral(), self.span)),
        )

    def merge_back(self) -> tuple[ir.Stmt, ...]:
        """Merge the copy into the array."""
        return (self._for_each(self._merge_element),)

    def _merge_element(self, i: ir.Expr) -> ir.Stmt:
        private_element = ir.Load(self.var, (i,), self.span)
        element = ir.ElementOf(self.array, (i,), self.span)
        merged = ir.Apply(
            self.merge_operation, (element, private_element), private_element.type, self.span
        )
        is_modified = binary(NE, private_element, self._neutral(), self.span)
        return ir.If(is_modified, (ir.Evaluate(merged, self.span),), (), self.span)

    def _neutral(self) -> ir.Expr:
        """Return the neutral element of the update."""
        dtype = self.parameter.type.dtype
        all_bits = -1 if dtype.is_signed else dtype.maximum
        value = {AND: all_bits, MAX: dtype.minimum, MIN: dtype.maximum}.get(self.merge_operation, 0)
        return const(value, self.span, Scalar(dtype))

    def _for_each(self, body: Callable[[ir.Expr], ir.Stmt]) -> ir.Stmt:
        i = ir.Var(f"i.{self.parameter.name}", WEAK_INT, self.span)
        zero, one = integer(0, self.span), integer(1, self.span)
        return ir.For(i, zero, self.element_count(), one, (body(i),), self.span)
