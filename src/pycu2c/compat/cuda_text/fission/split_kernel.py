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
from pycu2c.compat.cuda_text.fission import split_legality
from pycu2c.compat.cuda_text.fission.barriers import (
    BLOCK_SYNC_FUNCTIONS,
    CollectiveCall,
    check_barrier,
    collective_calls,
    has_synchronization,
    is_barrier,
)
from pycu2c.compat.cuda_text.fission.variable_uniformity import (
    Modification,
    ThreadVariable,
    UniformityAnalysis,
    VariableUniformity,
    assignment,
    may_be_pointed_at,
    may_modify_at,
)
from pycu2c.compat.cuda_text.parse.declarations import (
    BLOCK_LEVEL_SPECIFIERS,
    BUILT_IN,
    declarators_of,
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
    nested_statements,
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


def nested_parts(part: KernelPart) -> tuple[KernelPart, ...]:
    """Return the parts directly inside a branch or a loop."""
    match part:
        case UniformBranch(_, then, otherwise):
            return (*then, *otherwise)
        case DivergentBranch(test, then, otherwise):
            return (test, *then, *otherwise)
        case UniformLoop(_, body):
            return body
        case Region() | UniformStatement():
            return ()


def _ends_iteration(tokens: Sequence[Token]) -> bool:
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
            return in_loop and _ends_iteration(tokens)
        case LoopStatement(tokens, _, _, _, body):
            return tokens[0].start in interchanged or runs_in_lockstep(body, False, interchanged)
        case _:
            nested = nested_statements(statement)
            return any(runs_in_lockstep(s, in_loop, interchanged) for s in nested)


def _split_declarations(body: Sequence[Statement]) -> Iterator[Statement]:
    """Split declarations into statements with one declarator each."""
    for statement in body:
        tokens = statement.tokens
        is_simple = isinstance(statement, SimpleStatement) and tokens[0].kind != "directive"
        declarators = declarators_of(tokens) if is_simple and not is_block_level(tokens) else ()
        if len(declarators) < 2:
            yield statement
            continue
        for d in declarators:
            declaration = (
                *d.specifiers,
                *d.pointers,
                d.name,
                *d.extents,
                *d.initializer,
                tokens[-1],
            )
            yield SimpleStatement(declaration, is_synthetic=True)


def _uniform_assignments(parts: Sequence[KernelPart]) -> Iterator[Token]:
    """Yield the names that are assigned once for all threads."""
    for part in parts:
        assignments: tuple[Sequence[Token], ...] = ()
        match part:
            case UniformStatement(statement):
                assignments = (statement.tokens,)
            case UniformLoop(loop, _):
                assignments = (loop.init, loop.step)
        yield from (found[0] for tokens in assignments if (found := assignment(tokens)))
        yield from _uniform_assignments(nested_parts(part))


_NOT_INTERCHANGEABLE = frozenset(
    ("break", "continue", "return", "if", "for", "while", "do", "switch", "?", "{", "[]", "goto")
)


def _loops_to_interchange(
    body: Sequence[Statement], text_functions: frozenset[str], constants: frozenset[str]
) -> Iterator[int]:
    """Yield the start offsets of loops to interchange with the thread loop.

    These are reductions over memory with a variable trip count. Thread by thread, such a loop reads
    a column and serializes the additions; interchanged, it reads rows.
    ``text_functions``: functions that the text defines, which may have side effects.
    """
    for statement in body:
        nested = nested_statements(statement)
        if isinstance(statement, LoopStatement) and statement.init and statement.step:
            (inside,) = nested
            inner = inside.body if isinstance(inside, BlockStatement) else nested
            if all(isinstance(s, SimpleStatement) for s in inner):
                if _is_interchangeable(statement, inner, text_functions, constants):
                    yield statement.tokens[0].start
                continue
        yield from _loops_to_interchange(nested, text_functions, constants)


def _is_interchangeable(
    loop: LoopStatement,
    body: Sequence[Statement],
    text_functions: frozenset[str],
    constants: frozenset[str],
) -> bool:
    words = {t.text for statement in body for t in statement.tokens}
    if not words.isdisjoint(_NOT_INTERCHANGEABLE | text_functions) or "[" not in words:
        return False
    bounds = {t.text for t in loop.condition if t.kind == "identifier"} - constants
    counters = {t.text for t in loop.init if t.kind == "identifier"}
    is_reduction = any(assignment(statement.tokens) for statement in body)
    has_variable_count = bool(bounds - counters)
    return is_reduction and has_variable_count and _has_strided_access(loop.tokens, counters)


def _has_strided_access(tokens: Sequence[Token], counters: set[str]) -> bool:
    """Return whether iterations access memory with a stride, or all threads the same element."""
    is_strided = []
    for index, token in enumerate(tokens):
        if token.text == "[":
            subscript = [t.text for t in tokens[index + 1 : closing(tokens, index)]]
            for position in (i for i, text in enumerate(subscript) if text in counters):
                neighbors = {
                    *subscript[max(position - 1, 0) : position],
                    *subscript[position + 1 : position + 2],
                }
                is_strided.append("*" in neighbors or (None if len(subscript) == 1 else False))
    return True in is_strided or (bool(is_strided) and False not in is_strided)


def _defined_names(tokens: Sequence[Token]) -> frozenset[str]:
    """Return the names that a statement declares or assigns."""
    if is_block_level(tokens):
        words = frozenset(t.text for t in tokens if t.kind == "identifier")
        return words - BUILT_IN - BLOCK_LEVEL_SPECIFIERS
    found = assignment(tokens)
    return frozenset([found[0].text] if found else [d.name.text for d in declarators_of(tokens)])


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
        opening, end = (text.tokens[index] for index in function.body)
        self._tokens = merge_operators(text.tokens[function.body[0] + 1 : function.body[1]])
        self._text, self._macros = text, macros
        self._constants = macros.constants
        split_legality.check_body(self._tokens, macros)
        self._classes = split_legality.class_names(text)
        self._has_references = split_legality.has_references(text, self._tokens, macros)
        # the values of assignments in lockstep, by the offset of the name
        self._uniform_values: dict[int, tuple[Token, ...]] = {}
        self.variables: list[ThreadVariable] = []
        for parameter in function.parameters:
            if not parameter.name or "[" in parameter.text:
                raise Unanalyzable
            scope = opening.start, end.start
            variable = ThreadVariable(parameter.name, len(self.variables), None, *scope)
            variable.is_pointer = "*" in parameter.text
            self._add_variable(variable, parameter.text.split())
        body = statements(self._tokens)
        text_functions = frozenset(f.name for f in text.functions)
        constants = macros.names | macros.constants
        self._interchanged = (
            frozenset(_loops_to_interchange(body, text_functions, constants))
            if interchange
            else frozenset()
        )
        self._record_variables(body, end.start, in_loop=False)
        self._uniformity = UniformityAnalysis(
            self.variable_of, macros.expand, self._constants, self._modifications()
        )
        self._uniformity.classify(self.variables)
        self.parts = tuple(self._parts(body, in_loop=False))

    def variable_of(self, token: Token) -> ThreadVariable | None:
        """Return the variable of an identifier.

        A variable that a region declares in a nested block is confused with an outer one of the
        same name, which at worst stores more than needed.
        """
        same_name = (v for v in self.variables if v.name == token.text)
        in_scope = (v for v in same_name if v.start <= token.start < v.end)
        return max(in_scope, key=lambda v: v.start, default=None)

    def variables_in(self, tokens: Sequence[Token]) -> dict[ThreadVariable, None]:
        """Return the variables that tokens name, directly or through macros, in order."""
        found = (self.variable_of(word) for word in self._macros.expanded_names(tokens))
        return dict.fromkeys(variable for variable in found if variable)

    # ---- variables ----

    def _add_variable(self, variable: ThreadVariable, type_words: Iterable[str]) -> None:
        is_object = not variable.is_pointer and not self._classes.isdisjoint(type_words)
        variable.is_object = is_object
        if is_object:
            split_legality.check_destructors(self._text, self._classes)
        self.variables.append(variable)

    def _record_variables(self, body: Sequence[Statement], end: int, in_loop: bool) -> None:
        """Record the declarations and assignments of statements that run in lockstep."""
        for statement in _split_declarations(body):
            if isinstance(statement, SimpleStatement):
                self._record_simple_statement(statement.tokens, end)
            elif runs_in_lockstep(statement, in_loop, self._interchanged):
                is_loop, inner_end = isinstance(statement, LoopStatement), statement.tokens[-1].end
                if isinstance(statement, LoopStatement):
                    self._record_simple_statement(statement.init, inner_end)
                    self._record_simple_statement(statement.step, inner_end)
                nested = nested_statements(statement)
                self._record_variables(nested, inner_end, in_loop or is_loop)

    def _record_simple_statement(self, tokens: Sequence[Token], end: int) -> None:
        if not tokens or tokens[0].kind == "directive":
            return
        if is_block_level(tokens):
            if any(t.text == "constexpr" for t in tokens[:3]):
                self._constants |= {d.name.text for d in declarators_of(tokens)}
            return
        declarators = declarators_of(tokens)
        split_legality.check_simple_statement(tokens, declarators, self._macros)
        for d in declarators:
            words = (t.text for word in d.specifiers for t in (word, *self._macros.expand(word)))
            number = len(self.variables)
            variable = ThreadVariable(d.name.text, number, d, d.name.start, end)
            variable.is_pointer = d.is_pointer
            self._add_variable(variable, words)
        if found := assignment(tokens):
            self._uniform_values[found[0].start] = found[1]

    def _expanded_tokens(self) -> Iterator[tuple[Sequence[Token], int]]:
        """Yield each token as (token list, index in the list), with macros expanded."""
        for index, token in enumerate(self._tokens):
            if inside := self._macros.expansion(token):
                expanded = [*self._tokens[:index], *inside, *self._tokens[index + 1 :]]
                yield from ((expanded, index + i) for i in range(len(inside)))
            else:
                yield self._tokens, index

    def _modifications(self) -> dict[ThreadVariable, list[Modification]]:
        found: dict[ThreadVariable, list[Modification]] = {v: [] for v in self.variables}
        declarations = {v.declarator.name.start for v in self.variables if v.declarator}
        for tokens, index in self._expanded_tokens():
            token = tokens[index]
            is_member = index and tokens[index - 1].text in (".", "->")
            variable = (
                self.variable_of(token) if token.kind == "identifier" and not is_member else None
            )
            if variable is None or token.start in declarations:
                continue
            extents = variable.declarator.extents if variable.declarator else ()
            axes = sum(t.text == "[" for t in extents)
            variable.is_pointed_at |= self._has_references or variable.is_object
            variable.is_pointed_at |= may_be_pointed_at(tokens, index, axes)
            if may_modify_at(tokens, index, is_pointer=variable.is_pointer):
                value = self._uniform_values.get(token.start)
                found[variable].append(Modification(token.start, value))
        return found

    # ---- parts ----

    def _parts(self, body: Sequence[Statement], in_loop: bool) -> Iterator[KernelPart]:
        pending: list[Statement] = []
        expand = self._macros.expanded_names

        def finish_region() -> Iterator[KernelPart]:
            if pending:
                yield Region(tuple(pending), in_loop)
                pending.clear()

        for statement in _split_declarations(body):
            if runs_in_lockstep(statement, in_loop, self._interchanged):
                if pending and pending[-1].tokens[0].kind == "directive":
                    pending.pop()  # a pragma of a loop that is split
                yield from finish_region()
                yield from self._lockstep_parts(statement, in_loop)
            elif isinstance(statement, SimpleStatement) and self._is_uniform_statement(
                statement.tokens
            ):
                names = _defined_names(statement.tokens)
                if any(t.text in (*names, "return") for s in pending for t in expand(s.tokens)):
                    yield from finish_region()
                yield UniformStatement(statement)
            elif not self._macros.are_expressions(statement.tokens):
                raise Unanalyzable
            else:
                pending.append(statement)
        yield from finish_region()

    def _is_uniform_statement(self, tokens: Sequence[Token]) -> bool:
        if is_block_level(tokens):
            return True
        names = [d.name for d in declarators_of(tokens)] if tokens[0].kind != "directive" else []
        if not names and (found := assignment(tokens)):
            names = [found[0]]
        variables = [self.variable_of(name) for name in names]
        return bool(names) and all(
            v and v.uniformity is VariableUniformity.UNIFORM for v in variables
        )

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
                else_parts = tuple(self._parts([otherwise], in_loop)) if otherwise else ()
                if self._uniformity.is_uniform(condition):
                    yield UniformBranch(condition, parts, else_parts)
                else:
                    self._check_divergent(tokens, (*parts, *else_parts))
                    test = Region((SimpleStatement(condition),), in_loop, is_test=True)
                    yield DivergentBranch(test, parts, else_parts)
            case LoopStatement(_, first, condition, step, body):
                if condition and not self._uniformity.is_uniform(condition):
                    raise Unanalyzable
                if any(
                    header and not self._is_uniform_statement(header) for header in (first, step)
                ):
                    raise Unanalyzable
                yield UniformLoop(statement, tuple(self._parts([body], in_loop=True)))

    def _check_divergent(self, tokens: Sequence[Token], parts: Sequence[KernelPart]) -> None:
        """Raise Unanalyzable if a branch contains uniform assignments or block barriers."""
        if any(t.text in ("break", "continue", *BLOCK_SYNC_FUNCTIONS) for t in tokens):
            raise Unanalyzable
        for name in _uniform_assignments(parts):
            variable = self.variable_of(name)
            if variable is None or variable.start < tokens[0].start:
                raise Unanalyzable
