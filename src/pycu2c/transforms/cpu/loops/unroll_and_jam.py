"""CPU: rows of threads that read the same in an inner loop run together, four at a time.

``for ty: for tx: for k: total[ty, tx] += a[ty, k] * b[k, tx]`` ->
``for ty_by_4: for tx: for k: total.0 += a[4 * ty_by_4, k] * b[k, tx]; total.1 += …``

What one row has read serves four, and sums stay in registers while the inner loop runs. It is
what a tile of a matrix product spends its time on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set

from pycu2c.analysis.effects import names_in
from pycu2c.analysis.live_across_barriers import assigned_names
from pycu2c.base.records import dataclass, replace
from pycu2c.base.types import Array, MemorySpace
from pycu2c.ir import printer
from pycu2c.ir.builders import binary, integer
from pycu2c.ir.nodes import (
    Assign,
    AxisLoop,
    Body,
    Const,
    Declare,
    ElementOf,
    Expr,
    For,
    Load,
    Module,
    Stmt,
    Store,
    Var,
)
from pycu2c.ir.walk import (
    all_expressions,
    bodies,
    map_expr,
    map_stmt,
    operands,
    statements,
    with_bodies,
)
from pycu2c.ops.operators import ADD, MUL
from pycu2c.transforms.cuda.merge_live_ranges import rename_variables

ROWS = 4
LONGEST = 64  # of a row: the sums of longer ones are too many for registers


def unroll_and_jam(module: Module) -> Module:
    """Join the rows of the kernel's loops over threads where that saves reading."""
    kernel = module.kernel
    return replace(module, kernel=replace(kernel, body=_block(kernel.body)))


def _block(body: Body) -> Body:
    return tuple(_joined(s) or with_bodies(s, tuple(map(_block, bodies(s)))) for s in body)


def _joined(s: Stmt) -> Stmt | None:
    match s:
        case AxisLoop(
            var=across,
            start=Const(value=0),
            stop=Const(value=count),
            step=Const(value=1),
            body=(AxisLoop(lockstep=True, body=(*before, For() as loop)) as row,),
        ) if count % ROWS == 0 and _is_short(row) and _is_simple(tuple(before), loop):
            rows = _Rows(across, tuple(before), loop, _slots(loop))
            return rows.joined(s, row) if rows.can_be_joined() else None
        case _:
            return None


def _is_short(row: AxisLoop) -> bool:
    match row.start, row.stop:
        case Const(), Const(value=stop):
            return stop <= LONGEST
        case _:
            return False


def _is_simple(before: Body, loop: For) -> bool:
    """Whether there is but arithmetic, and stores in slots."""
    if not all(isinstance(s, Declare) and s.init is not None for s in before):
        return False
    return all(
        isinstance(s, Declare | Assign) or (isinstance(s, Store) and _is_slot(s.array))
        for s in statements(loop.body)
    ) and not any(isinstance(e, ElementOf) for e in all_expressions(loop.body))


def _is_slot(array: Var) -> bool:
    return isinstance(array.type, Array) and array.type.space is MemorySpace.BLOCK


def _slots(loop: For) -> dict[str, Store]:
    """The arrays that the loop stores to, each with one of its stores."""
    return {s.array.name: s for s in statements(loop.body) if isinstance(s, Store)}


@dataclass(frozen=True, slots=True)
class _Rows:
    """A loop in a row of threads, what is computed before it, and the slots it changes."""

    across: Var
    before: Body
    loop: For
    slots: Mapping[str, Store]

    def can_be_joined(self) -> bool:
        declared = assigned_names((*self.before, self.loop))
        inside = declared | {self.across.name}
        bounds = self.loop.start, self.loop.stop, self.loop.step
        own = {s.var.name for s in (*self.before, *self.loop.body) if isinstance(s, Declare)}
        if declared - own:
            return False  # a variable of the block
        if inside & set(names_in(*bounds)) or not self._has_fixed_slots():
            return False
        return bool(self.slots) and self._reads_in_common()

    def _has_fixed_slots(self) -> bool:
        """Whether each slot stays where it is while the loop runs."""
        changed = assigned_names(self.loop.body)
        places = {name: _shown(s.indices) for name, s in self.slots.items()}
        for array, indices in self._slot_accesses():
            if _shown(indices) != places[array] or self._moves(indices, changed):
                return False
        return True

    def _slot_accesses(self) -> Iterable[tuple[str, tuple[Expr, ...]]]:
        for s in statements(self.loop.body):
            if isinstance(s, Store):
                yield s.array.name, s.indices
        for e in all_expressions(self.loop.body):
            if isinstance(e, Load) and e.array.name in self.slots:
                yield e.array.name, e.indices

    def _moves(self, indices: tuple[Expr, ...], changed: Set[str]) -> bool:
        return bool(set(names_in(*indices)) & (changed | {self.loop.var.name}))

    def _reads_in_common(self) -> bool:
        """Whether all rows read some of what one reads."""
        own = {self.across.name}
        for s in (*self.before, *statements(self.loop.body)):
            if isinstance(s, Declare | Assign) and own & set(names_in(*operands(s))):
                own.add(s.var.name)
        loads = (e for e in all_expressions(self.loop.body) if isinstance(e, Load))
        return any(
            e.array.name not in self.slots and not own & set(names_in(*e.indices)) for e in loads
        )

    def joined(self, s: AxisLoop, row: AxisLoop) -> AxisLoop:
        assert isinstance(s.stop, Const)
        rows = replace(self.across, name=f"{self.across.name}_by_{ROWS}.rows")
        parts = [self._part(rows, number) for number in range(ROWS)]
        loop = replace(self.loop, body=tuple(x for _, body, _ in parts for x in body))
        body = (*(x for b, _, _ in parts for x in b), loop, *(x for *_, a in parts for x in a))
        stop = replace(s.stop, value=int(s.stop.value) // ROWS)
        return replace(s, var=rows, stop=stop, body=(replace(row, body=body),))

    def _part(self, rows: Var, number: int) -> tuple[Body, Body, Body]:
        """Of one row: what comes before the loop, what it does, and what comes after."""
        opening = tuple(
            Declare(_own(s), Load(s.array, s.indices, s.span), s.span) for s in self._stores()
        )
        closing = tuple(Store(s.array, s.indices, _own(s), s.span) for s in self._stores())
        local = (*self.before, *opening, *statements(self.loop.body))
        names = {s.var.name: _of_row(s.var.name, number) for s in local if isinstance(s, Declare)}
        at = binary(MUL, rows, integer(ROWS, rows.span), rows.span)
        if number:
            at = binary(ADD, at, integer(number, rows.span), rows.span)

        def placed(e: Expr) -> Expr:
            return at if isinstance(e, Var) and e.name == self.across.name else e

        def of_row(body: Body) -> Body:
            return map_expr(rename_variables(body, names), placed)

        return of_row((*self.before, *opening)), of_row(self._with_own()), of_row(closing)

    def _stores(self) -> list[Store]:
        return list(self.slots.values())

    def _with_own(self) -> Body:
        """The body of the loop, with variables for slots."""

        def loaded(e: Expr) -> Expr:
            if isinstance(e, Load) and e.array.name in self.slots:
                return _own(self.slots[e.array.name])
            return e

        def stored(s: Stmt) -> Body:
            if isinstance(s, Store) and s.array.name in self.slots:
                return (Assign(_own(s), s.value, s.span),)
            return (s,)

        return map_stmt(map_expr(self.loop.body, loaded), stored)


def _own(s: Store) -> Var:
    assert isinstance(s.array.type, Array)
    return Var(f"{s.array.name}.row", s.array.type.element, s.span)


def _of_row(name: str, number: int) -> str:
    """What the variable of a row is called. ``x.1`` may be one of the kernel's own."""
    return f"{name.removesuffix('.row')}.row.{number}"


def _shown(indices: tuple[Expr, ...]) -> str:
    return ", ".join(printer.print_expr(i) for i in indices)
