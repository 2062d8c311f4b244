"""Rename what a text defines, so that a library can have the C++ of several texts.

C++ merges inline functions and templates of the same name from several files, even if they differ.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from pycu2c.compat.cuda_text.host_source import is_c_library_name
from pycu2c.compat.cuda_text.source_text import CudaSource

_VARIABLES = ("__device__", "__constant__", "__managed__")
_AFTER_NAME = ("(", "[", "=", ";", "{")


def renaming_macros(text: CudaSource, prefix: str) -> list[str]:
    """Return macros that prefix the names of functions, classes with functions, and variables.

    They precede all C++ of the file, so that headers that use such a name agree with the text.
    Names of the C library, whose functions a text may overload, are kept.
    """
    names = dict.fromkeys((*_functions_and_scopes(text), *_variables(text)))
    return [f"#define {name} {prefix}_{name}" for name in names if _is_renamed(name)]


def _is_renamed(name: str) -> bool:
    is_operator = name == "operator" or not name.isidentifier()
    return not is_operator and not is_c_library_name(name)


def _functions_and_scopes(text: CudaSource) -> Iterator[str]:
    """Yield the functions, and the outermost classes and namespaces that contain functions."""
    for function in text.functions:
        yield function.path.partition("::")[0].partition("<")[0]


def _variables(text: CudaSource) -> Iterator[str]:
    outside = text.tokens_outside(text.functions)
    for index, token in enumerate(outside):
        if token.text in _VARIABLES:
            following = pairwise(outside[index + 1 :])
            yield next((a.text for a, b in following if b.text in _AFTER_NAME), token.text)
