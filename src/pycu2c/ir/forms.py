"""The forms of the IR: which nodes may occur at each stage of the pipeline.

A form is what MLIR calls a dialect. ``pipeline.py`` says which form each pass requires and
produces; ``check_form`` verifies the form after the pass. It reads the summary of a module, which
also tells the pipeline which passes have nothing to do.
"""

from __future__ import annotations

from pycu2c.base.records import dataclass
from pycu2c.ir import nodes as ir
from pycu2c.ir.verifier import InternalError
from pycu2c.ir.walk import all_expressions, statements
from pycu2c.ops.intrinsics.registry import Effect, Intrinsic
from pycu2c.ops.operators import FLOORDIV, MOD, SHL, SHR, Operator


@dataclass(frozen=True, slots=True)
class ModuleSummary:
    """The classes of the nodes of a module, its binary operators, the intrinsics that it calls."""

    kinds: frozenset[type[ir.Stmt | ir.Expr]]
    intrinsics: frozenset[Intrinsic]
    operators: frozenset[Operator]
    has_device_functions: bool
    has_inline_c: bool

    def any_of(self, *kinds: type[ir.Stmt | ir.Expr]) -> bool:
        return not self.kinds.isdisjoint(kinds)

    @property
    def has_memory_intrinsics(self) -> bool:
        """Return whether the module calls intrinsics that access memory, such as atomics."""
        return any(i.effect is Effect.MEMORY for i in self.intrinsics)

    @property
    def only_loads_and_stores(self) -> bool:
        """Return whether threads only compute, load and store, without any other effect."""
        has_effects = any(i.has_effect for i in self.intrinsics)
        return not has_effects and not self.has_inline_c and not self.any_of(ir.Allocate, ir.Print)

    @property
    def needs_cpu_lowering(self) -> bool:
        """Return whether the module calls intrinsics that CPU passes replace."""
        return any(i.synchronizes or i.c is None for i in self.intrinsics)


def summarize_module(module: ir.Module) -> ModuleSummary:
    """Return the summary of a module."""
    functions = module.functions
    kinds: set[type[ir.Stmt | ir.Expr]] = set()
    intrinsics: set[Intrinsic] = set()
    operators: set[Operator] = set()
    for function in functions:
        for s in statements(function.body):
            kinds.add(type(s))
        for e in all_expressions(function.body):
            kinds.add(type(e))
            if isinstance(e, ir.Apply):
                intrinsics.add(e.intrinsic)
            elif isinstance(e, ir.Binary):
                operators.add(e.op)
    has_inline_c = any(function.external_code is not None for function in functions)
    found = frozenset(kinds), frozenset(intrinsics), frozenset(operators)
    return ModuleSummary(*found, bool(module.devices), has_inline_c)


@dataclass(frozen=True, slots=True, eq=False)
class IRForm:
    """A stage of the IR, by the nodes and operators that may not occur in it."""

    name: str
    forbidden: frozenset[type[ir.Stmt | ir.Expr]]
    operators: frozenset[Operator] = frozenset()

    def __repr__(self) -> str:
        return self.name


def check_form(summary: ModuleSummary, form: IRForm, after: str) -> None:
    """Raise InternalError if a module has nodes that its form does not allow."""
    found = sorted(kind.__name__ for kind in summary.kinds & form.forbidden)
    found += sorted(operator.name for operator in summary.operators & form.operators)
    if found:
        raise InternalError(
            f"this is a bug in pycu2c: {after} has made IR that is not {form.name}: "
            f"it has {', '.join(found)}"
        )


_WORK_ITEM_LOOPS = frozenset(
    {ir.WorkItemLoop, ir.StripLoop, ir.BlockLoop, ir.AxisLoop, ir.NextWorkItem}
)
_BLOCK_CODE = _WORK_ITEM_LOOPS | {ir.CoroutineLoop}
_PYTHON_OPERATORS = frozenset({FLOORDIV, MOD, SHL, SHR})
_ARRAY_SHAPES = frozenset({ir.Dim, ir.Stride, ir.View})

# Python's meaning; the code of one thread; variables begin where they are assigned.
TYPED = IRForm("TYPED", _BLOCK_CODE | {ir.Declare, ir.BarrierWait})
# C's meaning: operators and indices are C's. Barriers may have become waits.
C_MEANING = IRForm("C_MEANING", _BLOCK_CODE | {ir.Declare}, _PYTHON_OPERATORS)
# The order of evaluation is that of the statements.
ORDERED = IRForm("ORDERED", C_MEANING.forbidden | {ir.Let}, _PYTHON_OPERATORS)
# Arrays are pointers; their lengths and strides are parameters.
FLAT = IRForm("FLAT", ORDERED.forbidden | _ARRAY_SHAPES, _PYTHON_OPERATORS)
# Each variable is declared in the block that holds its uses. CUDA C is generated from it.
DECLARED = IRForm("DECLARED", FLAT.forbidden - {ir.Declare}, _PYTHON_OPERATORS)

_LOWERED = frozenset({ir.Let}) | _ARRAY_SHAPES
# The kernel is the code of one block: loops over its threads, without waits.
WORK_ITEM_LOOPS = IRForm(
    "WORK_ITEM_LOOPS", _LOWERED | {ir.CoroutineLoop, ir.BarrierWait, ir.AxisLoop}, _PYTHON_OPERATORS
)
# Each loop over threads is a loop nest along the axes of the block.
AXIS_LOOPS = IRForm(
    "AXIS_LOOPS",
    _LOWERED | {ir.CoroutineLoop, ir.BarrierWait, ir.WorkItemLoop, ir.StripLoop},
    _PYTHON_OPERATORS,
)
# Each thread is a resumable state machine; a scheduler runs the threads of a block.
COROUTINES = IRForm("COROUTINES", _LOWERED | _WORK_ITEM_LOOPS, _PYTHON_OPERATORS)
