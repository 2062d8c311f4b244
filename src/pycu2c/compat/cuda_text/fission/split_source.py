"""The C++ of a kernel that is split: a function that runs a block. Knows how parts are written, not
why they are parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

from pycu2c.base.limits import MOST_THREADS
from pycu2c.base.records import NamedTuple
from pycu2c.compat.cuda_text.fission.split_kernel import (
    UniformBranch,
    UniformStatement,
    KernelPart,
    Region,
    UniformLoop,
    DivergentBranch,
    Splitter,
)
from pycu2c.compat.cuda_text.fission.variable_uniformity import Uniformity, ThreadVariable
from pycu2c.compat.cuda_text.parse.declarations import declared
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

MAX_NESTED_CONDITIONS = 3  # conditions, each of which has what it holds twice
MAX_CONTEXT_VARIABLES = 24  # variables; headers/split_kernels.h says how large each may be


class SourceEdit(NamedTuple):
    """Other characters for those of a text from ``start`` to ``end``."""

    start: int
    end: int
    text: str


CopyRange = Callable[[int, int, Sequence[SourceEdit]], str]  # a piece of the text, with edits


def split_name(name: str) -> str:
    return f"pycu2c_split_{name}"


def split_text(
    text: CudaSource,
    function: FunctionDefinition,
    macros: Macros,
    copied: CopyRange,
    *,
    sets_thread_index: bool,
) -> str:
    """The function. ``sets_thread_index``: others that it calls want to know which thread it is. Raises
    Unanalyzable."""
    splitter = Splitter(text, function, macros, interchange=False)
    if len(splitter.parts) == 1 and isinstance(splitter.parts[0], Region):
        with suppress(Unanalyzable):
            interchanged = Splitter(text, function, macros, interchange=True)
            if not any(v.declared and v.declared.after for v in interchanged.variables):
                splitter = interchanged  # whose threads keep numbers, and no arrays
    writer = _SplitKernelWriter(text, function, splitter, copied, sets_thread_index)
    return "\n".join((f"{_head(text, function)} {{", "PYCU2C_BLOCK", *writer.body(), "}"))


_NOT_OF_SPLIT = ("extern", '"C"', "static", "inline", "__global__")


def _head(text: CudaSource, function: FunctionDefinition) -> str:
    """What stands before the body: the same but for the name, and seen by this text alone."""
    words = [t.text for t in text.tokens[function.start : function.body[0]]]
    kept = [word for word in words if word not in _NOT_OF_SPLIT]
    kept[kept.index(function.name)] = split_name(function.name)
    template = _template_ends(kept)
    return " ".join((*kept[:template], "static", *kept[template:]))


def _template_ends(words: Sequence[str]) -> int:
    if words[0] != "template":
        return 0
    depth = 0
    for index, word in enumerate(words):
        depth += (word == "<") - (word == ">")
        if index and depth == 0:
            return index + 1
    raise Unanalyzable


class _SplitKernelWriter:
    """Writes the parts of a kernel, each as lines."""

    def __init__(
        self,
        text: CudaSource,
        function: FunctionDefinition,
        splitter: Splitter,
        copied: CopyRange,
        sets_thread_index: bool,
    ) -> None:
        self._text = text
        self._splitter, self._function = splitter, function
        self._copied, self._sets_thread_index = copied, sets_thread_index
        self._regions = list(_regions(splitter.parts))
        self._uses = {region: self._used(region) for region in self._regions}
        self._defines = {region: list(self._defined(region)) for region in self._regions}
        self._context_variables = {
            v
            for v in splitter.variables
            if v.kind is Uniformity.PER_THREAD and self._needs_context_array(v)
        }
        if len(self._context_variables) > MAX_CONTEXT_VARIABLES:
            raise Unanalyzable
        self._last = splitter.parts[-1] if splitter.parts else None
        self._depth = 0  # of what only some go through
        self._label = 0  # of where a thread ends that returns
        self._guards: list[str] = []  # which threads go through what is written
        self._ends = any(r is not self._last and any(_returns(r)) for r in self._regions)

    def body(self) -> Iterator[str]:
        if self._ends:
            yield "PYCU2C_LIVE"
        else:
            yield "const unsigned char *const pycu2c_live = nullptr;"
        for variable in self._splitter.variables:
            if variable.is_parameter and variable in self._context_variables:
                yield from (
                    self._context_array(variable),
                    "PYCU2C_THREADS",
                    self._context_store(variable),
                    "}",
                )
        yield from self._parts(self._splitter.parts)

    # ---- variables ----

    def _used(self, region: Region) -> dict[ThreadVariable, None]:
        """What it names, and what is needed to compute that anew."""
        found: dict[ThreadVariable, None] = {}
        more = self._splitter.used([t for s in region.body for t in s.tokens])
        while more:
            found |= more
            again = [v for v in more if v.kind is Uniformity.REMATERIALIZED and v.declared]
            values = [t for v in again if v.declared for t in v.declared.value]
            more = {v: None for v in self._splitter.used(values) if v not in found}
        if len({v.name for v in found}) < len(found):
            raise Unanalyzable  # two of a name
        return found

    def _defined(self, region: Region) -> Iterator[ThreadVariable]:
        for statement in () if region.is_test else region.body:
            if isinstance(statement, SimpleStatement) and statement.tokens[0].kind != "directive":
                for row in declared(statement.tokens):
                    if variable := self._splitter.known(row.name):
                        yield variable

    def _needs_context_array(self, variable: ThreadVariable) -> bool:
        """Whether threads have to keep it from one region to another, or what points at it."""
        if variable.is_pointed_at and len(self._regions) > 1:
            return True
        using = [r for r in self._regions if variable in self._uses[r]]
        if variable.is_parameter:
            return len(using) > 1 or any(r.is_again for r in using)
        return any(variable not in self._defines[r] for r in using)

    def _context_array(self, variable: ThreadVariable) -> str:
        """The declaration of what all threads keep of a variable."""
        kept = f"{_context_name(variable)}[{MOST_THREADS}]"
        row = variable.declared
        if row is None:
            named = next(n for n in self._function.parameters if n.name == variable.name)
            words = named.text.split(" ")
            words[len(words) - 1 - words[::-1].index(variable.name)] = kept
            return f"PYCU2C_KEPT({_context_name(variable)}, {' '.join(words)});"
        words = [t.text for t in row.kind if row.is_pointer or t.text != "const"]
        if "auto" in words or row.is_reference:
            raise Unanalyzable
        before = [t.text for t in row.before if t.text == "*"]
        if len(before) > 1 and any(t.text == "const" for t in row.before):
            raise Unanalyzable
        spelled = " ".join((*words, *before, kept, *(t.text for t in row.after)))
        return f"PYCU2C_KEPT({_context_name(variable)}, {spelled});"

    def _context_store(self, variable: ThreadVariable) -> str:
        return f"::pycu2c::keep({_context_name(variable)}[pycu2c_me], {variable.name});"

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
        """Who goes through it is noted for each thread."""
        if self._depth == MAX_NESTED_CONDITIONS:
            raise Unanalyzable
        self._depth += 1
        number = self._regions.index(part.test)
        names = [f"pycu2c_{which}_{number}" for which in ("if", "else")[: 1 + bool(part.otherwise)]]
        yield "{"
        yield from (f"PYCU2C_SOME({name})" for name in names)
        yield from self._prologue(part.test)
        yield from self._opening(part.test)
        yield f"const bool pycu2c_is = {self._source_of(part.test.body[0].tokens)};"
        yield from (f"{n}[pycu2c_me] = {v}pycu2c_is;" for n, v in zip(names, ("", "!")))
        yield "}}"
        yield f"if (::pycu2c::all_live({names[0]})) {{"  # mostly: then there is nothing to look up
        yield from self._parts(part.then)
        yield "} else {"
        for name, parts in zip(names, (part.then, part.otherwise)):
            self._guards.append(name)
            yield f"if (::pycu2c::any_lives({name})) {{"
            yield from self._parts(parts)
            yield "}"
            self._guards.pop()
        yield "}"
        yield "}"
        self._depth -= 1

    def _uniform_loop(self, loop: LoopStatement, body: Sequence[KernelPart]) -> Iterator[str]:
        condition = self._source_of(loop.condition)
        if loop.is_do:
            yield "do {"
        else:
            yield f"for ({self._source_of(loop.first)}; {condition}; {self._source_of(loop.step)}) {{"
        yield from self._parts(body)
        yield f"}} while ({condition});" if loop.is_do else "}"

    def _region(self, region: Region) -> Iterator[str]:
        if region.meeting and self._guards:
            yield f"PYCU2C_WHOLE_WARPS({self._guards[-1]}, {self._line(region.meeting)})"
        if not region.body:
            return
        self._label += 1
        kept = [v for v in self._defines[region] if v in self._context_variables]
        yield from map(self._context_array, kept)
        yield from self._prologue(region)
        yield from self._collective_calls(region) if region.calls else ()
        yield from self._opening(region)
        yield "{"
        for statement in region.body:
            made = next(iter(self._of(statement)), None)
            if made and made in self._context_variables and made.is_pointed_at:
                yield self._value(made, region)
            elif made and made.kind is Uniformity.REMATERIALIZED:
                yield self._binding(made)
            else:
                yield self._statement(statement, region)
        yield from (self._context_store(v) for v in kept if not v.is_pointed_at)
        ends = any(_returns(region))
        yield "}" + f" pycu2c_next_{self._label}:;" * ends
        yield "}}"
        if ends and region is not self._last:
            yield "if (!::pycu2c::any_lives(pycu2c_live)) return;"

    def _value(self, variable: ThreadVariable, region: Region) -> str:
        """What a variable is declared with, stored to the place where all threads keep theirs."""
        assert variable.declared is not None
        value = variable.declared.value
        if not value:
            return ""
        if value[0].text != "=" or value[1].text == "{" or variable.declared.after or region.calls:
            raise Unanalyzable
        return f"{variable.name} = {self._source_of(value[1:])};"

    def _prologue(self, region: Region) -> Iterator[str]:
        alike = [
            v for v in self._uses[region] if v.kind is Uniformity.UNIFORM or self._is_copied(v)
        ]
        yield "{"
        yield from (f"PYCU2C_ALIKE(pycu2c_of_{v.name}, {v.name});" for v in alike)

    def _opening(self, region: Region) -> Iterator[str]:
        """The loop over the threads, with what their variables are."""
        yield "PYCU2C_THREADS"
        if self._sets_thread_index:
            yield "::threadIdx = threadIdx;"
        if self._ends and (region.is_again or region is not self._regions[0]):
            yield "if (!pycu2c_live[pycu2c_me]) continue;"
        if self._guards:
            yield f"if (!{self._guards[-1]}[pycu2c_me]) continue;"
        yield from self._bindings(region)

    def _bindings(self, region: Region) -> Iterator[str]:
        defines = self._defines[region]
        for variable in sorted(self._uses[region], key=lambda v: v.number):
            is_placed = variable in self._context_variables and variable.is_pointed_at
            if variable not in defines or is_placed:
                yield self._binding(variable)

    def _collective_calls(self, region: Region) -> Iterator[str]:
        """Threads give what they have to calls; then there is what each gets."""
        yield "PYCU2C_FIRST_THREAD"
        yield from self._bindings(region)
        for number, call in enumerate(region.calls):
            yield f"PYCU2C_MET(pycu2c_met_{number}, {self._source_of(call.tokens)});"
        for number, call in enumerate(region.calls):
            yield from self._opening(region)
            given = ", ".join(self._source_of(row) for row in call.operands)
            yield f"pycu2c_met_{number}.{call.deposit}(pycu2c_me, {given});"
            live = self._guards[-1] if self._guards else "pycu2c_live" if self._ends else "nullptr"
            yield f"}} pycu2c_met_{number}.{call.combine.format(live)};"

    def _of(self, statement: Statement) -> Iterator[ThreadVariable]:
        return self._defined(Region((statement,), False))

    def _is_copied(self, variable: ThreadVariable) -> bool:
        """Whether threads change a parameter that they need not keep."""
        return variable.is_parameter and variable not in self._context_variables

    def _binding(self, variable: ThreadVariable) -> str:
        row, name = variable.declared, variable.name
        if variable.kind is Uniformity.UNIFORM:
            return f"PYCU2C_ALIKE({name}, pycu2c_of_{name});"
        if self._is_copied(variable):
            return f"auto {name} = pycu2c_of_{name};"
        if variable.kind is Uniformity.PER_THREAD:
            return f"auto &{name} = {_context_name(variable)}[pycu2c_me];"
        assert row is not None
        before = [t.text for t in row.before]
        is_constant = "const" in (before if row.is_pointer else [t.text for t in row.kind])
        kind = [t.text for t in row.kind]
        value = [t.text for t in row.value]
        return " ".join((*kind, *before, *(() if is_constant else ("const",)), name, *value)) + ";"

    def _statement(self, statement: Statement, region: Region | None = None) -> str:
        tokens = statement.tokens
        calls = region.calls if region else ()
        edits = [
            SourceEdit(c.tokens[0].start, c.tokens[-1].end, f"pycu2c_met_{i}.got[pycu2c_me]")
            for i, c in enumerate(calls)
        ]
        if isinstance(statement, SimpleStatement) and statement.is_synthetic:
            return " ".join(_edited_tokens(tokens, edits))
        for token, after in _returns_of(tokens):
            assert region is not None
            end = f"goto pycu2c_next_{self._label};"
            if region is not self._last:
                gone = ("pycu2c_live", *self._guards)
                end = "".join(f"{who}[pycu2c_me] = 0; " for who in gone) + end
            edits.append(SourceEdit(token.start, after.end, f"{{ {end} }}"))
        return self._copied(tokens[0].start, tokens[-1].end, edits)

    def _line(self, token: Token) -> int:
        return self._text.origins.locate(token.start)[1]

    def _source_of(self, tokens: Sequence[Token]) -> str:
        return self._copied(tokens[0].start, tokens[-1].end, ()) if tokens else ""


def _edited_tokens(tokens: Sequence[Token], edits: Sequence[SourceEdit]) -> Iterator[str]:
    for token in tokens:
        edit = next((e for e in edits if e.start <= token.start < e.end), None)
        if edit is None:
            yield token.text
        elif edit.start == token.start:
            yield edit.text


def _context_name(variable: ThreadVariable) -> str:
    return f"pycu2c_kept_{variable.number}_{variable.name}"


def _regions(parts: Sequence[KernelPart]) -> Iterator[Region]:
    for part in parts:
        match part:
            case Region():
                yield part
            case UniformBranch(_, then, otherwise):
                yield from _regions((*then, *otherwise))
            case DivergentBranch(test, then, otherwise):
                yield test
                yield from _regions((*then, *otherwise))
            case UniformLoop(_, body):
                yield from _regions(body)
            case UniformStatement():
                pass


def _returns(region: Region) -> Iterator[Token]:
    for statement in region.body:
        yield from (token for token, _ in _returns_of(statement.tokens))


def _returns_of(tokens: Sequence[Token]) -> Iterator[tuple[Token, Token]]:
    """Each ``return`` of a thread, and the ``;`` after it. Raises Unanalyzable if one may be of a
    function within."""
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
