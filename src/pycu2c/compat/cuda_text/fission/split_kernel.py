"""A kernel's body -> the same, run by one loop over the threads of a block between the places where
they meet::

    float sum = 0;                          for all threads: sum = 0
    for (int t = 0; t < n; t++) {           for (int t = 0; t < n; t++) {
        row[threadIdx.x] = a[t];                for all threads: row[threadIdx.x] = a[t]
        __syncthreads();
        sum += row[0];                          for all threads: sum += row[0]
        __syncthreads();                    }
    }

This is done where the text shows that all threads come to each barrier together: it stands outside
of all conditions but those that all threads of a block find alike. A kernel without barriers is one
such loop. Of other kernels it is not said how to split them (Unanalyzable).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from pycu2c.base.records import dataclass
from pycu2c.compat.cuda_text.fission.barriers import (
    BLOCK_SYNC_FUNCTIONS,
    CollectiveCall,
    collective_calls,
    check_barrier,
    has_synchronization,
    is_barrier,
)
from pycu2c.compat.cuda_text.fission.split_legality import (
    check_body,
    check_objects,
    check_plain,
    class_names,
    has_references,
)
from pycu2c.compat.cuda_text.fission.variable_uniformity import (
    Modification,
    UniformityAnalysis,
    Uniformity,
    ThreadVariable,
    assignment,
    changes_at,
    may_be_pointed_at,
)
from pycu2c.compat.cuda_text.parse.declarations import (
    BUILT_IN,
    BLOCK_LEVEL_SPECIFIERS,
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
    """Statements that each thread runs by itself. ``is_again``: in a loop of all threads.
    ``calls``: of its only statement, those that threads meet in before."""

    body: tuple[Statement, ...]
    is_again: bool
    calls: tuple[CollectiveCall, ...] = ()
    is_test: bool = False  # its only statement is a condition
    meeting: Token | None = None  # that threads of warps come to before


@dataclass(frozen=True, slots=True)
class UniformStatement:
    """A statement that is done once for all threads."""

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
    """What only those threads go through for which a condition holds."""

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
    """Whether all threads go through a statement together: they meet in it, or in a loop in which
    they do it ends a round. ``interchanged``: where loops begin that all are to go through together."""
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
    """The same statements, each of which declares one name at most."""
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
    """The names that are assigned to once for all threads."""
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


_LOCATION_MACROS = frozenset(  # what says where it stands
    ("__LINE__", "__COUNTER__", "__func__", "__FUNCTION__", "__PRETTY_FUNCTION__")
)
_NOT_INTERCHANGEABLE = frozenset(
    ("break", "continue", "return", "if", "for", "while", "do", "switch", "?", "{", "[]", "goto")
)


def _loops_to_interchange(
    body: Sequence[Statement], own: frozenset[str], constants: frozenset[str]
) -> Iterator[int]:
    """Where the loops begin that sum up what they find in memory, for as many rounds as a variable
    says. One thread after the other would walk down a column, and wait for each sum; all together
    walk along the rows. ``own``: functions, which may do anything."""
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
                    bounds = {t.text for t in condition if t.kind == "word"} - constants
                    names = {t.text for t in first if t.kind == "word"}
                    if sums and bounds - names and _has_strided_access(tokens, names):
                        yield tokens[0].start


def _has_strided_access(tokens: Sequence[Token], names: set[str]) -> bool:
    """Whether a round of a loop is far in memory from the last, or where it is for all threads: by
    how subscripts have the names that the loop begins with."""
    finds = []
    for index, token in enumerate(tokens):
        if token.text == "[":
            inside = [t.text for t in tokens[index + 1 : closing(tokens, index)]]
            for place in (i for i, text in enumerate(inside) if text in names):
                beside = {*inside[max(place - 1, 0) : place], *inside[place + 1 : place + 2]}
                finds.append("*" in beside or (None if len(inside) == 1 else False))
    return True in finds or (bool(finds) and False not in finds)


def _defined_names(tokens: Sequence[Token]) -> frozenset[str]:
    """The names that a statement gives a meaning or a value."""
    if is_block_level(tokens):
        return (
            frozenset(t.text for t in tokens if t.kind == "word")
            - BUILT_IN
            - BLOCK_LEVEL_SPECIFIERS
        )
    found = assignment(tokens)
    return frozenset([found[0].text] if found else [row.name.text for row in declared(tokens)])


class Splitter:
    """The parts of a kernel's body, and its variables. ``interchange``: all threads go through loops
    together that might as well be run by each. Raises Unanalyzable."""

    def __init__(
        self, text: CudaSource, function: FunctionDefinition, macros: Macros, *, interchange: bool
    ) -> None:
        if function.body[1] >= len(text.tokens):
            raise Unanalyzable  # nothing closes it
        opening, closing = (text.tokens[place] for place in function.body)
        self._tokens = merge_operators(text.tokens[function.body[0] + 1 : function.body[1]])
        self._text, self._macros = text, macros
        self._constants = macros.constants
        check_body(self._tokens, macros)
        self._classes = class_names(text)
        self._has_references = has_references(text, self._tokens, macros)
        self._uniform_values: dict[int, tuple[Token, ...]] = {}  # what is assigned, by the place
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
            self.known, macros.expand, self._constants, self._changes()
        )
        self._uniformity.classify(self.variables)
        self.parts = tuple(self._parts(body, in_loop=False))

    def known(self, token: Token) -> ThreadVariable | None:
        """The variable that a word means where it stands. One that a region declares within its
        blocks is taken for one outside that has its name: more is kept then than need be."""
        place = token.start
        fits = [v for v in self.variables if v.name == token.text and v.start <= place < v.end]
        return max(fits, key=lambda v: v.start, default=None)

    def used(self, tokens: Sequence[Token]) -> dict[ThreadVariable, None]:
        """The variables that tokens name, by themselves or in macros."""
        found = (self.known(word) for word in self._macros.expanded_names(tokens))
        return dict.fromkeys(variable for variable in found if variable)

    # ---- what is declared ----

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
        """Note what the statements declare and assign that stand where threads meet."""
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
        check_plain(tokens, rows, self._macros)
        for row in rows:
            words = (t.text for word in row.kind for t in (word, *self._macros.expand(word)))
            self._add(row.name.text, row, row.name.start, end, words)
        if found := assignment(tokens):
            self._uniform_values[found[0].start] = found[1]

    def _expanded(self) -> Iterator[tuple[Sequence[Token], int]]:
        """Each token where it stands, and those that a macro stands for where it does."""
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
            variable = self.known(token) if token.kind == "word" and not is_member else None
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
                    pending.pop()  # of the loop that now has others in it
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
            variables = [self.known(row.name) for row in rows]
            return all(v is not None and v.kind is Uniformity.UNIFORM for v in variables)
        found = assignment(tokens)
        variable = self.known(found[0]) if found else None
        return variable is not None and variable.kind is Uniformity.UNIFORM

    def _lockstep_parts(self, statement: Statement, in_loop: bool) -> Iterator[KernelPart]:
        match statement:
            case SimpleStatement(tokens) if is_barrier(tokens):
                check_barrier(tokens, self._macros)
                yield Region((), in_loop, meeting=tokens[0])
            case SimpleStatement(tokens) if has_synchronization(tokens):
                if not self._macros.are_expressions(tokens):
                    raise Unanalyzable
                found = collective_calls(tokens, self._macros)
                yield Region((statement,), in_loop, found, meeting=tokens[0])
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
        """What some threads go through and others do not is nothing that all do together."""
        if any(t.text in ("break", "continue", *BLOCK_SYNC_FUNCTIONS) for t in tokens):
            raise Unanalyzable
        for assigned in _uniform_assignments(parts):
            variable = self.known(assigned)
            if variable is None or variable.start < tokens[0].start:
                raise Unanalyzable

    def _check(self, condition: Sequence[Token]) -> None:
        if not self._uniformity.is_uniform(condition):
            raise Unanalyzable
