"""Split a kernel's body at barriers into regions, each run by a loop over the threads of a block.

Before and after::

    float sum = 0;                          for all threads: sum = 0
    for (int t = 0; t < n; t++) {           for (int t = 0; t < n; t++) {
        row[threadIdx.x] = a[t];                for all threads: row[threadIdx.x] = a[t]
        __syncthreads();
        sum += row[0];                          for all threads: sum += row[0]
        __syncthreads();                    }
    }

Requires that every barrier is in uniform control flow; warp-level barriers may be in divergent
branches that whole warps take. Other kernels raise Unanalyzable. See ``transforms.cpu.fission`` for
the pass on the IR.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from pycu2c.base.records import dataclass
from pycu2c.compat.cuda_text.fission.barriers import (
    BLOCK_SYNC_FUNCTIONS,
    CollectiveCall,
    check_barrier,
    collective_calls,
    has_synchronization,
    is_barrier,
)
from pycu2c.compat.cuda_text.fission.split_legality import (
    check_body,
    check_objects,
    check_simple_statement,
    class_names,
    has_references,
)
from pycu2c.compat.cuda_text.fission.variable_uniformity import (
    Modification,
    ThreadVariable,
    UniformityAnalysis,
    VariableUniformity,
    assignment,
    changes_at,
    may_be_pointed_at,
)
from pycu2c.compat.cuda_text.parse.declarations import (
    BLOCK_LEVEL_SPECIFIERS,
    BUILT_IN,
    Declarator,
    declared,
    is_block_level,
)
from pycu2c.compat.cuda_text.parse.functions import FunctionDefinition
from pycu2c.compat.cuda_text.parse.macros import Macros
from pycu2c.compat.cuda_text.parse.statements import (
    BlockStatement,
    IfStatement,
    LoopStatement,
    SimpleStatement,
    Statement,
    Unanalyzable,
    statements,
)
from pycu2c.compat.cuda_text.parse.tokens import Token, closing, merge_operators
from pycu2c.compat.cuda_text.source_text import CudaSource


@dataclass(eq=False, slots=True)
class Region:
    """Statements that each thread executes independently.

    ``calls`` are the collective calls that precede its only statement.
    """

    body: tuple[Statement, ...]
    is_in_loop: bool
    calls: tuple[CollectiveCall, ...] = ()
    is_test: bool = False  # the only statement is a condition
    barrier: Token | None = None  # a warp-level barrier before the region


@dataclass(frozen=True, slots=True)
class UniformStatement:
    """A statement that is executed once for all threads."""

    statement: SimpleStatement


@dataclass(frozen=True, slots=True)
class UniformBranch:
    condition: tuple[Token, ...]
    then: tuple[KernelPart, ...]
    otherwise: tuple[KernelPart, ...]


@dataclass(frozen=True, slots=True)
class UniformLoop:
    loop: LoopStatement
    body: tuple[KernelPart, ...]


@dataclass(eq=False, slots=True)
class DivergentBranch:
    """A branch that only some threads take."""

    test: Region
    then: tuple[KernelPart, ...]
    otherwise: tuple[KernelPart, ...]


KernelPart: TypeAlias = Region | UniformStatement | UniformBranch | UniformLoop | DivergentBranch


def _ends_round(tokens: Sequence[Token]) -> bool:
    first = tokens[0].text
    return first in ("break", "continue") or (
        first == "switch" and any(t.text == "continue" for t in tokens)
    )


def runs_in_lockstep(
    statement: Statement, in_loop: bool, interchanged: frozenset[int] = frozenset()
) -> bool:
    """Return whether all threads execute a statement in lockstep, because it contains a barrier.

    This includes ``break`` and ``continue`` of such a loop, and the loops that start at the offsets
    in ``interchanged``.
    """
    if has_synchronization(statement.tokens):
        return True
    match statement:
        case SimpleStatement(tokens):
            return in_loop and _ends_round(tokens)
        case BlockStatement(_, body):
            return any(runs_in_lockstep(each, in_loop, interchanged) for each in body)
        case IfStatement(_, _, then, otherwise):
            return any(
                s is not None and runs_in_lockstep(s, in_loop, interchanged)
                for s in (then, otherwise)
            )
        case LoopStatement(tokens, _, _, _, body):
            return tokens[0].start in interchanged or runs_in_lockstep(body, False, interchanged)


def _split_declarations(body: Sequence[Statement]) -> Iterator[Statement]:
    """Split declarations into statements with one declarator each."""
    for statement in body:
        match statement:
            case SimpleStatement(tokens) if tokens[0].kind != "directive" and not is_block_level(
                tokens
            ):
                rows = declared(tokens)
                if len(rows) < 2:
                    yield statement
                for row in rows if len(rows) > 1 else ():
                    whole = (*row.kind, *row.before, row.name, *row.after, *row.value, tokens[-1])
                    yield SimpleStatement(whole, is_synthetic=True)
            case _:
                yield statement


def _uniform_assignments(parts: Sequence[KernelPart]) -> Iterator[Token]:
    """Yield the names that are assigned once for all threads."""
    for part in parts:
        rows: list[Sequence[Token]] = []
        match part:
            case UniformStatement(statement):
                rows = [statement.tokens]
            case UniformBranch(_, then, otherwise) | DivergentBranch(_, then, otherwise):
                yield from _uniform_assignments((*then, *otherwise))
            case UniformLoop(loop, body):
                rows = [loop.first, loop.step]
                yield from _uniform_assignments(body)
        yield from (found[0] for row in rows if (found := assignment(row)))


_LOCATION_MACROS = frozenset(  # depend on the line or function
    ("__LINE__", "__COUNTER__", "__func__", "__FUNCTION__", "__PRETTY_FUNCTION__")
)
_NOT_INTERCHANGEABLE = frozenset(
    ("break", "continue", "return", "if", "for", "while", "do", "switch", "?", "{", "[]", "goto")
)


def _loops_to_interchange(
    body: Sequence[Statement], own: frozenset[str], constants: frozenset[str]
) -> Iterator[int]:
    """Yield the start offsets of loops to interchange with the thread loop.

    These are reductions over memory with a variable trip count. Thread by thread, such a loop reads
    a column and serializes the additions; interchanged, it reads rows. ``own``: functions of the
    text, which may have side effects.
    """
    for statement in body:
        match statement:
            case BlockStatement(_, inner):
                yield from _loops_to_interchange(inner, own, constants)
            case IfStatement(_, _, then, otherwise):
                yield from _loops_to_interchange(
                    [s for s in (then, otherwise) if s], own, constants
                )
            case LoopStatement(tokens, first, condition, step, inside):
                rows = inside.body if isinstance(inside, BlockStatement) else (inside,)
                words = {t.text for row in rows for t in row.tokens}
                if not all(isinstance(row, SimpleStatement) for row in rows) or not (
                    first and step
                ):
                    yield from _loops_to_interchange([inside], own, constants)
                elif words.isdisjoint(_NOT_INTERCHANGEABLE | own) and "[" in words:
                    sums = any(assignment(row.tokens) for row in rows)
                    bounds = {t.text for t in condition if t.kind == "identifier"} - constants
                    names = {t.text for t in first if t.kind == "identifier"}
                    if sums and bounds - names and _has_strided_access(tokens, names):
                        yield tokens[0].start


def _has_strided_access(tokens: Sequence[Token], names: set[str]) -> bool:
    """Return whether iterations access memory with a stride, or all threads the same element."""
    is_strided = []
    for index, token in enumerate(tokens):
        if token.text == "[":
            inside = [t.text for t in tokens[index + 1 : closing(tokens, index)]]
            for place in (i for i, text in enumerate(inside) if text in names):
                beside = {*inside[max(place - 1, 0) : place], *inside[place + 1 : place + 2]}
                is_strided.append("*" in beside or (None if len(inside) == 1 else False))
    return True in is_strided or (bool(is_strided) and False not in is_strided)


def _defined_names(tokens: Sequence[Token]) -> frozenset[str]:
    """Return the names that a statement declares or assigns."""
    if is_block_level(tokens):
        return (
            frozenset(t.text for t in tokens if t.kind == "identifier")
            - BUILT_IN
            - BLOCK_LEVEL_SPECIFIERS
        )
    found = assignment(tokens)
    return frozenset([found[0].text] if found else [row.name.text for row in declared(tokens)])


class Splitter:
    """Splits a kernel's body into parts and classifies its variables.

    ``interchange``: run loops in lockstep where ``_loops_to_interchange`` proposes it. Raises
    Unanalyzable.
    """

    def __init__(
        self, text: CudaSource, function: FunctionDefinition, macros: Macros, *, interchange: bool
    ) -> None:
        if function.body[1] >= len(text.tokens):
            raise Unanalyzable  # unclosed
        opening, closing = (text.tokens[place] for place in function.body)
        self._tokens = merge_operators(text.tokens[function.body[0] + 1 : function.body[1]])
        self._text, self._macros = text, macros
        self._constants = macros.constants
        check_body(self._tokens, macros)
        self._classes = class_names(text)
        self._has_references = has_references(text, self._tokens, macros)
        self._uniform_values: dict[
            int, tuple[Token, ...]
        ] = {}  # values assigned in lockstep, by offset
        self.variables: list[ThreadVariable] = []
        self._is_pointer = {named.name: "*" in named.text for named in function.parameters}
        for named in function.parameters:
            if not named.name or "[" in named.text:
                raise Unanalyzable
            self._add(named.name, None, opening.start, closing.start, named.text.split())
        if any(t.text in _LOCATION_MACROS for t in macros.expanded_names(self._tokens)):
            raise Unanalyzable
        body = statements(self._tokens)
        own = frozenset(f.name for f in text.functions)
        constants = macros.names | macros.constants
        self._interchanged = (
            frozenset(_loops_to_interchange(body, own, constants)) if interchange else frozenset()
        )
        self._find_variables(body, closing.start, in_loop=False)
        self._uniformity = UniformityAnalysis(
            self.variable_of, macros.expand, self._constants, self._changes()
        )
        self._uniformity.classify(self.variables)
        self.parts = tuple(self._parts(body, in_loop=False))

    def variable_of(self, token: Token) -> ThreadVariable | None:
        """Return the variable of an identifier.

        A variable that a region declares in a nested block is taken for an outer one of the same
        name, which at worst stores more than needed.
        """
        place = token.start
        fits = [v for v in self.variables if v.name == token.text and v.start <= place < v.end]
        return max(fits, key=lambda v: v.start, default=None)

    def used(self, tokens: Sequence[Token]) -> dict[ThreadVariable, None]:
        """Return the variables that tokens name, directly or through macros."""
        found = (self.variable_of(word) for word in self._macros.expanded_names(tokens))
        return dict.fromkeys(variable for variable in found if variable)

    # ---- variables ----

    def _add(
        self, name: str, row: Declarator | None, start: int, end: int, words: Iterable[str]
    ) -> None:
        variable = ThreadVariable(name, len(self.variables), row, start, end)
        is_pointer = row.is_pointer if row else self._is_pointer[name]
        variable.is_object = not is_pointer and not self._classes.isdisjoint(words)
        if variable.is_object:
            check_objects(self._text, self._classes)
        self.variables.append(variable)

    def _find_variables(self, body: Sequence[Statement], end: int, in_loop: bool) -> None:
        """Record the declarations and assignments of statements that run in lockstep."""
        for statement in _split_declarations(body):
            match statement:
                case SimpleStatement(tokens):
                    self._find_plain(tokens, end)
                case _ if not runs_in_lockstep(statement, in_loop, self._interchanged):
                    pass
                case BlockStatement(tokens, inner):
                    self._find_variables(inner, tokens[-1].end, in_loop)
                case IfStatement(_, _, then, otherwise):
                    for inside in (then, otherwise):
                        self._find_variables(
                            [inside] if inside else [], statement.tokens[-1].end, in_loop
                        )
                case LoopStatement(tokens, first, _, step, inside):
                    self._find_plain(first, tokens[-1].end)
                    self._find_plain(step, tokens[-1].end)
                    self._find_variables([inside], tokens[-1].end, in_loop=True)

    def _find_plain(self, tokens: Sequence[Token], end: int) -> None:
        if not tokens or tokens[0].kind == "directive":
            return
        if is_block_level(tokens):
            if any(t.text == "constexpr" for t in tokens[:3]):
                self._constants |= {row.name.text for row in declared(tokens)}
            return
        rows = declared(tokens)
        check_simple_statement(tokens, rows, self._macros)
        for row in rows:
            words = (t.text for word in row.kind for t in (word, *self._macros.expand(word)))
            self._add(row.name.text, row, row.name.start, end, words)
        if found := assignment(tokens):
            self._uniform_values[found[0].start] = found[1]

    def _expanded(self) -> Iterator[tuple[Sequence[Token], int]]:
        """Yield each token in context, with macros expanded."""
        for index, token in enumerate(self._tokens):
            if inside := self._macros.expansion(token):
                row = [*self._tokens[:index], *inside, *self._tokens[index + 1 :]]
                yield from ((row, index + i) for i in range(len(inside)))
            else:
                yield self._tokens, index

    def _changes(self) -> dict[ThreadVariable, list[Modification]]:
        found: dict[ThreadVariable, list[Modification]] = {v: [] for v in self.variables}
        own = {v.declared.name.start for v in self.variables if v.declared}
        for tokens, index in self._expanded():
            token = tokens[index]
            is_member = index and tokens[index - 1].text in (".", "->")
            variable = (
                self.variable_of(token) if token.kind == "identifier" and not is_member else None
            )
            if variable is None or token.start in own:
                continue
            row = variable.declared
            axes = sum(t.text == "[" for t in row.after) if row else 0
            variable.is_pointed_at |= self._has_references or variable.is_object
            variable.is_pointed_at |= may_be_pointed_at(tokens, index, axes)
            is_pointer = row.is_pointer if row else self._is_pointer[variable.name]
            if changes_at(tokens, index, is_pointer=is_pointer):
                found[variable].append(
                    Modification(token.start, self._uniform_values.get(token.start))
                )
        return found

    # ---- parts ----

    def _parts(self, body: Sequence[Statement], in_loop: bool) -> Iterator[KernelPart]:
        pending: list[Statement] = []

        def flushed() -> Iterator[KernelPart]:
            if pending:
                yield Region(tuple(pending), in_loop)
                pending.clear()

        for statement in _split_declarations(body):
            if runs_in_lockstep(statement, in_loop, self._interchanged):
                if pending and pending[-1].tokens[0].kind == "directive":
                    pending.pop()  # a pragma of a loop that is split
                yield from flushed()
                yield from self._lockstep_parts(statement, in_loop)
            elif isinstance(statement, SimpleStatement) and self._is_once(statement.tokens):
                names = _defined_names(statement.tokens)
                if any(t.text in (*names, "return") for s in pending for t in self._names_in(s)):
                    yield from flushed()
                yield UniformStatement(statement)
            elif not self._macros.are_expressions(statement.tokens):
                raise Unanalyzable
            else:
                pending.append(statement)
        yield from flushed()

    def _names_in(self, statement: Statement) -> Iterator[Token]:
        return self._macros.expanded_names(statement.tokens)

    def _is_once(self, tokens: Sequence[Token]) -> bool:
        if is_block_level(tokens):
            return True
        if rows := declared(tokens) if tokens[0].kind != "directive" else ():
            variables = [self.variable_of(row.name) for row in rows]
            return all(v is not None and v.kind is VariableUniformity.UNIFORM for v in variables)
        found = assignment(tokens)
        variable = self.variable_of(found[0]) if found else None
        return variable is not None and variable.kind is VariableUniformity.UNIFORM

    def _lockstep_parts(self, statement: Statement, in_loop: bool) -> Iterator[KernelPart]:
        match statement:
            case SimpleStatement(tokens) if is_barrier(tokens):
                check_barrier(tokens, self._macros)
                yield Region((), in_loop, barrier=tokens[0])
            case SimpleStatement(tokens) if has_synchronization(tokens):
                if not self._macros.are_expressions(tokens):
                    raise Unanalyzable
                found = collective_calls(tokens, self._macros)
                yield Region((statement,), in_loop, found, barrier=tokens[0])
            case SimpleStatement(tokens):
                if tokens[0].text == "switch":
                    raise Unanalyzable
                yield UniformStatement(statement)
            case BlockStatement(_, body):
                yield UniformBranch((), tuple(self._parts(body, in_loop)), ())
            case IfStatement(tokens, condition, then, otherwise):
                parts = tuple(self._parts([then], in_loop))
                others = tuple(self._parts([otherwise], in_loop)) if otherwise else ()
                if self._uniformity.is_uniform(condition):
                    yield UniformBranch(condition, parts, others)
                else:
                    self._check_divergent(tokens, (*parts, *others))
                    test = Region((SimpleStatement(condition),), in_loop, is_test=True)
                    yield DivergentBranch(test, parts, others)
            case LoopStatement(_, first, condition, step, body):
                if condition:
                    self._check(condition)
                for header in (first, step):
                    if header and not self._is_once(header):
                        raise Unanalyzable
                yield UniformLoop(statement, tuple(self._parts([body], in_loop=True)))

    def _check_divergent(self, tokens: Sequence[Token], parts: Sequence[KernelPart]) -> None:
        """Raise Unanalyzable if a branch contains uniform assignments or block barriers."""
        if any(t.text in ("break", "continue", *BLOCK_SYNC_FUNCTIONS) for t in tokens):
            raise Unanalyzable
        for assigned in _uniform_assignments(parts):
            variable = self.variable_of(assigned)
            if variable is None or variable.start < tokens[0].start:
                raise Unanalyzable

    def _check(self, condition: Sequence[Token]) -> None:
        if not self._uniformity.is_uniform(condition):
            raise Unanalyzable
