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

    node_classes: frozenset[type[ir.Stmt | ir.Expr]]
    intrinsics: frozenset[Intrinsic]
    operators: frozenset[Operator]
    has_device_functions: bool
    has_inline_c: bool

    def any_of(self, *classes: type[ir.Stmt | ir.Expr]) -> bool:
        return not self.node_classes.isdisjoint(classes)

    @property
    def has_memory_intrinsics(self) -> bool:
        """Return whether the module calls intrinsics that access memory, such as atomics."""
        return any(i.effect is Effect.MEMORY for i in self.intrinsics)

    @property
    def has_effects(self) -> bool:
        """Return whether threads may have effects other than stores, or wait for each other."""
        return self.has_inline_c or any(i.has_effect for i in self.intrinsics)

    @property
    def only_loads_and_stores(self) -> bool:
        """Return whether threads only compute, load and store, without any other effect."""
        return not self.has_effects and not self.any_of(ir.Allocate, ir.Print)

    @property
    def needs_cpu_lowering(self) -> bool:
        """Return whether the module calls intrinsics that CPU passes replace."""
        return any(i.synchronizes or i.c is None for i in self.intrinsics)


def summarize_module(module: ir.Module) -> ModuleSummary:
    """Return the summary of a module."""
    functions = module.functions
    node_classes: set[type[ir.Stmt | ir.Expr]] = set()
    intrinsics: set[Intrinsic] = set()
    operators: set[Operator] = set()
    for function in functions:
        expressions = list(all_expressions(function.body))
        node_classes.update(map(type, statements(function.body)), map(type, expressions))
        intrinsics |= {e.intrinsic for e in expressions if isinstance(e, ir.Apply)}
        operators |= {e.op for e in expressions if isinstance(e, ir.Binary)}
    has_inline_c = any(function.external_code is not None for function in functions)
    return ModuleSummary(
        frozenset(node_classes),
        frozenset(intrinsics),
        frozenset(operators),
        bool(module.device_functions),
        has_inline_c,
    )


@dataclass(frozen=True, slots=True, eq=False)
class IRForm:
    """A stage of the IR, by the nodes and operators that may not occur in it."""

    name: str
    forbidden_nodes: frozenset[type[ir.Stmt | ir.Expr]]
    forbidden_operators: frozenset[Operator] = frozenset()

    def __repr__(self) -> str:
        return self.name


def check_form(summary: ModuleSummary, form: IRForm, after: str) -> None:
    """Raise InternalError if a module has nodes that its form does not allow."""
    violations = sorted(
        node_class.__name__ for node_class in summary.node_classes & form.forbidden_nodes
    )
    violations += sorted(operator.name for operator in summary.operators & form.forbidden_operators)
    if violations:
        raise InternalError(
            f"this is a bug in pycu2c: {after} has created IR that is not {form.name}: "
            f"it has {', '.join(violations)}"
        )


_WORK_ITEM_LOOPS = frozenset(
    {ir.WorkItemLoop, ir.StripLoop, ir.BlockLoop, ir.AxisLoop, ir.NextWorkItem}
)
_BLOCK_CODE = _WORK_ITEM_LOOPS | {ir.CoroutineLoop}
_PYTHON_OPERATORS = frozenset({FLOORDIV, MOD, SHL, SHR})
_ARRAY_SHAPES = frozenset({ir.Dim, ir.Stride, ir.View})

# Semantics of Python, code of one thread. Assignments declare variables.
TYPED = IRForm("TYPED", _BLOCK_CODE | {ir.Declare, ir.BarrierWait})
# Semantics of C: operators and indices are C's. BarrierWait may replace barriers.
C_SEMANTICS = IRForm("C_SEMANTICS", _BLOCK_CODE | {ir.Declare}, _PYTHON_OPERATORS)
# The order of evaluation is that of the statements.
ORDERED = IRForm("ORDERED", C_SEMANTICS.forbidden_nodes | {ir.Let}, _PYTHON_OPERATORS)
# Arrays are pointers; their lengths and strides are parameters.
FLAT = IRForm("FLAT", ORDERED.forbidden_nodes | _ARRAY_SHAPES, _PYTHON_OPERATORS)
# Each variable is declared in the block that holds its uses. CUDA C is generated from it.
DECLARED = IRForm("DECLARED", FLAT.forbidden_nodes - {ir.Declare}, _PYTHON_OPERATORS)

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
