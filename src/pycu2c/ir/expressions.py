"""The expression nodes of the IR; other modules import them from ``ir/nodes.py``."""

from __future__ import annotations

from enum import Enum
from typing import TypeAlias

from pycu2c.base.records import dataclass
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_BOOL, WEAK_INT, Array, MemorySpace, Scalar, Type
from pycu2c.ops.intrinsics.registry import Intrinsic
from pycu2c.ops.operators import Operator, UnaryOperator

# names of fields, outermost first, and indices into fields that are arrays
Path: TypeAlias = "tuple[str | Expr, ...]"


def field_type(scalar: Scalar, path: Path) -> Scalar:
    """Return the type of the field of a record at ``path``."""
    for step in path:
        scalar = component_type(scalar, step)
    return scalar


def component_type(scalar: Scalar, step: str | Expr) -> Scalar:
    """Return the type of a field, or of an element of a field that is an array."""
    if not isinstance(step, str):
        assert scalar.dtype.element is not None, f"{scalar} has no elements"
        return Scalar(scalar.dtype.element)
    record_field = scalar.dtype.field(step)
    assert record_field is not None, f"{scalar} has no field {step}"
    return Scalar(record_field.dtype)


class _Node:
    """What expressions share: a cache of the nodes below one, which ``walk.descendants`` fills."""

    __slots__ = ("descendants",)
    descendants: tuple[Expr, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Const(_Node):
    """A literal; ``value`` is a Python bool, int or float that ``type`` represents exactly."""

    value: bool | int | float
    type: Scalar
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Var(_Node):
    """A local variable or parameter; names are unique in a function: ``x``, ``x.1``."""

    name: str
    type: Scalar | Array
    span: Span


def memory_space(array: Var) -> MemorySpace:
    assert isinstance(array.type, Array)
    return array.type.space


def in_cluster(e: Var) -> bool:
    """Return whether an array is distributed shared memory: the shared arrays of a cluster.

    It has the name of the shared array of a block, and the rank of the block as its first axis.
    """
    return isinstance(e.type, Array) and e.type.space is MemorySpace.CLUSTER


@dataclass(frozen=True, slots=True, eq=False)
class Unary(_Node):
    op: UnaryOperator
    operand: Expr
    type: Scalar
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Binary(_Node):
    """A binary operation; both operands have one type, and comparisons have type weak bool."""

    op: Operator
    left: Expr
    right: Expr
    type: Scalar
    span: Span


class LogicalOp(Enum):
    """A short-circuit operator on conditions."""

    AND = "and"
    OR = "or"


@dataclass(frozen=True, slots=True, eq=False)
class Logical(_Node):
    """``left and right`` of bools, short-circuit; other operand types are lowered to Select."""

    op: LogicalOp
    left: Expr
    right: Expr
    span: Span

    @property
    def type(self) -> Scalar:
        return WEAK_BOOL


@dataclass(frozen=True, slots=True, eq=False)
class Select(_Node):
    """``then if condition else orelse``; only the selected operand is evaluated."""

    condition: Expr
    then: Expr
    orelse: Expr
    type: Scalar
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Cast(_Node):
    """A conversion with the semantics of ``ndarray.astype``.

    ``must_fit``: the program converts a weak number, so constants among its values must fit. Only
    ``frontend/constant_conversions.py`` reads it.
    """

    operand: Expr
    type: Scalar
    span: Span
    must_fit: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Load(_Node):
    """``array[indices]``: one integer index per axis, or one index for a pointer.

    A single index into a contiguous array of more axes is a linear index.
    """

    array: Var
    indices: tuple[Expr, ...]
    span: Span

    @property
    def type(self) -> Scalar:
        assert isinstance(self.array.type, Array)
        return self.array.type.element


@dataclass(frozen=True, slots=True, eq=False)
class ElementOf(_Node):
    """The address of ``array[indices]``, C's ``&a[i]``, for intrinsics that access memory.

    ``path`` selects a field of a record: ``&a[i].position.x``, ``&a[i].corners[2].x``.
    """

    array: Var
    indices: tuple[Expr, ...]
    span: Span
    path: Path = ()

    @property
    def type(self) -> Scalar:
        assert isinstance(self.array.type, Array)
        return field_type(self.array.type.element, self.path)


@dataclass(frozen=True, slots=True, eq=False)
class Member(_Node):
    """A field of a record value; C's ``operand.field``."""

    operand: Expr
    field: str
    type: Scalar
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Item(_Node):
    """An element of a field that is an array; C's ``operand[index]``."""

    operand: Expr
    index: Expr
    type: Scalar
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Pack(_Node):
    """A record, vector or complex value built from its fields, in order."""

    parts: tuple[Expr, ...]
    type: Scalar
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class View(_Node):
    """A view of an array, as an argument of a call.

    ``first`` has the indices of the first element. Axis ``k`` of the view follows axis
    ``axes[k]`` of the array with stride ``steps[k]``, and has ``lengths[k]`` elements. A
    ``first`` of a single index is a linear index, and all axes are strides of it, as after
    ``reshape``. An axis ``~k`` follows index ``k`` in ``path``.
    """

    array: Var
    first: tuple[Expr, ...]
    axes: tuple[int, ...]
    steps: tuple[Expr, ...]
    lengths: tuple[Expr, ...]
    type: Array
    span: Span
    path: Path = ()  # to a field, for an array of records


@dataclass(frozen=True, slots=True, eq=False)
class Dim(_Node):
    """The length of an axis, ``array.shape[axis]``."""

    array: Var
    axis: int
    span: Span
    type: Scalar = WEAK_INT


@dataclass(frozen=True, slots=True, eq=False)
class Stride(_Node):
    """The stride of an axis, in elements. Created by ``transforms/common/flatten_arrays``."""

    array: Var
    axis: int
    span: Span
    type: Scalar = WEAK_INT


@dataclass(frozen=True, slots=True, eq=False)
class Let(_Node):
    """Bind ``value`` to ``name``, then evaluate ``body``, which may use Var(name)."""

    name: str
    value: Expr
    body: Expr
    span: Span

    @property
    def type(self) -> Type:
        return self.body.type


@dataclass(frozen=True, slots=True, eq=False)
class Apply(_Node):
    """A call of an intrinsic. The parameters ``array, index`` take one ElementOf argument."""

    intrinsic: Intrinsic
    arguments: tuple[Expr, ...]
    type: Type
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Call(_Node):
    """A call of a device function, by its name in the module."""

    function: str
    arguments: tuple[Expr, ...]
    type: Type
    span: Span


Expr: TypeAlias = (
    Const
    | Var
    | Unary
    | Binary
    | Logical
    | Select
    | Cast
    | Load
    | ElementOf
    | Member
    | Item
    | Pack
    | View
    | Dim
    | Stride
    | Let
    | Apply
    | Call
)
