"""Split a kernel's body at barriers into regions, each run by a loop over the threads of a block.

Before and after::

    float sum = 0;                          for all threads: sum = 0
    for (int t = 0; t < n; t++) {           for (int t = 0; t < n; t++) {
        row[threadIdx.x] = a[t];                for all threads: row[threadIdx.x] = a[t]
        __syncthreads();
        sum += row[0];                          for all threads: sum += row[0]
        __syncthreads();                    }
    }

Requires that every barrier is in uniform control flow. Other kernels raise Unanalyzable. In a
region, variables that are uniform or recomputed are constants, so the C++ compiler rejects a kernel
that changes one in a way that the analysis does not see. See ``transforms.cpu.fission`` for the
pass on the IR.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TypeAlias

from pycu2c.base.limits import MAX_BLOCK_THREADS
from pycu2c.base.records import dataclass
from pycu2c.compat.cuda_text.fission import interchange, legality
from pycu2c.compat.cuda_text.fission.variables import (
    ThreadVariable,
    UniformityAnalysis,
    VariableUniformity,
    assignment,
    record_use,
)
from pycu2c.compat.cuda_text.parse.declarations import (
    BUILT_IN,
    declarators_of,
    is_block_level,
    split_declarations,
    statement_declarators,
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

BARRIERS = frozenset(("__syncthreads", "__syncwarp"))
_MAX_CONTEXT_VARIABLES = 24  # MAX_CONTEXT_BYTES in headers/split_kernels.h limits their size
_DROPPED_SPECIFIERS = ("extern", '"C"', "static", "inline", "__global__")


@dataclass(eq=False, slots=True)
class Region:
    """Statements that each thread executes independently."""

    body: tuple[Statement, ...]
    is_in_loop: bool

    @property
    def tokens(self) -> tuple[Token, ...]:
        return tuple(token for statement in self.body for token in statement.tokens)


Part: TypeAlias = Region | str  # C++ that is executed once for all threads


def split_name(name: str) -> str:
    return f"pycu2c_split_{name}"


def split_kernel(
    text: CudaSource,
    function: FunctionDefinition,
    macros: Macros,
    replacements: Mapping[int, str],
    *,
    sets_thread_index: bool,
) -> str:
    """Return the C++ function that runs one block of a kernel.

    ``replacements``: texts in place of the tokens at these offsets. ``sets_thread_index``: set the
    global ``threadIdx``, which functions that it calls read.

    Raises Unanalyzable.
    """
    splitter = _KernelSplitter(text, function, macros, replacements)
    if len(splitter.parts) == 1:
        with suppress(Unanalyzable):
            interchanged = _KernelSplitter(text, function, macros, replacements, interchanges=True)
            if not any(v.declarator and v.declarator.extents for v in interchanged.variables):
                splitter = interchanged  # its context arrays hold scalars only
    writer = _SplitKernelWriter(splitter, function, sets_thread_index)
    head = _declaration_head(text, function)
    return "\n".join((f"{head} {{", "PYCU2C_BLOCK", *writer.lines(), "}"))


def _declaration_head(text: CudaSource, function: FunctionDefinition) -> str:
    """Return the declaration with the new name and internal linkage."""
    words = [t.text for t in text.tokens[function.start : function.body[0]]]
    words = [word for word in words if word not in _DROPPED_SPECIFIERS]
    words[words.index(function.name)] = split_name(function.name)
    depth = end = 0
    while words[0] == "template" and (end < 2 or depth):
        depth += (words[end] == "<") - (words[end] == ">")
        end += 1
    return " ".join((*words[:end], "static", *words[end:]))


class _KernelSplitter:
    """Splits a kernel's body into parts and classifies its variables. Raises Unanalyzable.

    ``interchanges``: loops of a kernel without barriers run in lockstep where that pays off.
    """

    def __init__(
        self,
        text: CudaSource,
        function: FunctionDefinition,
        macros: Macros,
        replacements: Mapping[int, str],
        *,
        interchanges: bool = False,
    ) -> None:
        if function.body[1] >= len(text.tokens):
            raise Unanalyzable  # unclosed
        opening, end = (text.tokens[index] for index in function.body)
        tokens = merge_operators(text.tokens[function.body[0] + 1 : function.body[1]])
        self._text, self._macros, self._replacements = text, macros, replacements
        legality.check_body(text, tokens, macros)
        self.variables: list[ThreadVariable] = []
        # the values of assignments in lockstep, by the offset of the name
        self._uniform_values: dict[int, tuple[Token, ...]] = {}
        self._constants = macros.constants_of(function)
        for parameter in function.parameters:
            if not parameter.name or "[" in parameter.text:
                raise Unanalyzable
            words = parameter.text.split()[:-1]
            variable = ThreadVariable(parameter.name, None, opening.start, end.start, "*" in words)
            variable.is_scalar = variable.is_pointer or legality.is_scalar(
                text, (word for word in words if word != "__grid_constant__")
            )
            self.variables.append(variable)
        body = statements(tokens)
        self._interchanged = frozenset[int]()
        if interchanges:
            body = interchange.without_guard(body)
            functions = frozenset(f.name for f in text.functions)
            constants = self._constants | macros.names
            loops = interchange.loops_to_interchange(body, functions, constants)
            self._interchanged = frozenset(loops)
        self._record_variables(body, end.start, in_loop=False)
        self._record_modifications(tokens)
        self._uniformity = UniformityAnalysis(self.variable_of, macros.expand, self._constants)
        self._uniformity.classify(self.variables)
        self.parts = tuple(self._parts(body, in_loop=False))

    def _runs_in_lockstep(self, statement: Statement, in_loop: bool) -> bool:
        """Return whether a statement contains a barrier, or ends an iteration of a loop with one.

        This includes the loops to interchange.
        """
        if any(t.text in BARRIERS or t.start in self._interchanged for t in statement.tokens):
            return True
        match statement:
            case SimpleStatement(tokens):
                return in_loop and tokens[0].text in ("break", "continue")
            case LoopStatement():
                return False
        return any(self._runs_in_lockstep(s, in_loop) for s in nested_statements(statement))

    def variable_of(self, token: Token) -> ThreadVariable | None:
        """Return the variable of an identifier.

        A variable that a region declares in a nested block is confused with an outer one of the
        same name, which at worst stores more than needed.
        """
        in_scope = (v for v in self.variables if v.name == token.text)
        visible = (v for v in in_scope if v.start <= token.start < v.end)
        return max(visible, key=lambda v: v.start, default=None)

    def variables_in(self, tokens: Sequence[Token]) -> dict[ThreadVariable, None]:
        """Return the variables that tokens name, directly or through macros, in order."""
        found = (self.variable_of(word) for word in self._macros.expanded_names(tokens))
        return dict.fromkeys(variable for variable in found if variable)

    # ---- variables ----

    def _record_variables(self, body: Sequence[Statement], end: int, in_loop: bool) -> None:
        """Record the declarations and assignments of statements that run in lockstep."""
        for statement in body:
            if isinstance(statement, SimpleStatement):
                self._record_simple_statement(statement.tokens, end)
            elif self._runs_in_lockstep(statement, in_loop):
                inner_end = statement.tokens[-1].end
                if isinstance(statement, LoopStatement):
                    in_loop = True
                    self._record_simple_statement(statement.init, inner_end)
                    self._record_simple_statement(statement.step, inner_end)
                self._record_variables(nested_statements(statement), inner_end, in_loop)

    def _record_simple_statement(self, tokens: tuple[Token, ...], end: int) -> None:
        if not tokens or tokens[0].kind == "directive":
            return
        if is_block_level(tokens):
            if any(t.text == "constexpr" for t in tokens):
                self._constants |= {d.name.text for d in declarators_of(tokens)}
            else:  # a variable may hide a constant
                extents = range(0)
                for index, token in enumerate(tokens):
                    if index not in extents:
                        extents = (
                            range(index, closing(tokens, index)) if token.text == "[" else extents
                        )
                        self._constants -= {token.text}
            return
        declarators = declarators_of(tokens)
        legality.check_statement(self._text, tokens, declarators)
        for d in declarators:
            self.variables.append(ThreadVariable(d.name.text, d, d.name.start, end, d.is_pointer))
        if found := assignment(tokens):
            self._uniform_values[found[0].start] = found[1]

    def _record_modifications(self, tokens: Sequence[Token]) -> None:
        declarations = {v.declarator.name.start for v in self.variables if v.declarator}
        for index, token in enumerate(tokens):
            is_member = index and tokens[index - 1].text in (".", "->")
            if token.kind != "identifier" or is_member or token.start in declarations:
                continue
            variable = self.variable_of(token)
            if variable and record_use(variable, tokens, index):
                variable.assigned.append(self._uniform_values.get(token.start))

    # ---- parts ----

    def _parts(self, body: Sequence[Statement], in_loop: bool) -> Iterator[Part]:
        pending: list[Statement] = []

        def finish_region() -> Iterator[Part]:
            if pending:
                yield Region(tuple(pending), in_loop)
                pending.clear()

        for statement in split_declarations(body):
            if self._runs_in_lockstep(statement, in_loop):
                if pending and pending[-1].tokens[0].kind == "directive":
                    pending.pop()  # a pragma of a loop that is split
                yield from finish_region()
                yield from self._lockstep_parts(statement, in_loop)
            elif names := self._uniform_names(statement):
                used = self._macros.expanded_names([t for s in pending for t in s.tokens])
                if any(t.text in (*names, "return") for t in used):
                    yield from finish_region()
                yield self.source_of(statement.tokens)
            else:
                pending.append(statement)
        yield from finish_region()

    def _uniform_names(self, statement: Statement) -> frozenset[str]:
        """Return the names that a statement defines for all threads; none for other statements."""
        tokens = statement.tokens
        if not isinstance(statement, SimpleStatement) or tokens[0].kind == "directive":
            return frozenset()
        if is_block_level(tokens):
            return frozenset(t.text for t in tokens if t.kind == "identifier") - BUILT_IN
        names = [d.name for d in declarators_of(tokens)]
        if not names and (found := assignment(tokens)):
            names = [found[0]]
        variables = list(map(self.variable_of, names))
        if any(v is None or v.uniformity is not VariableUniformity.UNIFORM for v in variables):
            return frozenset()
        return frozenset(name.text for name in names)

    def _lockstep_parts(self, statement: Statement, in_loop: bool) -> Iterator[Part]:
        match statement:
            case SimpleStatement(tokens) if tokens[0].text in BARRIERS:
                if len(tokens) != 4:
                    raise Unanalyzable  # with a mask
            case SimpleStatement(tokens) if tokens[0].text in ("break", "continue"):
                yield self.source_of(tokens)
            case BlockStatement(_, body):
                yield "{"
                yield from self._parts(body, in_loop)
                yield "}"
            case IfStatement(_, condition, then, otherwise):
                yield f"if ({self._uniform_source(condition)}) {{"
                yield from self._parts([then], in_loop)
                if otherwise:
                    yield "} else {"
                    yield from self._parts([otherwise], in_loop)
                yield "}"
            case LoopStatement(_, init, condition, step, body, is_do):
                test = self._uniform_source(condition) if condition else ""
                if not all(self._uniform_names(SimpleStatement(h)) for h in (init, step) if h):
                    raise Unanalyzable
                head = f"for ({self.source_of(init)}; {test}; {self.source_of(step)})"
                yield "do {" if is_do else f"{head} {{"
                yield from self._parts([body], in_loop=True)
                yield f"}} while ({test});" if is_do else "}"
            case _:
                raise Unanalyzable

    def _uniform_source(self, condition: Sequence[Token]) -> str:
        if not self._uniformity.is_uniform(condition):
            raise Unanalyzable
        return self.source_of(condition)

    def source_of(self, tokens: Sequence[Token]) -> str:
        parts = (
            f"\n{t.text}\n" if t.kind == "directive" else self._replacements.get(t.start, t.text)
            for t in tokens
        )
        return " ".join(parts)


class _SplitKernelWriter:
    """Writes the parts of a kernel as lines of C++."""

    def __init__(
        self, splitter: _KernelSplitter, function: FunctionDefinition, sets_thread_index: bool
    ) -> None:
        self._splitter, self._function = splitter, function
        self._sets_thread_index = sets_thread_index
        self._regions = [part for part in splitter.parts if isinstance(part, Region)]
        self._used = {region: self._variables_used(region) for region in self._regions}
        self._defined = {
            region: [
                variable
                for statement in region.body
                for declarator in statement_declarators(statement)
                if (variable := splitter.variable_of(declarator.name))
            ]
            for region in self._regions
        }
        self._context_variables = [v for v in splitter.variables if self._needs_context_array(v)]
        if len(self._context_variables) > _MAX_CONTEXT_VARIABLES:
            raise Unanalyzable
        self._last_part = splitter.parts[-1] if splitter.parts else None
        self._has_early_returns = any(
            _has_return(region) for region in self._regions if region is not self._last_part
        )

    def lines(self) -> Iterator[str]:
        if self._has_early_returns:
            yield "PYCU2C_LIVE"
        for variable in self._context_variables:
            if variable.declarator is None:
                element = f"{_context_name(variable)}[pycu2c_thread]"
                yield self._context_array(variable)
                yield f"PYCU2C_THREADS ::pycu2c::store_context({element}, {variable.name}); }}"
        for number, part in enumerate(self._splitter.parts):
            if isinstance(part, str):
                yield part
            else:
                yield from self._region(part, f"pycu2c_next_{number}")

    def _variables_used(self, region: Region) -> list[ThreadVariable]:
        """Return the variables that a region names, and those that rematerialization reads."""
        found: dict[ThreadVariable, None] = {}
        pending = self._splitter.variables_in(region.tokens)
        while pending:
            found |= pending
            computed = [v for v in pending if v.uniformity is VariableUniformity.REMATERIALIZED]
            values = [t for v in computed for t in v.initial_value]
            pending = {v: None for v in self._splitter.variables_in(values) if v not in found}
        if len({v.name for v in found}) < len(found):
            raise Unanalyzable  # ambiguous names
        return sorted(found, key=self._splitter.variables.index)

    def _needs_context_array(self, variable: ThreadVariable) -> bool:
        """Return whether a variable is live across regions, or a pointer to it may be."""
        if variable.uniformity is not VariableUniformity.PER_THREAD:
            return False
        is_array = variable.declarator is not None and bool(variable.declarator.extents)
        if (is_array or variable.is_addressed) and len(self._regions) > 1:
            return True
        regions = [r for r in self._regions if variable in self._used[r]]
        if variable.declarator is None:
            return len(regions) > 1 or any(r.is_in_loop for r in regions)
        return any(variable not in self._defined[r] for r in regions)

    def _context_array(self, variable: ThreadVariable) -> str:
        """Return the declaration of a context array: one element per thread."""
        name = _context_name(variable)
        array, declarator = f"{name}[{MAX_BLOCK_THREADS}]", variable.declarator
        if declarator is None:
            parameter = next(p for p in self._function.parameters if p.name == variable.name)
            head, _, _ = parameter.text.rpartition(variable.name)
            return f"PYCU2C_CONTEXT_ARRAY({name}, {head} {array});"
        words = [
            t.text for t in declarator.specifiers if declarator.is_pointer or t.text != "const"
        ]
        stars = [t.text for t in declarator.pointers if t.text == "*"]
        is_const = len(stars) > 1 and any(t.text == "const" for t in declarator.pointers)
        if "auto" in words or is_const:
            raise Unanalyzable
        declaration = " ".join((*words, *stars, array, *(t.text for t in declarator.extents)))
        return f"PYCU2C_CONTEXT_ARRAY({name}, {declaration});"

    def _region(self, region: Region, label: str) -> Iterator[str]:
        stored = [v for v in self._defined[region] if v in self._context_variables]
        yield from map(self._context_array, stored)
        yield "{"
        for v in self._used[region]:
            if v.uniformity is VariableUniformity.UNIFORM:
                yield f"PYCU2C_UNIFORM(pycu2c_uniform_{v.name}, {v.name});"
            elif self._is_local_copy(v):
                yield f"const auto pycu2c_uniform_{v.name} = {v.name};"
        yield "PYCU2C_THREADS"
        if self._sets_thread_index:
            yield "::threadIdx = threadIdx;"
        if self._has_early_returns and (region.is_in_loop or region is not self._regions[0]):
            yield "if (!pycu2c_live[pycu2c_thread]) continue;"
        defined = self._defined[region]
        yield from (self._binding(v) for v in self._used[region] if v in stored or v not in defined)
        yield "{"
        for statement in region.body:
            yield self._statement(statement, region, label)
        yield f"}} {label}:;" if _has_return(region) else "}"
        yield "}}"
        if _has_return(region) and region is not self._last_part:
            yield "if (!::pycu2c::any_live(pycu2c_live)) return;"

    def _is_local_copy(self, variable: ThreadVariable) -> bool:
        """Return whether threads modify a parameter that needs no context array."""
        is_per_thread = variable.uniformity is VariableUniformity.PER_THREAD
        is_parameter = variable.declarator is None
        return is_per_thread and is_parameter and variable not in self._context_variables

    def _binding(self, variable: ThreadVariable) -> str:
        name = variable.name
        if variable.uniformity is VariableUniformity.UNIFORM:
            return f"PYCU2C_UNIFORM({name}, pycu2c_uniform_{name});"
        if self._is_local_copy(variable):
            return f"auto {name} = pycu2c_uniform_{name};"
        if variable.uniformity is VariableUniformity.PER_THREAD:
            return f"auto &{name} = {_context_name(variable)}[pycu2c_thread];"
        return self._constant(variable)

    def _constant(self, variable: ThreadVariable) -> str:
        """Return the declaration of a variable that each region computes again."""
        assert variable.declarator is not None
        specifiers, pointers = variable.declarator.specifiers, variable.declarator.pointers
        is_constant = any(t.text == "const" for t in (pointers or specifiers))
        const = "" if is_constant else "const"
        source = self._splitter.source_of
        value = source(variable.declarator.initializer)
        return f"{source(specifiers)} {source(pointers)} {const} {variable.name} {value};"

    def _statement(self, statement: Statement, region: Region, label: str) -> str:
        declared = [self._splitter.variable_of(d.name) for d in statement_declarators(statement)]
        for variable in filter(None, declared):
            d = variable.declarator
            assert d is not None
            if variable.uniformity is VariableUniformity.REMATERIALIZED:
                return self._constant(variable)
            if variable in self._context_variables:
                if not d.initializer:
                    return ""
                declaration = (*d.specifiers, *d.pointers), d.extents, d.initializer
                head, extents, value = map(self._splitter.source_of, declaration)
                return (
                    f"{{ {head} pycu2c_value {extents} {value}; "
                    f"::pycu2c::store_context({d.name.text}, pycu2c_value); }}"
                )
        source = self._splitter.source_of(statement.tokens)
        if not _has_return(Region((statement,), False)):
            return source
        end = f"goto {label};"
        if region is not self._last_part:
            end = f"pycu2c_live[pycu2c_thread] = 0; {end}"
        changed = re.sub(r"\breturn ;", f"{{ {end} }}", source)
        if "return" in changed.split():
            raise Unanalyzable  # of a lambda
        return changed


def _context_name(variable: ThreadVariable) -> str:
    return f"pycu2c_context_{variable.start}_{variable.name}"


def _has_return(region: Region) -> bool:
    return any(t.text == "return" for t in region.tokens)
