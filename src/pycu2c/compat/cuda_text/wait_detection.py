"""Find the kernels that may wait: for other threads, or for memory that other threads write.

The analysis is conservative: a kernel may wait unless its tokens prove otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set

from pycu2c.compat.cuda_text.parse.functions import FunctionDefinition
from pycu2c.compat.cuda_text.parse.tokens import Token, tokens_of
from pycu2c.compat.cuda_text.source_text import CudaSource

POLL = "PYCU2C_POLL"  # a macro that yields (polling.py)
_MAY_WAIT = re.compile(
    r"__syncthreads\w*|__syncwarp|__barrier_sync\w*|__shfl\w*|__any\w*|__all\w*|__uni\w*|__ballot\w*"
    r"|__match_\w+|__activemask|__reduce_\w+|__nanosleep|__trap|__brkpt|__exit"
    r"|atomic(CAS|Exch)\w*|volatile|assert|printf|this_thread_block|this_grid|coalesced_threads"
    rf"|tiled_partition|cooperative_groups|{POLL}"
)
_GRID_SYNC_NAMES = frozenset(("this_grid", "grid_group"))
_MACRO = re.compile(r"#\s*define\s+(\w+)(.*)", re.DOTALL)
_LOCAL_INCLUDE = re.compile(r'#\s*include\s*"')


class WaitAnalysis:
    """The functions of a text that may wait."""

    def __init__(self, text: CudaSource, options: Iterable[str]) -> None:
        self._text = text
        self._waiting_names = names_that_use(text, _MAY_WAIT)
        self._all_may_wait = (
            includes_local_files(text)
            or any(map(_MAY_WAIT.search, options))
            or not self._waiting_names.isdisjoint(_identifiers_outside_functions(text))
        )

    def may_wait(self, expression: str) -> bool:
        """Return whether a kernel, given by name or template instance, may wait."""
        return self._all_may_wait or not self._waiting_names.isdisjoint(_identifiers_in(expression))

    def may_wait_elsewhere(
        self, function: FunctionDefinition, sync_functions: frozenset[str]
    ) -> bool:
        """Return whether a function may wait other than by calls of ``sync_functions``."""
        body = self._text.tokens[function.body[0] : function.body[1]]
        words = {t.text for t in body if t.kind == "identifier"} - sync_functions
        waiting = self._waiting_names - sync_functions
        return (
            self._all_may_wait
            or not words.isdisjoint(waiting)
            or any(map(_MAY_WAIT.fullmatch, words))
        )


def names_that_use(
    text: CudaSource, words: re.Pattern[str], ignored: Set[int] = frozenset()
) -> set[str]:
    """Return the functions, classes and macros that use these words, also indirectly.

    The result includes such words outside of functions. ``ignored``: offsets of tokens.
    """
    identifiers: dict[str, set[str]] = {}
    for names, tokens in definitions(text):
        used = {t.text for t in tokens if t.kind == "identifier" and t.start not in ignored}
        for name in names:
            identifiers.setdefault(name, set()).update(used)
    found = {name for name, used in identifiers.items() if any(map(words.fullmatch, used))}
    while callers := {n for n, used in identifiers.items() if n not in found and used & found}:
        found |= callers
    return found | {w for w in _identifiers_outside_functions(text) if words.fullmatch(w)}


def _identifiers_outside_functions(text: CudaSource) -> set[str]:
    """Return the identifiers outside of functions: of aliases, classes and unparsed code."""
    inside = {i for f in text.functions for i in range(f.start, f.body[1] + 1)}
    tokens = enumerate(text.tokens)
    return {t.text for i, t in tokens if t.kind == "identifier" and i not in inside}


def includes_local_files(text: CudaSource) -> bool:
    """Return whether the text includes files that were not expanded."""
    return any(t.kind == "directive" and _LOCAL_INCLUDE.match(t.text) for t in text.tokens)


def needs_cooperative_launch(text: CudaSource) -> bool:
    """Return whether blocks may wait for each other."""
    return includes_local_files(text) or any(t.text in _GRID_SYNC_NAMES for t in text.tokens)


def identifiers_in(text: CudaSource) -> frozenset[str]:
    """Return all identifiers, including those in macros."""
    directives = [w for t in text.tokens if t.kind == "directive" for w in _identifiers_in(t.text)]
    return frozenset((*(t.text for t in text.tokens if t.kind == "identifier"), *directives))


def _identifiers_in(text: str) -> list[str]:
    return [t.text for t in tokens_of(text.lstrip("#")) if t.kind == "identifier"]


def definitions(text: CudaSource) -> Iterator[tuple[tuple[str, ...], Sequence[Token]]]:
    """Yield the names and the tokens of each function and macro. A class names its functions."""
    for function in text.functions:
        names = (function.name.partition("<")[0], *function.scopes)
        yield names, text.tokens[function.start : function.body[1] + 1]
    for token in text.tokens:
        macro = _MACRO.match(token.text) if token.kind == "directive" else None
        if macro:
            start = token.start + macro.start(2)
            tokens = tokens_of(macro[2])
            moved = [Token(t.kind, t.text, start + t.start, start + t.end) for t in tokens]
            yield (macro[1],), moved
