"""Common subexpression elimination for indices: compute a repeated index once, if that is shorter.

``x[i * n + j + 1] = …; y[i * n + j + 1] = …`` -> ``at = i * n + j + 1; x[at] = …; y[at] = …``.
Variables that have a value are read in place of the expressions, and ``nx`` after ``nx =
a.shape.1`` in place of the length. C compilers do the same, so only the text changes. A variable is
declared before the first statement that certainly computes its value, in the same block: nothing
is computed that was not, and loads and stores stay where they are. Requires the form DECLARED, or
AXIS_LOOPS on CPUs (``ir/forms.py``), and keeps it. Source: Briggs, Cooper and Simpson 1997, value
numbering with a scoped hash table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Set
from itertools import count

from pycu2c.analysis.effects import may_be_contracted
from pycu2c.analysis.value_numbering import operation, value_number
from pycu2c.analysis.variables import names_in, single_definitions
from pycu2c.base.dtypes import INT32
from pycu2c.base.records import dataclass, field, replace
from pycu2c.base.types import Scalar
from pycu2c.ir import nodes as ir
from pycu2c.ir import walk
from pycu2c.ir.builders import is_atom, scalar_type
from pycu2c.ops.operators import ADD, MUL, SUB

_INDEX = "at"  # the name of an index
_ROW = "row"  # of a product that begins one
_OFFSET = "offset"  # of another part

_DEFINITIONS = ir.Declare | ir.Assign | ir.For | ir.AxisLoop

_SHORT_WIDTH = len("[i + 1]")  # expressions that are shorter are easier to read than a name
_INDENT_WIDTH = len("    ")
_DECLARATION_WIDTH = len("int  = ;\n")
_WIDER_TYPE_WIDTH = len("long long") - len("int")
_UNSIGNED_CAST_WIDTH = len("(uint32_t)")


def share_subexpressions(module: ir.Module) -> ir.Module:
    """Compute repeated indices of all functions once."""
    return walk.map_functions(module, _share_in_function)


def _share_in_function(function: ir.Function) -> ir.Function:
    constants = {p.name for p in function.parameters} | single_definitions(function.body).keys()
    sharing = _Sharing(constants)
    body = sharing.block(function.body)
    return replace(function, body=_inline_short(body, sharing.definitions, sharing.outlived))


@dataclass(frozen=True, slots=True)
class _NewVariable:
    """The value of a new variable, and the depth of the block that declares it.

    operands: the value numbers of the variables in the value.
    """

    value: ir.Expr
    depth: int
    operands: Mapping[str, int]


@dataclass(slots=True)
class _Sharing:
    """Replaces every index, and each part of one, by a variable.

    ``definitions`` has the new variables in program order.
    """

    constants: Set[str]  # parameters, and variables that are never reassigned
    definitions: dict[str, _NewVariable] = field(default_factory=dict)
    outlived: set[str] = field(default_factory=set)  # that are read after an operand has changed
    _depth: int = 0  # of the block
    _numbers: dict[Hashable, int] = field(default_factory=dict)  # of values, by operation
    _fresh: Iterator[int] = field(default_factory=count)
    _current: dict[str, int] = field(default_factory=dict)  # the value number of each variable
    _available: dict[int, ir.Var] = field(default_factory=dict)  # a variable that has the value
    _scope: list[int] = field(default_factory=list)  # the values that the block made available
    _preceding: list[ir.Stmt] = field(default_factory=list)  # declarations before the statement

    # ---- statements ----

    def block(self, body: ir.Body) -> ir.Body:
        enclosing = self._scope, self._preceding
        self._scope = []
        self._depth += 1
        out: list[ir.Stmt] = []
        for s in body:
            self._preceding = []
            new = self.statement(s)
            out += [*self._preceding, *new]
        for number in self._scope:
            del self._available[number]
        self._depth -= 1
        self._scope, self._preceding = enclosing
        return tuple(out)

    def statement(self, s: ir.Stmt) -> ir.Body:
        if isinstance(s, ir.Declare | ir.Assign):
            return self.definition(s)
        bodies = walk.bodies(s)
        changed = {x.var.name for x in walk.statements((s,)) if isinstance(x, _DEFINITIONS)}
        if not isinstance(s, ir.For | ir.AxisLoop | ir.If):
            self._forget(changed)  # a While evaluates its condition again
        new: list[ir.Expr] = []
        for position, e in enumerate(walk.operands(s)):
            hint = _INDEX if isinstance(s, ir.Store) and position > 0 else ""
            new.append(self.value(e, hint, not isinstance(s, ir.While))[0])
        if isinstance(s, ir.For | ir.AxisLoop):
            self._forget(changed)
        before = {name: self._number_of(name) for name in changed}
        blocks: list[ir.Body] = []
        for body in bodies:
            self._current.update(before)
            blocks.append(self.block(body))
        self._forget(changed)
        return (walk.with_bodies(walk.with_operands(s, tuple(new)), tuple(blocks)),)

    def definition(self, s: ir.Declare | ir.Assign) -> ir.Body:
        """Rewrite a definition; drop that of a temporary whose value another variable has."""
        value = walk.operands(s)
        if not value:
            self._forget({s.var.name})
            return (s,)
        hint = _OFFSET if s.var.name.startswith(f"{_INDEX}.") else ""
        new, number = self.value(value[0], hint, has_variable=True)
        if number is None:
            self._forget({s.var.name})
            return (walk.with_operands(s, (new,)),)
        self._current[s.var.name] = number
        if s.var.name in self.constants:
            if number in self._available and _is_temporary(s.var):
                return ()
            if number not in self._available and _is_longer(new, s.var):
                self._provide(number, s.var)
        return (walk.with_operands(s, (new,)),)

    def _forget(self, names: Set[str]) -> None:
        """Give variables new values, which no other variable has."""
        for name in names:
            self._current[name] = next(self._fresh)

    def _number_of(self, name: str) -> int:
        if name not in self._current:
            self._current[name] = next(self._fresh)
        return self._current[name]

    def _provide(self, number: int, var: ir.Var) -> None:
        self._available[number] = var
        self._scope.append(number)

    # ---- expressions ----

    def value(
        self, e: ir.Expr, hint: str, is_certain: bool = True, *, has_variable: bool = False
    ) -> tuple[ir.Expr, int | None]:
        """Return an expression with shared parts, and its value number, if it has one.

        ``hint``: the name for a new variable, "" outside of indices. ``is_certain``: whether the
        statement evaluates the expression in any case, and once. ``has_variable``: whether a
        variable gets its value anyway, possibly converted.
        """
        if isinstance(e, ir.Var):
            return self.variable(e)
        if isinstance(e, ir.Const):
            return e, self._number(operation(e))
        operands, numbers = [], []
        in_cast = isinstance(e, ir.Cast) and (has_variable or hint != "")
        for position, operand in enumerate(walk.children(e)):
            certain = is_certain and not (position > 0 and isinstance(e, ir.Select | ir.Logical))
            operand_hint = _operand_hint(e, position, hint)
            new, number = self.value(operand, operand_hint, certain, has_variable=in_cast)
            operands.append(new)
            numbers.append(number)
        e = walk.with_children(e, tuple(operands))
        kind = operation(e)
        if kind is None or None in numbers or not _is_exact(e):
            return e, None
        number = self._number((kind, *numbers))
        known = self._available.get(number)
        if known is not None and (has_variable or _width(e, {}) > _SHORT_WIDTH):
            return self._read(known), number
        if known is None and hint and is_certain and not has_variable and _is_index_arithmetic(e):
            var = ir.Var(f"{hint}.e{len(self.definitions)}", scalar_type(e), e.span)
            numbers_of_operands = {name: self._number_of(name) for name in names_in(e)}
            self.definitions[var.name] = _NewVariable(e, self._depth, numbers_of_operands)
            self._preceding.append(ir.Declare(var, e, e.span))
            self._current[var.name] = number
            self._provide(number, var)
            return var, number
        return e, number

    def variable(self, e: ir.Var) -> tuple[ir.Expr, int | None]:
        """Return a variable, or one that it is a copy of."""
        if not isinstance(e.type, Scalar):
            return e, None
        number = self._number_of(e.name)
        if e.name in self.constants and (_is_temporary(e) or _is_component(e)):
            return self._read(self._available.get(number, e)), number
        return e, number

    def _read(self, var: ir.Var) -> ir.Var:
        """Note a read of a variable."""
        definition = self.definitions.get(var.name)
        operands = definition.operands if definition else {}
        if any(self._number_of(name) != number for name, number in operands.items()):
            self.outlived.add(var.name)
        return var

    def _number(self, key: Hashable) -> int:
        if key not in self._numbers:
            self._numbers[key] = next(self._fresh)
        return self._numbers[key]


def _operand_hint(e: ir.Expr, position: int, hint: str) -> str:
    """Return the name for an operand of an expression that has the name ``hint``."""
    if isinstance(e, ir.Load | ir.ElementOf):
        return _INDEX if position > 0 else ""
    if not hint or isinstance(e, ir.Cast):
        return hint
    if position > 0 or not isinstance(e, ir.Binary) or e.op not in (ADD, SUB):
        return _OFFSET
    return _ROW if isinstance(e.left, ir.Binary) and e.left.op is MUL else _OFFSET


def _is_exact(e: ir.Expr) -> bool:
    """Return whether C compilers compute an expression the same in any statement."""
    if not may_be_contracted(e):
        return True
    assert isinstance(e, ir.Binary)
    return e.op in (ADD, SUB) and is_atom(e.left) and is_atom(e.right)


def _is_index_arithmetic(e: ir.Expr) -> bool:
    dtype = scalar_type(e).dtype
    is_operation = isinstance(e, ir.Binary | ir.Cast | ir.Select) and not is_atom(e)
    return is_operation and dtype.is_integer and dtype.bits >= 32


def _is_temporary(var: ir.Var) -> bool:
    """Return whether a pass has created a variable, such as ``at.l1``."""
    _, _, suffix = var.name.partition(".")
    return suffix != "" and not suffix.isdigit()


def _is_component(e: ir.Expr) -> bool:
    """Return whether this is a length or stride, such as ``a.shape.1``."""
    return isinstance(e, ir.Var) and e.name.count(".") > 1


def _is_longer(e: ir.Expr, var: ir.Var) -> bool:
    """Return whether the text of a value, if it may be replaced, is longer than a variable."""
    is_replaced = _is_component(e) or not is_atom(e)
    return is_replaced and _width(e, {}) >= len(_c_name(var.name))


# ---- the widths of texts ----


def _inline_short(
    body: ir.Body, definitions: dict[str, _NewVariable], outlived: Set[str]
) -> ir.Body:
    """Inline the variables that make the text longer, except those that are ``outlived``."""
    if not definitions:
        return body
    uses: Counter[str] = Counter()
    readers: set[int] = set()  # the operands that read new variables, by identity
    for s in walk.statements(body):
        for e in walk.operands(s):
            names = [name for name in names_in(e) if name in definitions]
            if names:
                uses.update(names)
                readers.add(id(e))
        if isinstance(s, ir.Store):
            uses.subtract(names_in(*_repeated_indices(s)))
    inlined: dict[str, ir.Expr] = {}
    widths: dict[str, int] = {}

    def inline(e: ir.Expr) -> ir.Expr:
        return inlined.get(e.name, e) if isinstance(e, ir.Var) else e

    for name, definition in definitions.items():
        width, name_width = _width(definition.value, widths), len(_c_name(name))
        declaration_width = definition.depth * _INDENT_WIDTH + _DECLARATION_WIDTH + name_width
        if scalar_type(definition.value).dtype is not INT32:
            declaration_width += _WIDER_TYPE_WIDTH
        is_shorter = declaration_width + width + uses[name] * name_width < uses[name] * width
        is_kept = is_shorter or name in outlived
        widths[name] = name_width if is_kept else width
        if not is_kept:
            inlined[name] = walk.rewrite(definition.value, inline)

    def statement(s: ir.Stmt) -> ir.Body:
        if isinstance(s, ir.Declare) and s.var.name in inlined:
            return ()
        return (walk.map_operands(s, lambda e: walk.rewrite(e, inline) if id(e) in readers else e),)

    return walk.map_stmt(body, statement) if inlined else body


def _repeated_indices(s: ir.Store) -> tuple[ir.Expr, ...]:
    """Return the indices of the element that ``a[i] = a[i] + x`` reads: in C, ``a[i] += x``."""
    value = _without_casts(s.value)
    old = _without_casts(value.left) if isinstance(value, ir.Binary) else value
    if not isinstance(old, ir.Load) or old.array.name != s.array.name:
        return ()
    numbers = tuple(map(value_number, old.indices))
    is_same = None not in numbers and numbers == tuple(map(value_number, s.indices))
    return old.indices if is_same else ()


def _without_casts(e: ir.Expr) -> ir.Expr:
    while isinstance(e, ir.Cast):
        e = e.operand
    return e


def _c_name(name: str) -> str:
    """Return the name in C without its number: ``at`` of ``at.e3``, but ``a.shape.1``."""
    return name if name.count(".") > 1 else name.partition(".")[0]


def _width(e: ir.Expr, widths: dict[str, int]) -> int:
    """Estimate the number of characters of an expression in C."""
    match e:
        case ir.Var(name=name):
            return widths.get(name, len(_c_name(name)))
        case ir.Const(value=value):
            return len(str(value))
        case ir.Cast(operand=operand):
            return _width(operand, widths)
        case ir.Apply():
            return len(e.intrinsic.name)
        case _:
            operands = walk.children(e)
            width = sum(_width(x, widths) for x in operands) + len(" + ") * (len(operands) - 1)
            is_converted = isinstance(operands[0], ir.Cast) and not scalar_type(e).dtype.is_signed
            return width + _UNSIGNED_CAST_WIDTH if is_converted else width
