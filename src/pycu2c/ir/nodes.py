"""The nodes of the IR: frozen dataclasses in two closed unions, ``Expr`` and ``Stmt``.

Every expression has a ``type`` and a ``span``, every statement a ``span``. Nodes refer to
operators and intrinsics by object, not by name. ``docs/how_it_works/ir.md`` describes the text.

All stages of the compiler share the nodes. ``forms.py`` lists which nodes may occur at each stage:
the front end returns IR with the semantics of Python, and passes lower it step by step.
"""

from __future__ import annotations

from enum import Enum
from typing import TypeAlias

from pycu2c.base.external_code import DialectCode, ExternalCode
from pycu2c.base.parameters import ArgumentPart as ArgumentPart
from pycu2c.base.parameters import OverlapRule
from pycu2c.base.parameters import Parameter as Parameter
from pycu2c.base.records import dataclass
from pycu2c.base.source import Span
from pycu2c.base.types import Type
from pycu2c.ir.expressions import Apply as Apply
from pycu2c.ir.expressions import Binary as Binary
from pycu2c.ir.expressions import Call as Call
from pycu2c.ir.expressions import Cast as Cast
from pycu2c.ir.expressions import Const as Const
from pycu2c.ir.expressions import Dim as Dim
from pycu2c.ir.expressions import ElementOf as ElementOf
from pycu2c.ir.expressions import Expr as Expr
from pycu2c.ir.expressions import Item as Item
from pycu2c.ir.expressions import Let as Let
from pycu2c.ir.expressions import Load as Load
from pycu2c.ir.expressions import Logical as Logical
from pycu2c.ir.expressions import LogicalOp as LogicalOp
from pycu2c.ir.expressions import Member as Member
from pycu2c.ir.expressions import Pack as Pack
from pycu2c.ir.expressions import Path as Path
from pycu2c.ir.expressions import Select as Select
from pycu2c.ir.expressions import Stride as Stride
from pycu2c.ir.expressions import Unary as Unary
from pycu2c.ir.expressions import Var as Var
from pycu2c.ir.expressions import View as View
from pycu2c.ir.expressions import field_type as field_type
from pycu2c.ir.expressions import in_cluster as in_cluster
from pycu2c.ir.expressions import memory_space as memory_space
from pycu2c.ir.print_format import PrintFormat
from pycu2c.ops.intrinsics.registry import Intrinsic

# ---- statements ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Allocate:
    """Allocate a shared or local array; ``var.type`` has its address space and shape."""

    var: Var
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Declare:
    """Declare a variable for this block and the blocks inside it.

    Created by ``transforms/common/declare_variables``.
    """

    var: Var
    init: Expr | None
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Assign:
    """Assign to a variable a value of its type."""

    var: Var
    value: Expr
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Store:
    """``array[indices] = value``; the value has the element type and is evaluated first.

    ``path`` selects a field of a record: ``a[i].x = value``, ``a[i].x[2] = value``.
    """

    array: Var
    indices: tuple[Expr, ...]
    value: Expr
    span: Span
    path: Path = ()


Access: TypeAlias = Load | ElementOf | Store  # to an element of an array


@dataclass(frozen=True, slots=True, eq=False)
class Evaluate:
    """Evaluate an expression for its side effect."""

    value: Expr
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Print:
    """Print ``text`` with ``values`` in its fields, atomically."""

    text: PrintFormat
    values: tuple[Expr, ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class If:
    condition: Expr
    then: Body
    orelse: Body
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class While:
    condition: Expr
    body: Body
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class For:
    """``for var in range(start, stop, step)``.

    In the IR form ``C_SEMANTICS`` it is C's ``for``: ``step`` is a constant other than 0, the body
    assigns neither ``var`` nor variables that ``stop`` reads, and ``var`` is local to the loop.
    ``interchanged``: work-item loops will be inside of it (set by ``interchange``). ``unroll``: how
    many copies of the body CUDA C requests, 0 for all iterations; None: the compiler decides.
    """

    var: Var
    start: Expr
    stop: Expr
    step: Expr
    body: Body
    span: Span
    interchanged: bool = False
    unroll: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Break:
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Continue:
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Return:
    value: Expr | None
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class WorkItemLoop:
    """Run the body for each thread of the block, in order.

    Created by ``transforms/cpu/fission/work_item_loops``.
    """

    body: Body
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class StripLoop:
    """Run the body for each strip of 64 threads of the block, in order (strip-mining).

    A WorkItemLoop inside runs over the threads of the strip. ``live_out`` has the variables that
    are read after the loop. Created by ``transforms/cpu/fission/work_item_loops``.
    """

    body: Body
    live_out: frozenset[str]
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class BlockLoop:
    """Run the body for each block that one OS thread executes.

    ``order`` lists the axes of the grid, the fastest first. If ``in_rows``, the body runs once
    for all neighbouring blocks along the first axis. Created by
    ``transforms/cpu/memory/privatize_accumulators`` and ``axis_loops``; a kernel without a
    BlockLoop is the body of one.
    """

    body: Body
    span: Span
    order: tuple[int, int, int] = (0, 1, 2)
    in_rows: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class AxisLoop:
    """A work-item loop along one axis of the block, from ``start`` to ``stop`` by ``step``.

    The body changes none of the bounds. ``lockstep``: the iterations may run in lockstep, that
    is, the loop may be vectorized. Created by ``transforms/cpu/loops/axis_loops``.
    """

    var: Var
    start: Expr
    stop: Expr
    step: Expr
    body: Body
    lockstep: bool
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class NextWorkItem:
    """Continue with the next thread of the innermost WorkItemLoop or AxisLoop."""

    span: Span


class SyncScope(Enum):
    """The threads that a thread waits for."""

    BLOCK = "block"
    WARP = "warp"  # the lanes of a mask, which execute the same operation
    SYNCWARP = "syncwarp"  # the lanes of a mask, which only synchronize
    ACTIVE = "active"  # the lanes of the warp that reach the same point
    CLUSTER = "cluster"
    GRID = "grid"
    YIELD = "yield"  # no threads: let other threads run first, in a busy-wait loop


class Granularity(Enum):
    """Whether an array has one element per thread, per warp or per block."""

    THREAD = "thread"
    WARP = "warp"
    BLOCK = "block"


@dataclass(frozen=True, slots=True, eq=False)
class Contribution:
    """A value that a thread passes to the threads that it synchronizes with.

    A thread stores the value in its own element of ``array``, or adds it to the element of its
    warp or block, which starts at 0.
    """

    array: Var
    granularity: Granularity
    value: Expr


@dataclass(frozen=True, slots=True, eq=False)
class BarrierWait:
    """Write the contributions of a thread, then wait for the threads of ``scope``.

    Created by ``transforms/cpu/barriers/lower_barriers``. ``intrinsic`` is the one that the user
    called; None for a busy-wait loop.
    """

    scope: SyncScope
    mask: Expr | None
    contributions: tuple[Contribution, ...]
    intrinsic: Intrinsic | None
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class CoroutineLoop:
    """Run the body for each thread of the block as a coroutine, suspended at each BarrierWait.

    Created by ``transforms/cpu/barriers/coroutines``.
    """

    body: Body
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class InlineC:
    """Inline C: the whole body of a device function, as the user wrote it.

    ``arguments`` are the parameters, lengths and strides that the text names. Created by
    ``transforms/common/select_inline_c``.
    """

    code: DialectCode
    arguments: tuple[Expr, ...]
    is_pure: bool
    span: Span


Stmt: TypeAlias = (
    Allocate
    | Declare
    | Assign
    | Store
    | Evaluate
    | Print
    | If
    | While
    | For
    | Break
    | Continue
    | Return
    | WorkItemLoop
    | BlockLoop
    | AxisLoop
    | StripLoop
    | NextWorkItem
    | BarrierWait
    | CoroutineLoop
    | InlineC
)
Body: TypeAlias = tuple[Stmt, ...]

# ---- functions -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """A kernel or device function.

    ``python_name`` is the name in the source; ``name`` is unique in the module.
    ``external_code`` is C that replaces the body on some targets; None once
    ``transforms/common/select_inline_c`` has selected the target. ``overlap_rules`` tell which of
    its array parameters may overlap.
    """

    name: str
    python_name: str
    parameters: tuple[Parameter, ...]
    result: Type
    body: Body
    span: Span
    external_code: ExternalCode | None = None
    overlap_rules: tuple[OverlapRule, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class ConstantArray:
    """A constant array at module scope; ``values`` are its elements in C order.

    ``weak``: the elements are the weak numbers of a tuple, not those of a NumPy array.
    """

    var: Var
    values: tuple[Expr, ...]
    weak: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Module:
    """A kernel and the device functions that it calls.

    Callees precede callers, except in recursion. ``cluster`` has the blocks of a cluster along
    x, y and z; it is empty for a kernel without clusters.
    """

    kernel: Function
    device_functions: tuple[Function, ...] = ()
    constants: tuple[ConstantArray, ...] = ()
    cluster: tuple[int, ...] = ()

    @property
    def functions(self) -> tuple[Function, ...]:
        """Return all functions, the kernel last."""
        return (*self.device_functions, self.kernel)
