"""The types that the reference interpreter infers: the law, and the compiler beside it."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

import numpy as np
import pytest

from pycu2c import compiler, cuda, kernel
from pycu2c.base.records import replace
from pycu2c.base.source import Source, source_of
from pycu2c.base.types import (
    WEAK_FLOAT,
    WEAK_INT,
    ParameterType,
    Signature,
    bool_,
    float32,
    float64,
    int8,
    int32,
    uint8,
)
from pycu2c.frontend.function_builder import BuiltModule
from pycu2c.frontend.scope.inferred_types import InferredTypes
from pycu2c.reference.type_inference import infer, infer_all
from support.construct_kernels import IMPORTS, text_of
from support.kernels_from_text import module_from
from support.language_constructs import CONSTRUCTS, Construct

HEADER = """
import math
import numpy as np
from pycu2c import cuda, device, kernel
from pycu2c.types import *

@device
def one_of(x, y, chosen):
    if chosen:
        return x
    return y

@device
def pair(x, y):
    return y, x + 1

@device
def least(x, k=0):
    k = min(x, k)
    return k

@kernel
def k(u, f, b, d, n, w):
"""
PARAMETERS = (uint8[:], float32[:], bool_[:], float64[:, :], WEAK_INT, WEAK_FLOAT)

# the type of the last assignment to ``r``
LAW = [
    ("r = u[0] + 1", "uint8"),
    ("r = u[0] / 2", "float64"),
    ("r = f[0] * n + w", "float32"),
    ("r = n / 2", "float"),
    ("r = n + (u[0] > 1)", "int"),
    ("r = d[0, n]", "float64"),
    ("for row in d:\n    r = row[0]", "float64"),
    ("if n:\n    r = u[0]\nelse:\n    r = -1\nr = r", "uint8"),
    ("r = 1\nif n:\n    r = f[0]", "float32"),
    ("r = 0\nfor i in range(n):\n    r += u[i]", "uint8"),
    ("r = 0\nfor i in range(n):\n    r += u[i] * w", "float64"),
    ("x = 0\ny = 0\nfor i in range(n):\n    y = x\n    x = f[0]\nr = y", "float32"),
    ("r = u[0]\nr = r * 1.5", "float64"),
    ("r: int8 = 0\nr += n", "int8"),
    ("r = u[0] if n else 0.5", "float64"),
    ("r = u[0] and n", "uint8"),
    ("r = b[0] if n else n > 2", "bool_"),
    ("r = (b[0] if n else n > 2) + (n > 2)", "bool_"),
    ("r = (n > 2) + (n > 3)", "int"),
    ("r = (u[0], n)[n]", "uint8"),
    ("q, r = pair(f[0], u[0])", "float32"),
    ("r = one_of(u[0], -1, n > 2)", "uint8"),
    ("r = one_of(u[0], f[0], n > 2)", "float32"),
    ("r = least(u[0])", "uint8"),
    ("r = math.sqrt(f[0])", "float32"),
    ("r = math.sqrt(n)", "float"),
    ("r = np.clip(u[0], 1, 7)", "uint8"),
    ("r = min(n, w, f[0])", "float32"),
    ("r = round(f[0])", "int"),
    ("r = cuda.grid(1) + cuda.threadIdx.x", "int"),
    ("s = cuda.shared.array((2, 3), int8)\nr = s[1, 2] * 3", "int8"),
    ("r = cuda.atomic.add(f, 0, 1)", "float32"),
    ("r = cuda.shfl_sync(0xffffffff, f[0], 1)", "float32"),
    ("r = cuda.ballot_sync(0xffffffff, n)", "int"),
    ("r = sum([x + n for x in (1, 2.5)])", "float"),
    ("r = (y := u[0]) + y", "uint8"),
    ("r = n ** -1", "float"),
    ("i = 0\nwhile i < n:\n    r = i\n    i += 1", "int"),
    ("if None is None:\n    q = n\nelse:\n    q = f[0]\nr = q", "int"),
]


def source_from(body: str, folder: Path) -> Source:
    text = HEADER + textwrap.indent(body, "    ") + "\n"
    return source_of(module_from(text, folder).k.python)


def type_of_r(types: InferredTypes, tree: ast.FunctionDef) -> str:
    stores = [n for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id == "r"]
    stores = [n for n in stores if isinstance(n.ctx, ast.Store)]
    last = max(stores, key=lambda n: (n.lineno, n.col_offset))
    return str(types.local_types[id(last)])


@pytest.mark.parametrize(("body", "expected"), LAW)
def test_a_variable_has_the_type_of_the_law(body: str, expected: str, tmp_path: Path) -> None:
    source = source_from(body, tmp_path)
    assert type_of_r(infer((source, PARAMETERS), source.tree), source.tree) == expected.strip("_")


@pytest.mark.parametrize(("body", "expected"), LAW[:24:4])
def test_wrong_types_of_the_compiler_change_nothing(
    body: str, expected: str, tmp_path: Path
) -> None:
    source = source_from(body, tmp_path)
    key = source, PARAMETERS
    ids = {id(node): int8 for node in ast.walk(source.tree)}
    own = infer_all({key: InferredTypes(source.tree, ids, ids)})[key]
    assert type_of_r(own, source.tree) == expected.strip("_")


def disagreements(built: BuiltModule) -> list[str]:
    """The nodes to which the compiler and the inference give different types."""
    found = []
    for (source, types), compiled in built.inferred_types.items():
        own = infer((source, types), compiled.tree)
        both = [
            (compiled.local_types, own.local_types),
            (compiled.join_types, own.join_types),
        ]
        for of_compiler, of_reference in both:
            for node in of_compiler.keys() & of_reference.keys():
                if of_compiler[node] != of_reference[node]:
                    line = next(n.lineno for n in ast.walk(compiled.tree) if id(n) == node)
                    found.append(f"line {line}: {of_compiler[node]} and {of_reference[node]}")
    return found


CONSTRUCT_TYPES: tuple[ParameterType, ...] = (
    float32[::1],
    int32[::1],
    float64[:, ::1],
    WEAK_INT,
    WEAK_FLOAT,
    float64[::1],
)


@pytest.mark.parametrize("row", CONSTRUCTS, ids=lambda row: row.title)
def test_the_compiler_has_the_same_types(row: Construct, tmp_path: Path) -> None:
    kernel = module_from(IMPORTS + text_of(row), tmp_path).k
    built = compiler.build_module(source_of(kernel.python), Signature(CONSTRUCT_TYPES))
    assert disagreements(built) == []


def test_nodes_without_samples_keep_the_types_of_the_compiler(tmp_path: Path) -> None:
    source = source_from("def g(x):\n    return x\nr = g(u[0])", tmp_path)
    key = source, PARAMETERS
    ids = {id(node): uint8 for node in ast.walk(source.tree) if isinstance(node, ast.Name)}
    compiled = InferredTypes(source.tree, ids)
    assert type_of_r(infer_all({key: compiled})[key], source.tree) == "uint8"
    assert uint8 not in infer(key, source.tree).local_types.values()


def test_several_types_of_one_node_are_mixed(tmp_path: Path) -> None:
    body = "r = sum([x if n else 0 for x in (1, 2.5)])"
    source = source_from(body, tmp_path)
    types = infer((source, PARAMETERS), source.tree)
    (conditional,) = (n for n in ast.walk(source.tree) if isinstance(n, ast.IfExp))
    assert id(conditional) in types.mixed
    compiled = InferredTypes(source.tree, {}, {id(conditional): int8})
    merged = infer_all({(source, PARAMETERS): replace(compiled)})[source, PARAMETERS]
    assert id(conditional) not in merged.join_types


def test_overflow_of_a_sample_is_no_warning(tmp_path: Path) -> None:
    body = "r = u[0]\nfor i in range(n):\n    r = (r + 200) * 3\n"
    source = source_from(body, tmp_path)
    with np.errstate(all="raise"):
        assert type_of_r(infer((source, PARAMETERS), source.tree), source.tree) == "uint8"


def test_items_of_a_tuple_in_one_variable_are_converted(target: str) -> None:
    @kernel(backend=target)
    def k(n, x, out):
        i = cuda.grid(1)
        p = (i, (n, 1))
        if i % 2:
            p = (p[1][0], (x, 2))
        out[i] = p[0] * (n - i) + p[1][1]

    out = np.zeros(8)
    k[1, 8](np.uint8(5), np.float16(2.5), out)
    assert out.tolist() == [1, 22, 7, 12, 5, 2, 1531, 1272]
