"""Generate the C++ of a split kernel: a function that runs one block."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from pycu2c.base.limits import MAX_BLOCK_THREADS
from pycu2c.compat.cuda_text.fission.split_kernel import (
    DivergentBranch,
    KernelPart,
    Region,
    Splitter,
    UniformBranch,
    UniformLoop,
    UniformStatement,
    nested_parts,
)
from pycu2c.compat.cuda_text.fission.variable_uniformity import ThreadVariable, VariableUniformity
from pycu2c.compat.cuda_text.parse.declarations import declarators_of
from pycu2c.compat.cuda_text.parse.functions import FunctionDefinition
from pycu2c.compat.cuda_text.parse.macros import Macros
from pycu2c.compat.cuda_text.parse.statements import (
    LoopStatement,
    SimpleStatement,
    Statement,
    Unanalyzable,
)
from pycu2c.compat.cuda_text.parse.tokens import Token
from pycu2c.compat.cuda_text.source_text import CudaSource

MAX_NESTED_CONDITIONS = 3  # each condition duplicates its branches
MAX_CONTEXT_VARIABLES = 24  # MAX_CONTEXT_BYTES in headers/split_kernels.h limits their size


class SourceEdit(NamedTuple):
    """A replacement for the characters of a text from ``start`` to ``end``."""

    start: int
    end: int
    text: str


CopyRange = Callable[[int, int, Sequence[SourceEdit]], str]  # start, end, edits -> edited text


def split_name(name: str) -> str:
    return f"pycu2c_split_{name}"


def split_text(
    text: CudaSource,
    function: FunctionDefinition,
    macros: Macros,
    copy_range: CopyRange,
    *,
    sets_thread_index: bool,
) -> str:
    """Return the C++ function that runs one block of a kernel.

    ``sets_thread_index``: set the global ``threadIdx``, which functions that it calls read.

    Raises Unanalyzable.
    """
    splitter = Splitter(text, function, macros, interchange=False)
    if len(splitter.parts) == 1 and isinstance(splitter.parts[0], Region):
        with suppress(Unanalyzable):
            interchanged = Splitter(text, function, macros, interchange=True)
            if not any(v.declarator and v.declarator.extents for v in interchanged.variables):
                splitter = interchanged  # its context arrays hold scalars only
    writer = _SplitKernelWriter(text, function, splitter, copy_range, sets_thread_index)
    return "\n".join(
        (f"{_declaration_head(text, function)} {{", "PYCU2C_BLOCK", *writer.lines(), "}")
    )


_DROPPED_SPECIFIERS = ("extern", '"C"', "static", "inline", "__global__")


def _declaration_head(text: CudaSource, function: FunctionDefinition) -> str:
    """Return the declaration with the new name and internal linkage."""
    words = [t.text for t in text.tokens[function.start : function.body[0]]]
    words = [word for word in words if word not in _DROPPED_SPECIFIERS]
    words[words.index(function.name)] = split_name(function.name)
    template = _template_end(words)
    return " ".join((*words[:template], "static", *words[template:]))


def _template_end(words: Sequence[str]) -> int:
    if words[0] != "template":
        return 0
    depth = 0
    for index, word in enumerate(words):
        depth += (word == "<") - (word == ">")
        if index and depth == 0:
            return index + 1
    raise Unanalyzable


class _SplitKernelWriter:
    """Writes the parts of a kernel as lines of C++."""

    def __init__(
        self,
        text: CudaSource,
        function: FunctionDefinition,
        splitter: Splitter,
        copy_range: CopyRange,
        sets_thread_index: bool,
    ) -> None:
        self._text = text
        self._splitter, self._function = splitter, function
        self._copy_range, self._sets_thread_index = copy_range, sets_thread_index
        self._regions = list(_regions(splitter.parts))
        self._used_variables = {region: self._variables_used(region) for region in self._regions}
        self._defined_variables = {
            region: list(self._variables_defined(region)) for region in self._regions
        }
        self._context_variables = {
            v
            for v in splitter.variables
            if v.uniformity is VariableUniformity.PER_THREAD and self._needs_context_array(v)
        }
        if len(self._context_variables) > MAX_CONTEXT_VARIABLES:
            raise Unanalyzable
        self._last_part = splitter.parts[-1] if splitter.parts else None
        self._divergence_depth = 0  # nested divergent branches
        self._label_count = 0  # labels for returning threads so far
        self._guards: list[str] = []  # names of the enclosing active masks
        self._has_early_returns = any(
            r is not self._last_part and any(_returns(r)) for r in self._regions
        )

    def lines(self) -> Iterator[str]:
        if self._has_early_returns:
            yield "PYCU2C_LIVE"
        else:
            yield "const unsigned char *const pycu2c_live = nullptr;"
        for variable in self._splitter.variables:
            if variable.is_parameter and variable in self._context_variables:
                yield self._context_array(variable)
                yield "PYCU2C_THREADS"
                yield self._context_store(variable)
                yield "}"
        yield from self._parts(self._splitter.parts)

    # ---- variables ----

    def _variables_used(self, region: Region) -> dict[ThreadVariable, None]:
        """Return the variables that a region names, and those that rematerialization reads."""
        found: dict[ThreadVariable, None] = {}
        pending = self._splitter.variables_in([t for s in region.body for t in s.tokens])
        while pending:
            found |= pending
            computed = [v for v in pending if v.uniformity is VariableUniformity.REMATERIALIZED]
            values = [t for v in computed if v.declarator for t in v.declarator.initializer]
            pending = {v: None for v in self._splitter.variables_in(values) if v not in found}
        if len({v.name for v in found}) < len(found):
            raise Unanalyzable  # ambiguous names
        return found

    def _variables_defined(self, region: Region) -> Iterator[ThreadVariable]:
        for statement in () if region.is_test else region.body:
            if isinstance(statement, SimpleStatement) and statement.tokens[0].kind != "directive":
                for declarator in declarators_of(statement.tokens):
                    if variable := self._splitter.variable_of(declarator.name):
                        yield variable

    def _needs_context_array(self, variable: ThreadVariable) -> bool:
        """Return whether a variable is live across regions, or a pointer to it may be."""
        if variable.is_pointed_at and len(self._regions) > 1:
            return True
        regions = [r for r in self._regions if variable in self._used_variables[r]]
        if variable.is_parameter:
            return len(regions) > 1 or any(r.is_in_loop for r in regions)
        return any(variable not in self._defined_variables[r] for r in regions)

    def _context_array(self, variable: ThreadVariable) -> str:
        """Return the declaration of a context array: one element per thread."""
        name = _context_name(variable)
        array, declarator = f"{name}[{MAX_BLOCK_THREADS}]", variable.declarator
        if declarator is None:
            parameter = next(p for p in self._function.parameters if p.name == variable.name)
            words = parameter.text.split(" ")
            words[len(words) - 1 - words[::-1].index(variable.name)] = array
            return f"PYCU2C_CONTEXT_ARRAY({name}, {' '.join(words)});"
        words = [
            t.text for t in declarator.specifiers if declarator.is_pointer or t.text != "const"
        ]
        if "auto" in words or declarator.is_reference:
            raise Unanalyzable
        stars = [t.text for t in declarator.pointers if t.text == "*"]
        if len(stars) > 1 and any(t.text == "const" for t in declarator.pointers):
            raise Unanalyzable
        declaration = " ".join((*words, *stars, array, *(t.text for t in declarator.extents)))
        return f"PYCU2C_CONTEXT_ARRAY({name}, {declaration});"

    def _context_store(self, variable: ThreadVariable) -> str:
        return (
            f"::pycu2c::store_context({_context_name(variable)}[pycu2c_thread], {variable.name});"
        )

    # ---- parts ----

    def _parts(self, parts: Sequence[KernelPart]) -> Iterator[str]:
        for part in parts:
            match part:
                case Region():
                    yield from self._region(part)
                case UniformStatement(statement):
                    yield self._statement(statement)
                case UniformBranch(condition, then, otherwise):
                    yield f"if ({self._source_of(condition)}) {{" if condition else "{"
                    yield from self._parts(then)
                    if otherwise:
                        yield "} else {"
                        yield from self._parts(otherwise)
                    yield "}"
                case UniformLoop(loop, body):
                    yield from self._uniform_loop(loop, body)
                case DivergentBranch():
                    yield from self._divergent_branch(part)

    def _divergent_branch(self, part: DivergentBranch) -> Iterator[str]:
        """Write a branch with an active mask; warps that agree skip the mask."""
        if self._divergence_depth == MAX_NESTED_CONDITIONS:
            raise Unanalyzable
        self._divergence_depth += 1
        number = self._regions.index(part.test)
        branches = ("if", "else") if part.otherwise else ("if",)
        names = [f"pycu2c_{branch}_{number}" for branch in branches]
        yield "{"
        yield from (f"PYCU2C_ACTIVE_MASK({name})" for name in names)
        yield from self._uniform_bindings(part.test)
        yield from self._thread_loop(part.test)
        yield f"const bool pycu2c_is = {self._source_of(part.test.body[0].tokens)};"
        yield from (f"{n}[pycu2c_thread] = {v}pycu2c_is;" for n, v in zip(names, ("", "!")))
        yield "}}"
        yield f"if (::pycu2c::all_live({names[0]})) {{"  # the common case needs no mask
        yield from self._parts(part.then)
        yield "} else {"
        for name, parts in zip(names, (part.then, part.otherwise)):
            self._guards.append(name)
            yield f"if (::pycu2c::any_live({name})) {{"
            yield from self._parts(parts)
            yield "}"
            self._guards.pop()
        yield "}"
        yield "}"
        self._divergence_depth -= 1

    def _uniform_loop(self, loop: LoopStatement, body: Sequence[KernelPart]) -> Iterator[str]:
        condition = self._source_of(loop.condition)
        if loop.is_do:
            yield "do {"
        else:
            first, step = self._source_of(loop.init), self._source_of(loop.step)
            yield f"for ({first}; {condition}; {step}) {{"
        yield from self._parts(body)
        yield f"}} while ({condition});" if loop.is_do else "}"

    def _region(self, region: Region) -> Iterator[str]:
        if region.barrier and self._guards:
            _, line, _ = self._text.origins.locate(region.barrier.start)
            yield f"PYCU2C_CHECK_WHOLE_WARPS({self._guards[-1]}, {line})"
        if not region.body:
            return
        self._label_count += 1
        stored = [v for v in self._defined_variables[region] if v in self._context_variables]
        yield from map(self._context_array, stored)
        yield from self._uniform_bindings(region)
        yield from self._collective_calls(region) if region.calls else ()
        yield from self._thread_loop(region)
        yield "{"
        for statement in region.body:
            defined = next(iter(self._variables_defined(Region((statement,), False))), None)
            if defined and defined in self._context_variables and defined.is_pointed_at:
                yield self._initial_store(defined, region)
            elif defined and defined.uniformity is VariableUniformity.REMATERIALIZED:
                yield self._binding(defined)
            else:
                yield self._statement(statement, region)
        yield from (self._context_store(v) for v in stored if not v.is_pointed_at)
        has_returns = any(_returns(region))
        yield "}" + f" pycu2c_next_{self._label_count}:;" * has_returns
        yield "}}"
        if has_returns and region is not self._last_part:
            yield "if (!::pycu2c::any_live(pycu2c_live)) return;"

    def _initial_store(self, variable: ThreadVariable, region: Region) -> str:
        """Return the store of an initial value to the context array."""
        assert variable.declarator is not None
        value = variable.declarator.initializer
        if not value:
            return ""
        if (
            value[0].text != "="
            or value[1].text == "{"
            or variable.declarator.extents
            or region.calls
        ):
            raise Unanalyzable
        return f"{variable.name} = {self._source_of(value[1:])};"

    def _uniform_bindings(self, region: Region) -> Iterator[str]:
        yield "{"
        for v in self._used_variables[region]:
            if v.uniformity is VariableUniformity.UNIFORM or self._is_local_copy(v):
                yield f"PYCU2C_UNIFORM(pycu2c_uniform_{v.name}, {v.name});"

    def _thread_loop(self, region: Region) -> Iterator[str]:
        """Write the head of the loop over the threads, with the bindings of their variables."""
        yield "PYCU2C_THREADS"
        if self._sets_thread_index:
            yield "::threadIdx = threadIdx;"
        if self._has_early_returns and (region.is_in_loop or region is not self._regions[0]):
            yield "if (!pycu2c_live[pycu2c_thread]) continue;"
        if self._guards:
            yield f"if (!{self._guards[-1]}[pycu2c_thread]) continue;"
        yield from self._variable_bindings(region)

    def _variable_bindings(self, region: Region) -> Iterator[str]:
        defines = self._defined_variables[region]
        for variable in sorted(self._used_variables[region], key=lambda v: v.number):
            is_in_context = variable in self._context_variables and variable.is_pointed_at
            if variable not in defines or is_in_context:
                yield self._binding(variable)

    def _collective_calls(self, region: Region) -> Iterator[str]:
        """Write collective calls: the threads contribute operands, which are then combined."""
        yield "PYCU2C_FIRST_THREAD"
        yield from self._variable_bindings(region)
        for number, call in enumerate(region.calls):
            yield f"PYCU2C_COLLECTIVE(pycu2c_collective_{number}, {self._source_of(call.tokens)});"
        live = "pycu2c_live" if self._has_early_returns else "nullptr"
        mask = self._guards[-1] if self._guards else live
        for number, call in enumerate(region.calls):
            yield from self._thread_loop(region)
            contribution = call.split.contribute(
                [self._source_of(tokens) for tokens in call.operands]
            )
            yield f"pycu2c_collective_{number}.{contribution};"
            yield f"}} pycu2c_collective_{number}.{call.split.combine(mask)};"

    def _is_local_copy(self, variable: ThreadVariable) -> bool:
        """Return whether threads modify a parameter that needs no context array."""
        return variable.is_parameter and variable not in self._context_variables

    def _binding(self, variable: ThreadVariable) -> str:
        declarator, name = variable.declarator, variable.name
        if variable.uniformity is VariableUniformity.UNIFORM:
            return f"PYCU2C_UNIFORM({name}, pycu2c_uniform_{name});"
        if self._is_local_copy(variable):
            return f"auto {name} = pycu2c_uniform_{name};"
        if variable.uniformity is VariableUniformity.PER_THREAD:
            return f"auto &{name} = {_context_name(variable)}[pycu2c_thread];"
        assert declarator is not None
        specifiers = [t.text for t in declarator.specifiers]
        pointers = [t.text for t in declarator.pointers]
        value = [t.text for t in declarator.initializer]
        is_constant = "const" in (pointers if declarator.is_pointer else specifiers)
        return (
            " ".join((*specifiers, *pointers, *(() if is_constant else ("const",)), name, *value))
            + ";"
        )

    def _statement(self, statement: Statement, region: Region | None = None) -> str:
        tokens = statement.tokens
        calls = region.calls if region else ()
        results = (f"pycu2c_collective_{i}.results[pycu2c_thread]" for i in range(len(calls)))
        edits = [
            SourceEdit(call.tokens[0].start, call.tokens[-1].end, result)
            for call, result in zip(calls, results)
        ]
        if isinstance(statement, SimpleStatement) and statement.is_synthetic:
            return " ".join(_edited_tokens(tokens, edits))
        for token, after in _returns_of(tokens):
            assert region is not None
            end = f"goto pycu2c_next_{self._label_count};"
            if region is not self._last_part:
                masks = ("pycu2c_live", *self._guards)
                end = "".join(f"{mask}[pycu2c_thread] = 0; " for mask in masks) + end
            edits.append(SourceEdit(token.start, after.end, f"{{ {end} }}"))
        return self._copy_range(tokens[0].start, tokens[-1].end, edits)

    def _source_of(self, tokens: Sequence[Token]) -> str:
        return self._copy_range(tokens[0].start, tokens[-1].end, ()) if tokens else ""


def _edited_tokens(tokens: Sequence[Token], edits: Sequence[SourceEdit]) -> Iterator[str]:
    for token in tokens:
        edit = next((e for e in edits if e.start <= token.start < e.end), None)
        if edit is None:
            yield token.text
        elif edit.start == token.start:
            yield edit.text


def _context_name(variable: ThreadVariable) -> str:
    return f"pycu2c_context_{variable.number}_{variable.name}"


def _regions(parts: Sequence[KernelPart]) -> Iterator[Region]:
    for part in parts:
        if isinstance(part, Region):
            yield part
        yield from _regions(nested_parts(part))


def _returns(region: Region) -> Iterator[Token]:
    for statement in region.body:
        yield from (token for token, _ in _returns_of(statement.tokens))


def _returns_of(tokens: Sequence[Token]) -> Iterator[tuple[Token, Token]]:
    """Yield each ``return`` and its ``;``. Raises Unanalyzable if a lambda may contain it."""
    found = [i for i, t in enumerate(tokens) if t.text == "return"]
    has_lambda = any(
        t.text == "[" and (i == 0 or tokens[i - 1].text in ("=", "(", ",", "return"))
        for i, t in enumerate(tokens)
    )
    if found and has_lambda:
        raise Unanalyzable
    for index in found:
        if tokens[index + 1].text != ";":
            raise Unanalyzable
        yield tokens[index], tokens[index + 1]
