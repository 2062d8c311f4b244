"""Rewrite launches from kernels, ``inner<<<grid, block>>>(x)``, to calls of ``launch``.

A kernel can be launched that has neither barriers nor shared memory, because its threads run one
after the other, inside of the thread that launches them. It may print.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NoReturn

from pycu2c.base.diagnostics import Label, fail
from pycu2c.compat.cuda_text.fission.split_source import SourceEdit
from pycu2c.compat.cuda_text.fission.wait_detection import WaitAnalysis
from pycu2c.compat.cuda_text.parse.declarations import split_at_commas
from pycu2c.compat.cuda_text.parse.tokens import Token
from pycu2c.compat.cuda_text.source_text import CudaSource


def launch_edits(text: CudaSource, wait_analysis: WaitAnalysis) -> Iterator[SourceEdit]:
    """Yield an edit for each launch. Raises CompileError for those that are not supported."""
    for index, token in enumerate(text.tokens):
        if token.text == "<<<":
            yield _launch_edit(text, index, wait_analysis)


def _launch_edit(text: CudaSource, index: int, wait_analysis: WaitAnalysis) -> SourceEdit:
    tokens = text.tokens
    first = index - 1
    while first >= 2 and tokens[first - 1].text == "::" and tokens[first - 2].kind == "identifier":
        first -= 2
    last = next((i for i in range(index, len(tokens)) if tokens[i].text == ">>>"), len(tokens) - 2)
    configuration = split_at_commas(tokens[index + 1 : last])
    kernel = next((f for f in text.functions if f.name == tokens[index - 1].text), None)
    if kernel is None or not kernel.is_kernel or kernel.is_template:
        _reject(text, tokens[index - 1], "this is not a kernel of the text, or it is a template")
    may_wait = wait_analysis.may_wait_elsewhere(kernel, frozenset(("printf",)))
    body = text.tokens[kernel.body[0] : kernel.body[1]]
    if may_wait or any(t.text == "__shared__" for t in body):
        _reject(text, tokens[index - 1], f"{kernel.name} has barriers or shared memory")
    if (
        len(configuration) < 2
        or not all(configuration)
        or not all(map(_is_zero, configuration[2:]))
    ):
        _reject(text, tokens[index], "a launch on the CPU takes a grid and a block")
    grid, block = (text.code[part[0].start : part[-1].end] for part in configuration[:2])
    name = text.code[tokens[first].start : tokens[index].start]
    call = f"[](auto... pycu2c_a) {{ {name}(pycu2c_a...); }}"
    comma = "" if tokens[last + 2].text == ")" else ", "
    launch = f"::pycu2c::launch(dim3({grid}), dim3({block}), {call}{comma}"
    return SourceEdit(tokens[first].start, tokens[last + 1].end, launch)


def _is_zero(part: Sequence[Token]) -> bool:
    return [token.text for token in part] == ["0"]


def _reject(text: CudaSource, token: Token, message: str) -> NoReturn:
    fail(
        "inline-c",
        Label(text.span(token), message),
        hint="on the CPU, kernels launch kernels without barriers; run others on a GPU, with "
        "backend='cuda'",
    )
