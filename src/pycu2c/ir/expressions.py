"""The expressions of the IR. ``ir/nodes.py`` says more, and is where others find them."""

from __future__ import annotations

from enum import Enum
from typing import TypeAlias

from pycu2c.base.records import dataclass
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_BOOL, WEAK_INT, Array, Scalar, Space, Type
from pycu2c.ops.intrinsics.registry import Intrinsic
from pycu2c.ops.operators import Operator, UnaryOperator

# the names of fields, outermost first, and indices of their elements
Path: TypeAlias = "tuple[str | Expr, ...]"


def field_type(scalar: Scalar, path: Path) -> Scalar:
    """The type of a record's field; of no field, the type itself."""
    for step in path:
        scalar = part_type(scalar, step)
    return scalar


def part_type(scalar: Scalar, step: str | Expr) -> Scalar:
    """The type of a field, or of an element of one."""
    if not isinstance(step, str):
        assert scalar.dtype.element is not None, f"{scalar} has no elements"
        return Scalar(scalar.dtype.element)
    found = scalar.dtype.field(step)
    assert found is not None, f"{scalar} has no field {step}"
    return Scalar(found.dtype)


@dataclass(frozen=True, slots=True, eq=False)
class Const:
    """A number; ``value`` is a Python bool, int or float that ``type`` holds exactly."""

    value: bool | int | float
    type: Scalar
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Var:
    """A local variable or parameter. Names are unique in a function: ``x``, ``x.1``."""

    name: str
    type: Scalar | Array
    span: Span


def in_cluster(e: Var) -> bool:
    """Whether an array is the shared ones of all blocks of a cluster: it has the name of that of
    each block, and the number of the block as its first axis."""
    return isinstance(e.type, Array) and e.type.space is Space.CLUSTER


@dataclass(frozen=True, slots=True, eq=False)
class Unary:
    op: UnaryOperator
    operand: Expr
    type: Scalar
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Binary:
    """Both operands have the same type (shifts included); comparisons give a weak bool."""

    op: Operator
    left: Expr
    right: Expr
    type: Scalar
    span: Span


class Junction(Enum):
    """The short-circuit connectives of conditions."""

    AND = "and"
    OR = "or"


@dataclass(frozen=True, slots=True, eq=False)
class Logical:
    """``left and right`` of bools, short-circuit; of other values the frontend makes Selects."""

    op: Junction
    left: Expr
    right: Expr
    span: Span

    @property
    def type(self) -> Scalar:
        return WEAK_BOOL


@dataclass(frozen=True, slots=True, eq=False)
class Select:
    """``then if condition else orelse``; only the chosen arm is evaluated."""

    condition: Expr
    then: Expr
    orelse: Expr
    type: Scalar
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Cast:
    """Conversion as ``ndarray.astype`` does it."""

    operand: Expr
    type: Scalar
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Load:
    """``array[indices]``: one integer index per axis; pointers have one. One index alone, of a
    contiguous array with several axes, is the number of the element."""

    array: Var
    indices: tuple[Expr, ...]
    span: Span

    @property
    def type(self) -> Scalar:
        assert isinstance(self.array.type, Array)
        return self.array.type.element


@dataclass(frozen=True, slots=True, eq=False)
class ElementOf:
    """The place ``array[indices]`` itself, for intrinsics that work on memory; C's ``&a[i]``.
    ``path`` names the field inside a record: ``&a[i].position.x``, ``&a[i].corners[2].x``."""

    array: Var
    indices: tuple[Expr, ...]
    span: Span
    path: Path = ()

    @property
    def type(self) -> Scalar:
        assert isinstance(self.array.type, Array)
        return field_type(self.array.type.element, self.path)


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """A field of a record value; C's ``operand.field``."""

    operand: Expr
    field: str
    type: Scalar
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Item:
    """An element of a field that has several; C's ``operand[index]``."""

    operand: Expr
    index: Expr
    type: Scalar
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Pack:
    """A record value made of its fields, in order."""

    parts: tuple[Expr, ...]
    type: Scalar
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """A part of an array, as an argument of a call. ``first`` are the indices of its first
    element; its axis ``k`` runs along ``axes[k]`` of the array in steps of ``steps[k]``, and
    has ``lengths[k]`` elements. A ``first`` of one index alone is the number of an element, and
    all axes run along these numbers, as after ``reshape``. An axis ``~k`` runs along the index
    number ``k`` in ``path``."""

    array: Var
    first: tuple[Expr, ...]
    axes: tuple[int, ...]
    steps: tuple[Expr, ...]
    lengths: tuple[Expr, ...]
    type: Array
    span: Span
    path: Path = ()  # of a field, if the array is of records


@dataclass(frozen=True, slots=True, eq=False)
class Dim:
    """``array.shape[axis]``."""

    array: Var
    axis: int
    span: Span
    type: Scalar = WEAK_INT


@dataclass(frozen=True, slots=True, eq=False)
class Stride:
    """The distance of neighbours along an axis, in elements. Made by ``transforms/common/flatten_arrays``."""

    array: Var
    axis: int
    span: Span
    type: Scalar = WEAK_INT


@dataclass(frozen=True, slots=True, eq=False)
class Let:
    """``name = value`` first, then ``body``, in which Var(name) stands for it."""

    name: str
    value: Expr
    body: Expr
    span: Span

    @property
    def type(self) -> Type:
        return self.body.type


@dataclass(frozen=True, slots=True, eq=False)
class Apply:
    """An intrinsic at work. Arguments are in the order of its parameters; ``array, index``
    together are one ElementOf."""

    intrinsic: Intrinsic
    arguments: tuple[Expr, ...]
    type: Type
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """A device function called by its name in the module."""

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
