"""Generate the stubs src/pycu2c/cuda/__init__.pyi and vector_types.pyi for type checkers and
editors, from the registry of intrinsics and the host names."""

from __future__ import annotations

import inspect
from textwrap import indent

from pycu2c.base.dtypes import VECTORS, DType
from pycu2c.declarations import annotations
from pycu2c.ops.intrinsics.kinds import FIXED, HANDLE_KINDS
from pycu2c.ops.intrinsics.registry import Intrinsic
from pycu2c.ops.names.cuda_namespace import CUDA, TYPES, Member, Namespace, members
from pycu2c.ops.names.host_names import HOST_NAMES, MODULES
from pycu2c.types import Scalar

HEAD = '''\
# Made by docs/generate.py from the rows of pycu2c/intrinsics: edit those.
# ruff: noqa
# fmt: off
"""The names of CUDA, inside a kernel and on the host: ``from pycu2c import cuda``."""

from typing import Any, Literal, SupportsIndex, TypeAlias, TypeVar, overload

import numpy as np

from pycu2c.declarations.annotations import Array
from pycu2c.declarations.annotations import surface1d, surface2d, surface3d
from pycu2c.declarations.annotations import texture1d, texture2d, texture3d
HOST_IMPORTS
from pycu2c.base.vector_types import *
TYPE_IMPORTS

_Number: TypeAlias = complex | np.number[Any] | np.bool_
_Real: TypeAlias = float | np.number[Any] | np.bool_
_Index: TypeAlias = SupportsIndex | tuple[SupportsIndex, ...]
_T = TypeVar("_T", bound=_Number)
_E = TypeVar("_E")

'''

VECTOR_HEAD = '''\
# Made by docs/generate.py from the table in pycu2c/base/dtypes.py: edit that.
# ruff: noqa
# fmt: off
"""CUDA's vector types: ``from pycu2c import float4``."""

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np

class _Vector:
    numpy: np.dtype[Any]
    dtype: np.dtype[Any]
    def __init__(self, *components: float | np.number[Any] | np.bool_ | _Vector) -> None: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __getitem__(self, name: str, /) -> Any: ...
    def __setitem__(self, name: str, value: Any, /) -> None: ...

'''

# what a kind of parameter or result is to a type checker; a kind that is not here is anything
KINDS = {
    "array": "Array[_E, Any, Any]",
    "index": "_Index",
    "T": "_T",
    "F": "_Real",
    "int": "SupportsIndex",
    "bool": "_Real",
    "number": "_Number",
    "coordinate": "_Real",
    **{kind: f"{kind}[_E]" for kind in HANDLE_KINDS},
    **{kind: "_Real" if row.is_float else "SupportsIndex" for kind, row in FIXED.items()},
}
RESULTS = {
    **{"T": "_T", "F": "float", "R": "float", "int": "int", "bool": "bool", "None": "None"},
    **{kind: f"np.{kind}" for kind in FIXED if kind != "bfloat16"},  # which numpy has not
}
OF_ELEMENTS = {"T": "_Number", "F": "_Real"}  # beside an array, whose elements give the type
OF_TEXELS = {"T": "Any"}  # vectors, too


def stub() -> str:
    """Return the text of the stub of ``cuda``."""
    parts = [
        declared(name, member)
        for name, member in sorted(members(CUDA).items())
        if not isinstance(member, Scalar)
    ]
    head = HEAD.replace("HOST_IMPORTS", _host_imports()).replace("TYPE_IMPORTS", _type_imports())
    return head + "\n".join(parts)


def _type_imports() -> str:
    """Return the imports of types; annotations take precedence, for type checkers."""
    lines = []
    for name in TYPES:
        module = "declarations.annotations" if hasattr(annotations, name) else "types"
        lines.append(f"from pycu2c.{module} import {name} as {name}")
    return "\n".join(sorted(lines))


def _host_imports() -> str:
    """Return the imports of host names from the modules that define them."""
    lines = [f"from {module} import {name} as {name}" for name, module in HOST_NAMES.items()]
    places = ((name, *path.rpartition(".")) for name, path in MODULES.items())
    lines += [f"from {module} import {own} as {name}" for name, module, _, own in places]
    return "\n".join(sorted(lines))


def vector_stub() -> str:
    """Return the text of vector_types.pyi."""
    names = "".join(f'    "{name}",\n' for name in sorted(VECTORS))
    return VECTOR_HEAD + f"__all__ = [\n{names}]\n" + "".join(map(_vector, VECTORS.items()))


def _vector(item: tuple[str, DType]) -> str:
    name, row = item
    if name != row.name:
        return f"{name}: TypeAlias = {row.name}\n"
    kind = "float" if row.fields[0].dtype.is_float else "int"
    parts = "".join(f"    {field.name}: {kind}\n" for field in row.fields)
    return f"\nclass {name}(_Vector):\n{parts}\n"


def declared(name: str, member: Member, method: bool = False) -> str:
    """Return the declaration of a namespace member, with its own members."""
    if isinstance(member, Namespace):
        parts = [declared(n, m, method=True) for n, m in sorted(members(member).items())]
        return f"class _{name}:\n{indent(''.join(parts), '    ')}\n{name}: _{name}\n"
    if not isinstance(member, Intrinsic):
        head = f"({', '.join(f'{n}: Any' for n in inspect.signature(member).parameters)}) -> Any"
        doc = inspect.getdoc(member) or ""
        return "@staticmethod\n" * method + f"def {name}{head}:\n{_doc(doc)}"
    if member.is_special_register and method:
        result = RESULTS.get(member.result, "Any")
        return f"@property\ndef {name}(self) -> {result}:\n{_doc(member.doc)}"
    if member.is_special_register:
        return f"{name}: {RESULTS.get(member.result, 'Any')}\n{_doc(member.doc).strip()}\n"
    heads = member.overloads or (_head(member),)
    marks = "@overload\n" * (len(heads) > 1) + "@staticmethod\n" * method
    return "".join(f"{marks}def {name}{head}:\n{_doc(member.doc)}" for head in heads)


def _head(row: Intrinsic) -> str:
    kinds, results = KINDS, RESULTS
    if any(kind == "array" for _, kind in row.parameters):
        kinds, results = KINDS | OF_ELEMENTS, RESULTS | {"T": "_E"}
    elif any(kind in HANDLE_KINDS for _, kind in row.parameters):
        kinds, results = KINDS | OF_TEXELS, RESULTS | {"T": "_E"}
    elif row.result == "T" and all(kind != "T" for _, kind in row.parameters):
        results = RESULTS | {"T": "Any"}
    defaults = row.defaults
    names = ", ".join(
        f"{name}: {kinds.get(kind, 'Any')}" + (f" = {defaults[name]}" if name in defaults else "")
        for name, kind in row.parameters
    )
    return f"({names}) -> {results.get(row.result, 'Any')}"


def _doc(text: str) -> str:
    mark = "r" if "\\" in text else ""
    return indent(f'{mark}"""{text}"""\n', "    ")
