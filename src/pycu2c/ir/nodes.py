"""The typed tree IR: frozen dataclasses in two closed unions, Expr and Stmt.

Every expression has a ``type`` and a ``span``; every statement a ``span``. Nodes hold rows
(an Operator, an Intrinsic), never their names. ``docs/ir.md`` gives the text form.

Three dialects share the nodes. *Built*: what the frontend makes; Python's meaning. *Legal*:
after ``transforms/common/legalize``; C's meaning, no FLOORDIV, no Let. *Flat*: after ``transforms/common/flatten_arrays``;
arrays of the global space are pointers with one index.
"""

from __future__ import annotations

from enum import Enum
from typing import TypeAlias

from pycu2c.base.external_code import Code, Foreign
from pycu2c.base.parameters import Parameter as Parameter
from pycu2c.base.parameters import Part as Part
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
from pycu2c.ir.expressions import Junction as Junction
from pycu2c.ir.expressions import Let as Let
from pycu2c.ir.expressions import Load as Load
from pycu2c.ir.expressions import Logical as Logical
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
from pycu2c.ir.print_format import Text
from pycu2c.ops.intrinsics.registry import Intrinsic

# ---- statements ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Allocate:
    """A shared or local array comes to be; ``var.type`` has its space and shape."""

    var: Var
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Declare:
    """A variable of this block and those inside it; made by ``transforms/common/declare_variables``."""

    var: Var
    init: Expr | None
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Assign:
    """The value has the variable's type."""

    var: Var
    value: Expr
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Store:
    """``array[indices] = value``; the value has the element type and is evaluated first.
    ``path`` names the field inside a record: ``a[i].x = value``, ``a[i].x[2] = value``."""

    array: Var
    indices: tuple[Expr, ...]
    value: Expr
    span: Span
    path: Path = ()


@dataclass(frozen=True, slots=True, eq=False)
class Evaluate:
    """An expression for its effect."""

    value: Expr
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Print:
    """Writes ``text`` with the values in its slots, in one piece."""

    text: Text
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
    """``for var in range(start, stop, step)``. Built: Python's meaning. Legal: C's ``for``,
    where ``step`` is a constant other than 0 and the body assigns neither ``var`` nor what
    ``stop`` reads; ``var`` is the loop's own. ``interchanged``: loops over threads go inside of it
    (set by ``transforms/cpu/loops/interchange``, until fission)."""

    var: Var
    start: Expr
    stop: Expr
    step: Expr
    body: Body
    span: Span
    interchanged: bool = False


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
class ThreadLoop:
    """The body, once for each thread of the block, in order. Made by ``transforms/cpu/fission/single_region``."""

    body: Body
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Strips:
    """The body, once for each strip of 64 of the block's threads, in order: inside, ThreadLoops
    are over the threads of the strip alone. ``kept``: the variables that are read after it.
    Made by ``transforms/cpu/fission/single_region``."""

    body: Body
    kept: frozenset[str]
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class BlockLoop:
    """The body, once for each block that one OS thread runs. Blocks follow each other along the
    axes of the grid in ``order``, fastest first; ``in_rows``: the body is run once for those that
    are neighbours along the first. Made by ``transforms/cpu/memory/privatize_accumulators`` and ``axis_loops``; a kernel
    without one is the body itself."""

    body: Body
    span: Span
    order: tuple[int, int, int] = (0, 1, 2)
    in_rows: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class AxisLoop:
    """What a ThreadLoop becomes, along one axis: ``var`` stands for the threads from ``start``
    up to ``stop`` in steps of ``step``, which the body changes nothing of. ``lockstep``: they may
    run statement by statement together. Made by ``transforms/cpu/loops/axis_loops``."""

    var: Var
    start: Expr
    stop: Expr
    step: Expr
    body: Body
    lockstep: bool
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class NextThread:
    """Ends the running thread's part of the innermost ThreadLoop or AxisLoop."""

    span: Span


class Meeting(Enum):
    """Whom a thread waits for."""

    BLOCK = "block"
    WARP = "warp"  # the lanes of a mask, who do the same
    SYNCWARP = "syncwarp"  # the lanes of a mask, who only wait
    ACTIVE = "active"  # the lanes of the warp that come here, too
    CLUSTER = "cluster"
    GRID = "grid"
    TURN = "turn"  # for what other threads do: they come first


class Per(Enum):
    """For whom an array has one element each."""

    THREAD = "thread"
    WARP = "warp"
    BLOCK = "block"


@dataclass(frozen=True, slots=True, eq=False)
class Gift:
    """What a waiting thread gives those that it meets: its own element of ``slots``, or
    something that is added to the element of its warp or block, which began as 0."""

    slots: Var
    per: Per
    value: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Wait:
    """A thread gives its gifts and waits until those that it meets have come. Made by
    ``transforms/cpu/barriers/lower_barriers``; ``row`` is what the user has called, None if it is a loop."""

    meeting: Meeting
    mask: Expr | None
    gifts: tuple[Gift, ...]
    row: Intrinsic | None
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class ThreadSteps:
    """The body, for each thread of the block by itself, in steps from one Wait to the next. Made
    by ``transforms/cpu/barriers/coroutines``."""

    body: Body
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class CText:
    """What C of the user's own does, all of a device function's body. ``arguments`` are what its
    text names: parameters, lengths and strides of arrays. Made by ``transforms/common/select_inline_c``."""

    code: Code
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
    | ThreadLoop
    | BlockLoop
    | AxisLoop
    | Strips
    | NextThread
    | Wait
    | ThreadSteps
    | CText
)
Body: TypeAlias = tuple[Stmt, ...]

# ---- functions -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """``python_name`` is what the user wrote; ``name`` is unique in the module. ``foreign``: the
    C that it is instead of its body, on targets that have some; it is none where a target has
    been chosen."""

    name: str
    python_name: str
    parameters: tuple[Parameter, ...]
    result: Type
    body: Body
    span: Span
    foreign: Foreign | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ConstantArray:
    """An array that never changes; every function of the module knows its name. ``values`` are
    its elements, the last axis fastest."""

    var: Var
    values: tuple[Expr, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Module:
    """A kernel and the device functions that it calls, callees before callers, but for those that
    call each other. ``cluster``: how many blocks a cluster has along x, y and z; empty if the
    kernel has none."""

    kernel: Function
    devices: tuple[Function, ...] = ()
    constants: tuple[ConstantArray, ...] = ()
    cluster: tuple[int, ...] = ()
