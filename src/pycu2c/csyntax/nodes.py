"""The nodes of the C syntax tree: types, expressions, statements, declarations and files.

Other modules import this one ``as c``, so that ``c.If`` differs from the IR's ``If``.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from pycu2c.base.records import dataclass, field

# ---- types ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class NamedType:
    """A type by its name: ``float``, ``long long``, ``struct saxpy_args``."""

    name: str
    const: bool = False


@dataclass(frozen=True, slots=True)
class PointerType:
    """A pointer, ``const float *__restrict__``; ``const`` qualifies the pointer itself."""

    pointee: CType
    const: bool = False
    restrict: bool = False


@dataclass(frozen=True, slots=True)
class ArrayType:
    """An array, ``float name[16][17]``; without extents ``float name[]``."""

    element: CType
    extents: tuple[int, ...]


CType: TypeAlias = NamedType | PointerType | ArrayType

# ---- expressions ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Name:
    name: str


@dataclass(frozen=True, slots=True)
class Number:
    """A literal as printed, ``2.0f`` or ``-1``; a leading minus counts as unary minus."""

    text: str


@dataclass(frozen=True, slots=True)
class String:
    """A string literal; ``value`` is the unescaped text."""

    value: str


@dataclass(frozen=True, slots=True)
class UnaryExpr:
    """A unary expression; ``op`` is one of ``- + ~ ! * &``."""

    op: str
    operand: Expr


@dataclass(frozen=True, slots=True)
class BinaryExpr:
    """A binary expression; ``op`` is any C operator but assignment and comma."""

    op: str
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Conditional:
    condition: Expr
    then: Expr
    orelse: Expr


@dataclass(frozen=True, slots=True)
class CallExpr:
    function: str
    arguments: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Index:
    base: Expr
    index: Expr


@dataclass(frozen=True, slots=True)
class MemberExpr:
    """``base.field``, or ``base->field`` if ``arrow``."""

    base: Expr
    field: str
    arrow: bool = False


@dataclass(frozen=True, slots=True)
class CastExpr:
    type: CType
    operand: Expr


@dataclass(frozen=True, slots=True)
class CompoundLiteral:
    """A struct value: ``(struct pair){a, b}`` in C, ``pair{a, b}`` in C++.

    ``head`` is the text before the braces.
    """

    head: str
    items: tuple[Expr, ...]


Expr: TypeAlias = (
    Name
    | Number
    | String
    | UnaryExpr
    | BinaryExpr
    | Conditional
    | CallExpr
    | Index
    | MemberExpr
    | CastExpr
    | CompoundLiteral
)

# ---- statements ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DeclStmt:
    """A declaration: ``__shared__ float tile[16][16];``, ``const int i = 0;``."""

    type: CType
    name: str
    init: Expr | None = None
    qualifiers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AssignStmt:
    """An assignment ``target op value;``, where ``op`` is ``=``, ``+=``, …"""

    target: Expr
    value: Expr
    op: str = "="


@dataclass(frozen=True, slots=True)
class Increment:
    """``++target`` or ``--target``, as a statement or in the head of a for loop."""

    target: Expr
    op: Literal["++", "--"] = "++"


@dataclass(frozen=True, slots=True)
class ExprStmt:
    expression: Expr


@dataclass(frozen=True, slots=True)
class IfStmt:
    """An if statement; an ``orelse`` of exactly one IfStmt is printed as ``else if``."""

    condition: Expr
    then: tuple[Stmt, ...]
    orelse: tuple[Stmt, ...] = ()


@dataclass(frozen=True, slots=True)
class ForStmt:
    """A for loop; ``init``, ``condition`` and ``step`` may be absent."""

    init: DeclStmt | AssignStmt | None
    condition: Expr | None
    step: AssignStmt | Increment | None
    body: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class WhileStmt:
    condition: Expr
    body: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class BreakStmt:
    pass


@dataclass(frozen=True, slots=True)
class ContinueStmt:
    pass


@dataclass(frozen=True, slots=True)
class Goto:
    label: str


@dataclass(frozen=True, slots=True)
class LabelStatement:
    """A label, ``name:;``, indented one level less."""

    name: str


@dataclass(frozen=True, slots=True)
class Switch:
    """``switch (subject) { … }``; its cases may be inside loops of its body."""

    subject: Expr
    body: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """A case label, ``case 3:;``, indented one level less."""

    number: int


@dataclass(frozen=True, slots=True)
class ReturnStmt:
    value: Expr | None = None


@dataclass(frozen=True, slots=True)
class CompoundStmt:
    body: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class Comment:
    """One ``//`` line per line of text; the printer removes characters that could end it."""

    text: str


@dataclass(frozen=True, slots=True)
class Pragma:
    """``#pragma text``, with the indentation of its block."""

    text: str


@dataclass(frozen=True, slots=True)
class LineDirective:
    """``#line 12 "kernels.py"``: the source position of the next line, for debuggers."""

    number: int
    file: str


@dataclass(frozen=True, slots=True)
class Blank:
    """An empty line."""


@dataclass(frozen=True, slots=True)
class Verbatim:
    """C text without a tree, such as a helper function or inline C; the printer indents it."""

    text: str


Stmt: TypeAlias = (
    DeclStmt
    | AssignStmt
    | Increment
    | ExprStmt
    | IfStmt
    | ForStmt
    | WhileStmt
    | BreakStmt
    | ContinueStmt
    | Goto
    | LabelStatement
    | Switch
    | Case
    | ReturnStmt
    | CompoundStmt
    | Comment
    | Pragma
    | LineDirective
    | Blank
    | Verbatim
)

# ---- a file --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ParameterDecl:
    type: CType
    name: str


@dataclass(frozen=True, slots=True)
class FunctionDecl:
    """A function definition; ``qualifiers`` are ``extern "C" __global__``, ``static inline``, …"""

    name: str
    result: CType
    parameters: tuple[ParameterDecl, ...]
    body: tuple[Stmt, ...]
    qualifiers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Prototype:
    """``void f(int a);``: the declaration of a function that is defined later."""

    function: FunctionDecl


@dataclass(frozen=True, slots=True)
class Struct:
    """A struct definition; ``packed`` removes the padding between fields."""

    name: str
    fields: tuple[ParameterDecl, ...]
    packed: bool = False


@dataclass(frozen=True, slots=True)
class Include:
    """``#include <stdint.h>``."""

    header: str


@dataclass(frozen=True, slots=True)
class ConstantTable:
    """A constant array at file scope: ``static const float name[2][2] = {…};``."""

    type: ArrayType
    name: str
    values: tuple[Expr, ...]
    qualifiers: tuple[str, ...]


Item: TypeAlias = (
    FunctionDecl
    | Prototype
    | Struct
    | ConstantTable
    | Include
    | Verbatim
    | Comment
    | LineDirective
    | Blank
)


@dataclass(frozen=True, slots=True)
class File:
    items: tuple[Item, ...] = field(default=())
