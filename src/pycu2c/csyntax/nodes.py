"""The C that we emit, as a tree. Knows nothing of IR or Python; holds no text but names."""

from __future__ import annotations

from typing import Literal, TypeAlias

from pycu2c.base.records import dataclass, field

# ---- types ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Named:
    """``float``, ``long long``, ``struct saxpy_args``; ``const`` goes before it."""

    name: str
    const: bool = False


@dataclass(frozen=True, slots=True)
class Pointer:
    """``const float *__restrict__``: a pointer; ``const`` makes the pointer itself constant."""

    to: CType
    const: bool = False
    restrict: bool = False


@dataclass(frozen=True, slots=True)
class ArrayOf:
    """``float name[16][17]``; without extents ``float name[]``."""

    of: CType
    extents: tuple[int, ...]


CType: TypeAlias = Named | Pointer | ArrayOf

# ---- expressions ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Name:
    name: str


@dataclass(frozen=True, slots=True)
class Number:
    """A literal as it is printed: ``2.0f``, ``-1``; a leading minus counts as unary minus."""

    text: str


@dataclass(frozen=True, slots=True)
class String:
    """A string literal; ``value`` is the text itself, the printer escapes it."""

    value: str


@dataclass(frozen=True, slots=True)
class Unary:
    """``op`` is one of ``- + ~ ! * &``."""

    op: str
    operand: Expr


@dataclass(frozen=True, slots=True)
class Binary:
    """``op`` is a C binary operator other than assignment and comma."""

    op: str
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Conditional:
    condition: Expr
    then: Expr
    orelse: Expr


@dataclass(frozen=True, slots=True)
class Call:
    function: str
    arguments: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Index:
    base: Expr
    index: Expr


@dataclass(frozen=True, slots=True)
class Member:
    """``base.field``, or ``base->field`` if ``arrow``."""

    base: Expr
    field: str
    arrow: bool = False


@dataclass(frozen=True, slots=True)
class Cast:
    type: CType
    operand: Expr


@dataclass(frozen=True, slots=True)
class Braced:
    """A struct value: ``(struct pair){a, b}`` in C, where ``head`` is the cast, ``pair{a, b}`` in
    C++."""

    head: str
    items: tuple[Expr, ...]


Expr: TypeAlias = (
    Name | Number | String | Unary | Binary | Conditional | Call | Index | Member | Cast | Braced
)

# ---- statements ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Declare:
    """``__shared__ float tile[16][16];`` or ``const int i = 0;``."""

    type: CType
    name: str
    init: Expr | None = None
    qualifiers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Assign:
    """``target op value;`` where op is ``=``, ``+=``, …"""

    target: Expr
    value: Expr
    op: str = "="


@dataclass(frozen=True, slots=True)
class Step:
    """``++target`` or ``--target``, as a statement or a for loop's third part."""

    target: Expr
    op: Literal["++", "--"] = "++"


@dataclass(frozen=True, slots=True)
class Evaluate:
    expression: Expr


@dataclass(frozen=True, slots=True)
class If:
    """``orelse`` that holds exactly one If is printed as ``else if``."""

    condition: Expr
    then: tuple[Stmt, ...]
    orelse: tuple[Stmt, ...] = ()


@dataclass(frozen=True, slots=True)
class For:
    """``init`` is a Declare or Assign, ``step`` an Assign or Step; each may be absent."""

    init: Declare | Assign | None
    condition: Expr | None
    step: Assign | Step | None
    body: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class While:
    condition: Expr
    body: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class Break:
    pass


@dataclass(frozen=True, slots=True)
class Continue:
    pass


@dataclass(frozen=True, slots=True)
class Goto:
    label: str


@dataclass(frozen=True, slots=True)
class LabelHere:
    """``name:;``, at one level less of indentation."""

    name: str


@dataclass(frozen=True, slots=True)
class Switch:
    """``switch (subject) { … }``; its cases may stand inside of the loops in its body."""

    subject: Expr
    body: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """``case 3:;``, at one level less of indentation."""

    number: int


@dataclass(frozen=True, slots=True)
class Return:
    value: Expr | None = None


@dataclass(frozen=True, slots=True)
class Block:
    body: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class Comment:
    """One ``//`` line per line of text. No text can end it or run on into code."""

    text: str


@dataclass(frozen=True, slots=True)
class Pragma:
    """``#pragma text``, at the left margin's indentation of its block."""

    text: str


@dataclass(frozen=True, slots=True)
class Line:
    """``#line 12 "kernels.py"``: where a debugger says that what follows stands."""

    number: int
    file: str


@dataclass(frozen=True, slots=True)
class Blank:
    """An empty line."""


@dataclass(frozen=True, slots=True)
class Verbatim:
    """C that is no tree, a helper function or the user's own: printed as it is, its lines
    indented."""

    text: str


Stmt: TypeAlias = (
    Declare
    | Assign
    | Step
    | Evaluate
    | If
    | For
    | While
    | Break
    | Continue
    | Goto
    | LabelHere
    | Switch
    | Case
    | Return
    | Block
    | Comment
    | Pragma
    | Line
    | Blank
    | Verbatim
)

# ---- a file --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Parameter:
    type: CType
    name: str


@dataclass(frozen=True, slots=True)
class Function:
    """A definition. ``qualifiers`` come first: ``extern "C" __global__``, ``static inline``."""

    name: str
    result: CType
    parameters: tuple[Parameter, ...]
    body: tuple[Stmt, ...]
    qualifiers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Prototype:
    """``void f(int a);``: a function that is defined further down."""

    function: Function


@dataclass(frozen=True, slots=True)
class Struct:
    """``packed``: its fields follow each other without gaps."""

    name: str
    fields: tuple[Parameter, ...]
    packed: bool = False


@dataclass(frozen=True, slots=True)
class Include:
    """``#include <stdint.h>``."""

    header: str


@dataclass(frozen=True, slots=True)
class Table:
    """``static const float name[2][2] = {1, 2, 3, 4};`` at the top of a file."""

    type: ArrayOf
    name: str
    values: tuple[Expr, ...]
    qualifiers: tuple[str, ...]


Item: TypeAlias = (
    Function | Prototype | Struct | Table | Include | Verbatim | Comment | Line | Blank
)


@dataclass(frozen=True, slots=True)
class File:
    items: tuple[Item, ...] = field(default=())
