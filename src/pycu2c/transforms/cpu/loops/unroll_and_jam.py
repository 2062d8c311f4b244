"""Unroll and jam rows of threads that read the same elements in an inner loop (CPU).

``for ty: for tx: for k: total[ty, tx] += a[ty, k] * b[k, tx]`` -> ``for ty_by_4: for tx: for k:
total.0 += a[4 * ty_by_4, k] * b[k, tx]; total.1 += …``

Four rows share each load of ``b``, and the sums stay in registers (scalar replacement). This is the
inner loop of a tiled matrix product. Requires the form AXIS_LOOPS (``ir/forms.py``). Guarantees the
same order of operations for each thread. Reference: Callahan, Carr and Kennedy, "Improving register
allocation for subscripted variables" (1990).
"""

from __future__ import annotations

from collections.abc import Mapping

from pycu2c.analysis.variables import defined_names, names_in
from pycu2c.base.records import dataclass, replace
from pycu2c.base.types import Array, MemorySpace
from pycu2c.ir import nodes as ir
from pycu2c.ir import walk
from pycu2c.ir.builders import binary, integer
from pycu2c.ir.printer import print_indices
from pycu2c.ir.walk import with_kernel_body
from pycu2c.ops.operators import ADD, MUL
from pycu2c.transforms.cuda.merge_live_ranges import rename_variables

ROW_COUNT = 4
MAX_ROW_LENGTH = 64  # the sums of longer rows exceed the registers


def unroll_and_jam(module: ir.Module) -> ir.Module:
    """Unroll and jam the kernel's loops over threads where that saves loads."""
    return with_kernel_body(module, _block(module.kernel.body))


def _block(body: ir.Body) -> ir.Body:
    return tuple(_unroll(s) or walk.map_bodies(s, _block) for s in body)


def _unroll(s: ir.Stmt) -> ir.Stmt | None:
    match s:
        case ir.AxisLoop(
            var=row_axis,
            start=ir.Const(value=0),
            stop=ir.Const(value=count),
            step=ir.Const(value=1),
            body=(ir.AxisLoop(lockstep=True, body=(*prologue, ir.For() as loop)) as row,),
        ) if count % ROW_COUNT == 0 and _is_short_row(row) and _is_simple(tuple(prologue), loop):
            group = _RowGroup(row_axis, tuple(prologue), loop, _stored_arrays(loop))
            return group.unrolled(s, row) if group.is_legal() else None
        case _:
            return None


def _is_short_row(row: ir.AxisLoop) -> bool:
    match row.start, row.stop:
        case ir.Const(), ir.Const(value=stop):
            return stop <= MAX_ROW_LENGTH
        case _:
            return False


def _is_simple(prologue: ir.Body, loop: ir.For) -> bool:
    """Return whether a loop contains arithmetic and stores to context arrays only."""
    if not all(isinstance(s, ir.Declare) and s.init is not None for s in prologue):
        return False
    return all(
        isinstance(s, ir.Declare | ir.Assign)
        or (isinstance(s, ir.Store) and ir.memory_space(s.array) is MemorySpace.BLOCK)
        for s in walk.statements(loop.body)
    ) and not any(isinstance(e, ir.ElementOf) for e in walk.all_expressions(loop.body))


def _stored_arrays(loop: ir.For) -> dict[str, ir.Store]:
    """Map each array that the loop stores to, to one of its stores."""
    return {s.array.name: s for s in walk.statements(loop.body) if isinstance(s, ir.Store)}


@dataclass(frozen=True, slots=True)
class _RowGroup:
    """A loop in a row of threads, its prologue, and the context-array elements that it stores."""

    row_axis: ir.Var
    prologue: ir.Body
    loop: ir.For
    stores: Mapping[str, ir.Store]

    def is_legal(self) -> bool:
        assigned = defined_names((*self.prologue, self.loop))
        inner_names = assigned | {self.row_axis.name}
        bounds = self.loop.start, self.loop.stop, self.loop.step
        row_dependent = {
            s.var.name for s in (*self.prologue, *self.loop.body) if isinstance(s, ir.Declare)
        }
        if assigned - row_dependent:
            return False  # assigns a variable of the block
        if inner_names & set(names_in(*bounds)) or not self._has_invariant_indices():
            return False
        return bool(self.stores) and self._has_shared_reads()

    def _has_invariant_indices(self) -> bool:
        """Return whether the indices of all stored elements are loop-invariant."""
        changed = defined_names(self.loop.body) | {self.loop.var.name}
        texts = {name: print_indices(s) for name, s in self.stores.items()}
        return all(
            print_indices(a) == texts[a.array.name] and changed.isdisjoint(names_in(*a.indices))
            for a in walk.accesses(self.loop.body)
            if a.array.name in self.stores
        )

    def _has_shared_reads(self) -> bool:
        """Return whether all rows read some of the same elements."""
        row_dependent = {self.row_axis.name}
        for s in (*self.prologue, *walk.statements(self.loop.body)):
            if isinstance(s, ir.Declare | ir.Assign) and row_dependent & set(
                names_in(*walk.operands(s))
            ):
                row_dependent.add(s.var.name)
        loads = (e for e in walk.all_expressions(self.loop.body) if isinstance(e, ir.Load))
        return any(
            e.array.name not in self.stores and not row_dependent & set(names_in(*e.indices))
            for e in loads
        )

    def unrolled(self, s: ir.AxisLoop, row: ir.AxisLoop) -> ir.AxisLoop:
        """Return loop ``s`` over rows with the code of several rows in each iteration."""
        assert isinstance(s.stop, ir.Const)
        group_index = replace(self.row_axis, name=f"{self.row_axis.name}_by_{ROW_COUNT}.rows")
        copies = [self._copy(group_index, row_number) for row_number in range(ROW_COUNT)]
        loop = replace(self.loop, body=tuple(x for _, body, _ in copies for x in body))
        body = (*(x for b, _, _ in copies for x in b), loop, *(x for *_, a in copies for x in a))
        stop = replace(s.stop, value=int(s.stop.value) // ROW_COUNT)
        return replace(s, var=group_index, stop=stop, body=(replace(row, body=body),))

    def _copy(self, group_index: ir.Var, row_number: int) -> tuple[ir.Body, ir.Body, ir.Body]:
        """Return prologue, loop body and epilogue of one row."""
        prologue_loads = tuple(
            ir.Declare(_element_variable(s), ir.Load(s.array, s.indices, s.span), s.span)
            for s in self._stores()
        )
        stores_back = tuple(
            ir.Store(s.array, s.indices, _element_variable(s), s.span) for s in self._stores()
        )
        inner_statements = (*self.prologue, *prologue_loads, *walk.statements(self.loop.body))
        names = {
            s.var.name: _row_name(s.var.name, row_number)
            for s in inner_statements
            if isinstance(s, ir.Declare)
        }
        row_index = binary(MUL, group_index, integer(ROW_COUNT, group_index.span), group_index.span)
        if row_number:
            row_index = binary(
                ADD, row_index, integer(row_number, group_index.span), group_index.span
            )

        def substitute_row(e: ir.Expr) -> ir.Expr:
            return row_index if isinstance(e, ir.Var) and e.name == self.row_axis.name else e

        def rename_for_row(body: ir.Body) -> ir.Body:
            return walk.map_expr(rename_variables(body, names), substitute_row)

        return (
            rename_for_row((*self.prologue, *prologue_loads)),
            rename_for_row(self._with_scalars()),
            rename_for_row(stores_back),
        )

    def _stores(self) -> list[ir.Store]:
        return list(self.stores.values())

    def _with_scalars(self) -> ir.Body:
        """Return the loop body with scalars in place of context-array elements."""

        def load(e: ir.Expr) -> ir.Expr:
            if isinstance(e, ir.Load) and e.array.name in self.stores:
                return _element_variable(self.stores[e.array.name])
            return e

        def store(s: ir.Stmt) -> ir.Body:
            if isinstance(s, ir.Store) and s.array.name in self.stores:
                return (ir.Assign(_element_variable(s), s.value, s.span),)
            return (s,)

        return walk.map_stmt(walk.map_expr(self.loop.body, load), store)


def _element_variable(s: ir.Store) -> ir.Var:
    assert isinstance(s.array.type, Array)
    return ir.Var(f"{s.array.name}.row", s.array.type.element, s.span)


def _row_name(name: str, row_number: int) -> str:
    """Return the name of a row's variable; ``x.1`` may be a name of the kernel."""
    return f"{name.removesuffix('.row')}.row.{row_number}"
