"""Rewrite CUDA C to C++ for the CPU, line by line, where the preprocessor does not suffice.

``extern __shared__`` arrays become references to the block's memory. A macro after each kernel, on
its last line, defines the launch function. The headers define all other CUDA identifiers.
"""

from __future__ import annotations

import ctypes
import re
import sys
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import suppress
from enum import Enum
from typing import NamedTuple

from pycu2c.base.diagnostics import CompileError, Diagnostic, Label
from pycu2c.base.records import dataclass
from pycu2c.compat.cuda_text.device_headers import prelude
from pycu2c.compat.cuda_text.fission.split_kernel import BARRIERS, split_kernel, split_name
from pycu2c.compat.cuda_text.parse.functions import FunctionDefinition
from pycu2c.compat.cuda_text.parse.macros import Macros
from pycu2c.compat.cuda_text.parse.statements import Unanalyzable
from pycu2c.compat.cuda_text.parse.tokens import Token, closing
from pycu2c.compat.cuda_text.polling import with_yields
from pycu2c.compat.cuda_text.shared_atomics import shared_atomics
from pycu2c.compat.cuda_text.source_text import CudaSource, line_directive
from pycu2c.compat.cuda_text.wait_detection import (
    WaitAnalysis,
    identifiers_in,
    includes_local_files,
    needs_cooperative_launch,
)


class SourceEdit(NamedTuple):
    """A replacement for the characters of a text from ``start`` to ``end``."""

    start: int
    end: int
    text: str


class ThreadExecution(Enum):
    """How the threads of a kernel run. The value is the macro that defines its launch function."""

    LOOP = "PYCU2C_LOOP"  # a loop over the threads
    SPLIT = "PYCU2C_SPLIT"  # loops between barriers
    FIBERS = "PYCU2C_FIBERS"  # one stack per thread


@dataclass(frozen=True, slots=True)
class KernelEntry:
    """A kernel in the C++: ``number`` is the suffix of its symbols."""

    name: str
    number: int
    execution: ThreadExecution


@dataclass(frozen=True, slots=True)
class HostSource:
    """Generated C++ and its kernels.

    ``needs_cooperative_launch``: blocks may wait for each other.
    """

    text: str
    entries: tuple[KernelEntry, ...]
    needs_cooperative_launch: bool


def generate_host_source(
    text: CudaSource, macros: Sequence[str], expressions: Sequence[str], *, rewrites: bool = True
) -> HostSource:
    """Return the C++ of a text. ``rewrites=False`` disables optimizations and yields."""
    if rewrites:
        text = with_yields(text)
    wait_analysis = WaitAnalysis(text, macros)
    edits = [*_shared_array_edits(text), *_include_edits(text), *_lambda_edits(text)]
    if rewrites:
        edits += _non_atomic_edits(text)
    split_kernels = _split_kernels(text, macros, wait_analysis) if rewrites else {}
    all_kernels = [f for f in text.functions if f.is_kernel]
    kernels = [f for f in all_kernels if not f.is_template]
    entries = [
        KernelEntry(
            f.path, i, _thread_execution(wait_analysis.may_wait(f.name), [f], split_kernels)
        )
        for i, f in enumerate(kernels)
    ]
    for f, code in split_kernels.items():
        edits.append(
            _insert_after(text, f, f"\n{code}\n{line_directive(text, _end_offset(text, f))}\n")
        )
        edits += _make_inline(text, f)
    edits += [
        _insert_after(text, f, f" {_launch_macro(e, f.name)}") for f, e in zip(kernels, entries)
    ]
    instances: list[KernelEntry] = []
    footer: list[str] = []
    for expression in dict.fromkeys((*expressions, *_explicit_instantiations(text))):
        if expression.lstrip().startswith("&"):  # a variable
            continue
        matches = _kernels_named(expression, all_kernels)
        execution = _thread_execution(
            wait_analysis.may_wait(expression) or not matches, matches, split_kernels
        )
        instance = KernelEntry(expression, len(entries) + len(instances), execution)
        instances.append(instance)
        footer.append(_launch_macro(instance, expression))
    words = identifiers_in(text) | frozenset(re.findall(r"\w+", " ".join(macros)))
    definitions = prelude(
        words,
        include_all=includes_local_files(text),
        has_split_kernels=bool(split_kernels),
    )
    code = _apply_edits(text.code, edits)
    renamed = [
        f"#define {f.name} pycu2c_own_{f.name}" for f in kernels if is_c_library_name(f.path)
    ]
    parts = (definitions, *macros, *renamed, f'#line 1 "{text.name}"', code, "", *footer)
    return HostSource(
        "\n".join(parts) + "\n", (*entries, *instances), needs_cooperative_launch(text)
    )


def _explicit_instantiations(text: CudaSource) -> Iterator[str]:
    """Yield explicit instantiations: ``template __global__ void add<int>(…);`` -> ``add<int>``."""
    tokens = text.tokens
    for index, token in enumerate(tokens):
        if token.text != "template" or index + 1 == len(tokens) or tokens[index + 1].text == "<":
            continue
        last = next((i for i in range(index, len(tokens)) if tokens[i].text in "(;{"), len(tokens))
        words = [t.text for t in tokens[index + 1 : last]]
        if "__global__" in words and "void" in words and "<" in words:
            yield " ".join(words[words.index("void") + 1 :])


def is_c_library_name(name: str) -> bool:
    """Return whether the C library has a function of this name, such as ``select``."""
    return hasattr(ctypes.CDLL("msvcrt" if sys.platform == "win32" else None), name)


def _kernels_named(
    expression: str, kernels: Sequence[FunctionDefinition]
) -> list[FunctionDefinition]:
    """Return the kernels that a name expression denotes; none if a macro defines the name."""
    base = expression.partition("<")[0].strip().lstrip(":")
    return [f for f in kernels if base in (f.path.partition("<")[0], f.name.partition("<")[0])]


def _thread_execution(
    may_wait: bool,
    kernels: Sequence[FunctionDefinition],
    split_kernels: Mapping[FunctionDefinition, str],
) -> ThreadExecution:
    if kernels and all(f in split_kernels for f in kernels):
        return ThreadExecution.SPLIT
    return ThreadExecution.FIBERS if may_wait else ThreadExecution.LOOP


def _launch_macro(entry: KernelEntry, name: str) -> str:
    if entry.execution is ThreadExecution.SPLIT:
        name = _LAST_NAME.sub(r"\1" + split_name(r"\2"), name, count=1)
    return f"{entry.execution.value}({entry.number}, {name})"


_LAST_NAME = re.compile(r"^(\s*(?:\w+\s*::\s*|::\s*)*)(\w+)")  # groups: the scopes, the last name


def _insert_after(text: CudaSource, function: FunctionDefinition, code: str) -> SourceEdit:
    end = _end_offset(text, function)
    return SourceEdit(end, end, code)


def _make_inline(text: CudaSource, function: FunctionDefinition) -> Iterator[SourceEdit]:
    """Declare a split kernel inline: the compiler checks it, but need not generate code."""
    head = text.tokens[function.start : function.body[0]]
    if {"static", "inline", "__forceinline__", "__inline__"}.isdisjoint(t.text for t in head):
        offset = next(t.start for t in head if t.text == "__global__")
        yield SourceEdit(offset, offset, "inline ")


def _end_offset(text: CudaSource, function: FunctionDefinition) -> int:
    last = function.body[1]
    return text.tokens[last].end if last < len(text.tokens) else len(text.code)


def _split_kernels(
    text: CudaSource, options: Sequence[str], wait_analysis: WaitAnalysis
) -> dict[FunctionDefinition, str]:
    """Return the C++ of the kernels that can be split at barriers."""
    macros = Macros(text, options)
    edits = [*_shared_array_edits(text), *_non_atomic_edits(text)]
    replacements = {
        t.start: edit.text if t.start == edit.start else ""
        for edit in edits
        for t in text.tokens
        if edit.start <= t.start < edit.end
    }
    sets_thread_index = "threadIdx" in _identifiers_outside_kernels(text, options)
    found: dict[FunctionDefinition, str] = {}
    for function in text.functions:
        is_specialization = "<" in function.name
        if not function.is_kernel or is_specialization:
            continue
        if wait_analysis.may_wait_elsewhere(function, BARRIERS):
            continue
        with suppress(Unanalyzable):
            found[function] = split_kernel(
                text, function, macros, replacements, sets_thread_index=sets_thread_index
            )
    return found


def _non_atomic_edits(text: CudaSource) -> Iterator[SourceEdit]:
    yield from (SourceEdit(t.start, t.end, name) for t, name in shared_atomics(text))


def _identifiers_outside_kernels(text: CudaSource, options: Sequence[str]) -> set[str]:
    """Return the identifiers outside of kernels, including those in macro options."""
    outside = text.tokens_outside(f for f in text.functions if f.is_kernel)
    return set(re.findall(r"\w+", " ".join((*(t.text for t in outside), *options))))


def _apply_edits(code: str, edits: Sequence[SourceEdit]) -> str:
    parts, offset = [], 0
    for edit in sorted(edits):
        newlines = "\n" * code.count("\n", edit.start, edit.end)  # lines keep their numbers
        parts += [code[offset : edit.start], edit.text, newlines]
        offset = edit.end
    return "".join((*parts, code[offset:]))


# ---- dynamic shared memory -----------------------------------------------------------------

_ALIGNMENT_SPECIFIERS = ("__align__", "alignas", "__attribute__", "__builtin_align__")


def _shared_array_edits(text: CudaSource) -> Iterator[SourceEdit]:
    """Replace ``extern __shared__ float s[];`` by a reference to the block's memory."""
    tokens = text.tokens
    for index, token in enumerate(tokens):
        if token.text != "__shared__":
            continue
        for neighbor in tokens[max(index - 1, 0) : index + 2 : 2]:
            if neighbor.text == "static":  # __shared__ is defined as static
                yield SourceEdit(neighbor.start, neighbor.end, "")
        first = index
        while first and tokens[first - 1].text in ("extern", "volatile", "const", "__align__"):
            first -= 1
        last = index
        while last < len(tokens) and tokens[last].text not in (";", "{", "="):
            last += 1
        declaration = tokens[first:last]
        if not any(t.text == "extern" for t in declaration) or last == len(tokens):
            continue
        start, end = tokens[first].start, tokens[last - 1].end
        is_local = any(f.body[0] < index < f.body[1] for f in text.functions)
        yield SourceEdit(
            start, end, _dynamic_memory_reference(_without_storage(declaration), is_local)
        )


def _without_storage(tokens: Sequence[Token]) -> list[str]:
    """Return the tokens of a declaration without storage and alignment specifiers."""
    words, index = [], 0
    while index < len(tokens):
        if tokens[index].text in _ALIGNMENT_SPECIFIERS:
            index = closing(tokens, index + 1)
        elif tokens[index].text not in ("extern", "__shared__"):
            words.append(tokens[index].text)
        index += 1
    return words


def _dynamic_memory_reference(words: Sequence[str], is_local: bool) -> str:
    name_end = words.index("[") if "[" in words else len(words)
    type_text = " ".join(words[: name_end - 1])
    name = words[name_end - 1]
    extents = "".join(words[name_end:])
    storage = "" if is_local else "static thread_local "
    memory = f"*reinterpret_cast<{type_text} (*){extents}>(::pycu2c::dynamic())"
    return f"{storage}{type_text} (&{name}){extents} = {memory}"


def _lambda_edits(text: CudaSource) -> Iterator[SourceEdit]:
    """Remove execution space specifiers: ``[=] __device__ (int n) {…}`` -> ``[=] (int n) {…}``."""
    before = ""
    for token in text.tokens:
        if token.text in ("__device__", "__host__") and before == "]":
            yield SourceEdit(token.start, token.end, "")
        else:
            before = token.text


# ---- included files ------------------------------------------------------------------------

_INCLUDE = re.compile(r'#\s*include\s*[<"]([^>"]+)[>"]')
_PROVIDED_HEADERS = re.compile(  # the prelude replaces these headers
    r"(cuda|cuda_runtime|cuda_runtime_api|device_launch_parameters|device_functions|vector_types"
    r"|cuComplex|vector_functions|math_constants|math_functions|sm_\w+|cuda_fp16|cuda_bf16|cooperative_groups"
    r"|cooperative_groups/\w+|assert|cooperative_groups/details/\w+)\.(h|hpp)|cassert"
)
_CUDA_STD_HEADER = re.compile(r"cuda/std/(\w+)")


def _include_edits(text: CudaSource) -> Iterator[SourceEdit]:
    for token in text.tokens:
        found = _INCLUDE.match(token.text) if token.kind == "directive" else None
        if found is None:
            continue
        if _PROVIDED_HEADERS.fullmatch(found[1]):
            yield SourceEdit(token.start, token.start + found.end(), "")
        elif std := _CUDA_STD_HEADER.fullmatch(found[1]):
            namespace = " namespace cuda { namespace std { using namespace ::std; } }"
            _, line, _ = text.origins.locate(token.end)
            yield SourceEdit(token.start, token.start + found.end(), f"#include <{std[1]}>")
            yield SourceEdit(token.end, token.end, f"\n{namespace}\n#line {line + 1}")


# ---- unsupported features ---------------------------------------------------------------------

_UNSUPPORTED = {
    r"asm|__asm__|__asm": "inline PTX",
    r"(tex|surf)([123]D\w*(Lod|Grad|gather|Layered)|Cubemap)\w*": "this texture function",
    "<<<": "launches from kernels",
    r"nvcuda|wmma|mma_sync": "tensor cores",
    r"curand\w*": "cuRAND",
    r"__cluster\w*|cluster_group|this_cluster": "clusters",
    r"__pipeline_\w+|memcpy_async": "asynchronous copies",
    r"__v(add|sub|abs|neg|avg|hadd|max|min|cmp|set|sad)\w*[24]": "SIMD functions of words",
}
_UNSUPPORTED_FILES = re.compile(r"(cub|thrust|mma|curand\w*|cuda/(barrier|pipeline|atomic))\b.*")


def check_supported(text: CudaSource) -> None:
    """Raise CompileError for features that the CPU does not support."""
    found = list(_unsupported(text, {f.name for f in text.functions}))
    if found:
        raise CompileError(
            [
                Diagnostic("inline-c", (Label(text.span(token), message),), _HINT)
                for token, message in found[:8]
            ]
        )


def _unsupported(text: CudaSource, supported: Container[str]) -> Iterator[tuple[Token, str]]:
    """Yield the tokens of unsupported features, with messages; directives come last."""
    for token in text.tokens:
        if token.kind in ("identifier", "punctuator") and token.text not in supported:
            for pattern, feature in _UNSUPPORTED.items():
                if re.fullmatch(pattern, token.text):
                    yield token, f"{feature}: not supported on the CPU"
    for token in text.tokens:
        included = _INCLUDE.match(token.text) if token.kind == "directive" else None
        if included and _UNSUPPORTED_FILES.fullmatch(included[1]):
            yield token, "this header is not supported on the CPU"


_HINT = "run it on a GPU, with backend='cuda'; docs/guide/cuda_text.md lists what the CPU supports"
