"""Replace atomics on shared memory by plain updates.

One OS thread runs a block, so its shared memory needs no atomics. Calls whose operand is not
clearly in shared memory stay atomic.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from pycu2c.compat.cuda_text.parse.functions import FunctionDefinition
from pycu2c.compat.cuda_text.parse.tokens import Token, closing
from pycu2c.compat.cuda_text.source_text import CudaSource

_ATOMIC = re.compile(r"atomic(Add|Sub|Min|Max|And|Or|Xor|Inc|Dec)(_block)?")


def shared_atomics(text: CudaSource) -> Iterator[tuple[Token, str]]:
    """Yield the name tokens of atomic calls on shared memory, and their replacements."""
    defined = {function.name for function in text.functions}
    for function in text.functions:
        tokens = text.tokens[function.body[0] : function.body[1]]
        axes = _shared_variables(tokens, function)
        for index, token in enumerate(tokens):
            found = _ATOMIC.fullmatch(token.text)
            if found and found[0] not in defined and _is_shared_element(tokens, index + 1, axes):
                yield token, f"::pycu2c::non_atomic::atomic{found[1]}"


def _shared_variables(tokens: Sequence[Token], function: FunctionDefinition) -> dict[str, int]:
    """Return the variables in shared memory that a body declares, and their numbers of axes."""
    found: dict[str, int] = {}
    for index, token in enumerate(tokens):
        if token.text != "__shared__":
            continue
        end = index
        while end < len(tokens) and tokens[end].text not in (";", "=", "{"):
            end += 1
        words = [t.text for t in tokens[index:end]]
        name_end = words.index("[") if "[" in words else len(words)
        if {"*", ",", "&"}.isdisjoint(words):
            found[words[name_end - 1]] = words.count("[")
    parameters = {parameter.name for parameter in function.parameters}
    return {
        name: axes
        for name, axes in found.items()
        if name not in parameters and _is_declared_once(tokens, name)
    }


def _is_declared_once(tokens: Sequence[Token], name: str) -> bool:
    before = [a for a, b in pairwise(tokens) if b.text == name]
    return sum(t.kind == "identifier" or t.text in (">", "*") for t in before) == 1


def _is_shared_element(tokens: Sequence[Token], index: int, axes: dict[str, int]) -> bool:
    """Return whether the tokens are ``(&name[…]…,`` with an index for each axis of ``name``."""
    if [t.text for t in tokens[index : index + 2]] != ["(", "&"]:
        return False
    name, index, count = tokens[index + 2].text, index + 3, 0
    while index < len(tokens) and tokens[index].text == "[":
        index, count = closing(tokens, index) + 1, count + 1
    return index < len(tokens) and tokens[index].text == "," and axes.get(name) == count
