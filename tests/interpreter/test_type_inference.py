"""The types that samples give, and those of the compiler."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

import numpy as np
import pytest

from pycu2c import cuda, device, kernel
from pycu2c.base.source import Source, source_of
from pycu2c.base.types import (
    WEAK_FLOAT,
    WEAK_INT,
    ParameterType,
    Scalar,
    bool_,
    float32,
    float64,
    int32,
    promote,
    uint8,
)
from support.construct_kernels import IMPORTS, text_of
from support.kernels_from_text import module_from
from support.language_constructs import CONSTRUCTS, Construct
from support.sample_types.comparison import DifferentTypes, differences
from support.sample_types.expressions import ExpressionSamples
from support.sample_types.inferred_types import InferredTypes
from support.sample_types.recording import compiled_types
from support.sample_types.samples import UNKNOWN
from support.sample_types.type_inference import infer, inferred_from

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

@device
def applied(g, x):
    return g(x)

@device
def counted(x: int32, n: int) -> int32:
    return x if n < 1 else counted(x + 1, n - 1)

@device
def fibonacci(k: int):
    if k < 2:
        return k
    return fibonacci(k - 1) + fibonacci(k - 2)

@kernel
def k(u, f, b, d, n, w):
"""
PARAMETERS = (uint8[:], float32[:], bool_[:], float64[:, ::1], WEAK_INT, WEAK_FLOAT)

# the type of the last assignment to ``r``
LAW = [
    ("r = u[0] + 1", "uint8"),
    ("r = u[0] / 2", "float64"),
    ("r = f[0] * n + w", "float32"),
    ("r = n / 2", "float"),
    ("r = n + (u[0] > 1)", "int"),
    ("r = d[0, n]", "float64"),
    ("for row in d:\n    r = row[0]", "float64"),
    ("if n:\n    r = u[0]\nelse:\n    r = 1\nr = r", "uint8"),
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
    ("r = one_of(u[0], 1, n > 2)", "uint8"),
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
    ("def g(x):\n    return x if n else 0\nr = g(u[0])", "uint8"),
    ("def g(x, k=u[0]):\n    k = x if n else k\n    return k\nr = g(n)", "uint8"),
    ("h = 1\nif n:\n    h = f[0]\ndef g():\n    return h\nr = g()", "float32"),
    ("r = (lambda x: x + u[0])(n)", "uint8"),
    ("g = lambda x: x * w\nr = applied(g, f[0])", "float32"),
    ("r = applied(least, u[0])", "uint8"),
    ("match n:\n    case 1:\n        r = u[0]\n    case _:\n        r = 2\nr = r", "uint8"),
    ("match (u[0], w):\n    case (1, x) | (x, 2.0):\n        r = x", "float64"),
    ("match (n, u[0]):\n    case (x, y) if y:\n        r = y", "uint8"),
    ("match (n, u[0], w):\n    case (x, *rest):\n        r = rest[0]", "uint8"),
    ("match n:\n    case (a, b):\n        q = w\n    case _:\n        q = n\nr = q", "int"),
    ("r = counted(u[0], 3)", "int32"),
    ("r = fibonacci(u[0])", "int"),
    ("r = (*(u[0], n), w)[0]", "uint8"),
    ("r = n.bit_count()", "int"),
    ("r = u.dtype.type(n)", "uint8"),
    ("r = d.reshape(-1)[0]", "float64"),
    ("r = f.sum()", "float32"),
    ("r = cuda.match_all_sync(0xffffffff, n)[0]", "int"),
    ("r = sum([x * y for x in (1, 2) for y in (u[0], 3)])", "uint8"),
    ("for x in (u[0], 1.5):\n    r = x", "float"),
    ("for i, (x, y) in enumerate(zip((n, 2), (u[0], 1))):\n    r = y + 0", "int"),
    ("r = 0\nfor x in (u[0], u[0]):\n    r += x", "uint8"),
]


def source_from(body: str, folder: Path) -> Source:
    text = HEADER + textwrap.indent(body, "    ") + "\n"
    return source_of(module_from(text, folder).k.python)


def type_of_r(types: InferredTypes, tree: ast.FunctionDef) -> str:
    stores = [n for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id == "r"]
    stores = [n for n in stores if isinstance(n.ctx, ast.Store)]
    last = sorted(stores, key=lambda n: (n.lineno, n.col_offset))[-1]
    return str(types.local_types[last])


@pytest.mark.parametrize(("body", "expected"), LAW)
def test_a_variable_has_the_type_of_the_law(body: str, expected: str, tmp_path: Path) -> None:
    types, _ = infer(source_from(body, tmp_path), PARAMETERS)
    assert type_of_r(types, types.tree) == expected.strip("_")


@pytest.mark.parametrize("body", [body for body, _ in LAW])
def test_the_compiler_infers_the_types_of_samples(body: str, tmp_path: Path) -> None:
    require_same_types(source_from(body, tmp_path), PARAMETERS)


def require_same_types(source: Source, types: tuple[ParameterType, ...]) -> None:
    """Also of nodes that samples alone may evaluate: the compiler finds none unreachable."""
    compiled = compiled_types(source, types)
    assert [*differences(compiled, inferred_from(source, types), all_reached=True)] == []


CONSTRUCT_TYPES: tuple[ParameterType, ...] = (
    float32[::1],
    int32[::1],
    float64[:, ::1],
    WEAK_INT,
    WEAK_FLOAT,
    float64[::1],
)


@pytest.mark.parametrize("row", CONSTRUCTS, ids=lambda row: row.title)
def test_all_expressions_have_samples(
    row: Construct, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = module_from(IMPORTS + text_of(row), tmp_path).k
    unknown: list[str] = []
    evaluate = ExpressionSamples.evaluate

    def watched(self: ExpressionSamples, node: ast.expr | None) -> object:
        sample = evaluate(self, node)
        if sample is UNKNOWN and node is not None:
            unknown.append(ast.unparse(node))
        return sample

    monkeypatch.setattr(ExpressionSamples, "evaluate", watched)
    source = source_of(kernel.python)
    infer(source, CONSTRUCT_TYPES)
    assert unknown == []
    require_same_types(source, CONSTRUCT_TYPES)


def test_several_types_of_one_node_are_mixed(tmp_path: Path) -> None:
    source = source_from("r = sum([x if n else 0 for x in (1, 2.5)])", tmp_path)
    types, _ = infer(source, PARAMETERS)
    (conditional,) = (n for n in ast.walk(source.tree) if isinstance(n, ast.IfExp))
    assert conditional in types.mixed
    assert conditional not in types.join_types


# ---- a wrong join of the compiler ----------------------------------------------------------------

# each assigns 200, of uint8 and a Python int, to r; ``~r`` shows which of the two it is
JOINS = {
    "if": "if n:\n    r = u[0]\nelse:\n    r = 1",
    "loop": "r = 0\nfor i in range(n):\n    r = u[i]",
    "recurrence": "r = n\nwhile r < 200:\n    r = u[0]",
    "early assignment": "r = 1\nif n:\n    r = u[0]",
    "conditional expression": "r = u[0] if n else 1",
    "and": "r = n and u[0]",
    "or": "r = (n - n) or u[0]",
    "walrus in or": "r = n - n or (q := u[0])",
    "tuple item": "r = (1, u[0])[n]",
    "tuple variable": "p = (1, 2)\nif n:\n    p = (u[0], 3)\nr = p[0]",
    "unpacking": "a, *b = 1, 2, 3\nif n:\n    a, *b = u[0], 4, 5\nr = a",
    "result of a device function": "r = one_of(u[0], 1, n)",
    "parameter of a device function": "r = replaced(1, u[0])",
    "result of a nested function": (
        "def g(x):\n    if n:\n        return u[0]\n    return x\nr = g(1)"
    ),
    "variable of a nested function": (
        "def g(x):\n    y = x\n    if n:\n        y = u[0]\n    return y\nr = g(1)"
    ),
    "lambda": "g = lambda x: u[0] if n else x\nr = g(1)",
    "function as argument": "r = applied(lambda x: u[0] if n else x, 1)",
    "captured variable": "h = 1\nif n:\n    h = u[0]\ndef g():\n    return h\nr = g()",
    "match": "match n:\n    case 1:\n        r = u[0]\n    case _:\n        r = 1",
    "capture of a pattern": (
        "r = 1\nmatch (n, u[0]):\n    case (1, r):\n        pass\n    case _:\n        r = 1"
    ),
    "recursion": "r = descended(u[0], n)",
    "unrolled loop": "for x in (1, 2):\n    r = u[0] if n else x",
    "comprehension": "r = max([u[0] if n else x for x in (1, 2)])",
}
DEVICES = """
import numpy as np
from pycu2c import device, kernel
from pycu2c.types import *

@device
def one_of(x, y, chosen):
    if chosen:
        return x
    return y

@device
def replaced(x, y):
    if y:
        x = y
    return x

@device
def applied(g, x):
    return g(x)

@device
def descended(x: uint8, n: int):
    r = 1
    if n:
        r = x
    if n < 2:
        return r
    return descended(x, n - 1)

@kernel(cache=False)
def k(u, n, out):
"""
JOINING_MODULES = (
    "expressions.arithmetic",
    "expressions.composite_values",
    "expressions.conditional",
    "function_builder",
    "function_context",
    "statements.branches",
)


def not_of_r(body: str, backend: str, folder: Path) -> int:
    text = DEVICES + textwrap.indent(body, "    ") + "\n    out[0] = ~r\n"
    k = module_from(text.replace("cache=False", f"cache=False, backend={backend!r}"), folder).k
    out = np.zeros(1, np.int64)
    k[1, 1](np.full(1, 200, np.uint8), 1, out)
    return int(out[0])


@pytest.mark.parametrize("construct", JOINS)
def test_a_wrong_join_of_the_compiler_is_seen(
    construct: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = JOINS[construct]
    assert not_of_r(body, "cpu", tmp_path) == 55

    def wrong(a: Scalar, b: Scalar) -> Scalar:
        return WEAK_INT if {a, b} == {WEAK_INT, uint8} else promote(a, b)

    for name in JOINING_MODULES:
        monkeypatch.setattr(f"pycu2c.frontend.{name}.promote", wrong)
    assert not_of_r(body, "cpu", tmp_path) == ~200
    with pytest.raises(DifferentTypes, match="int, by samples uint8"):
        not_of_r(body, "python", tmp_path)


def test_overflow_of_a_sample_is_no_warning(tmp_path: Path) -> None:
    body = "r = u[0]\nfor i in range(n):\n    r = (r + 200) * 3\n"
    source = source_from(body, tmp_path)
    with np.errstate(all="raise"):
        types, _ = infer(source, PARAMETERS)
    assert type_of_r(types, types.tree) == "uint8"


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


@device
def signs(x, scale):
    if x < 2:
        return -1, 0
    return scale, 1


def test_items_of_returned_and_selected_tuples_have_their_common_types(target: str) -> None:
    """A warp operation ends only if all lanes give it a value of one type."""

    @kernel(backend=target)
    def k(x, scale, out):
        i = cuda.grid(1)
        pair = (x[i], 3)
        lowest = min(pair, (scale, 3))[0]
        returned = cuda.shfl_sync(0xFFFFFFFF, signs(i, scale)[0], 3)
        selected = cuda.shfl_sync(0xFFFFFFFF, ((1, 0) if i > 1 else (scale, 2))[0], 0)
        smaller = cuda.shfl_sync(0xFFFFFFFF, min(pair, (scale, 3))[0], 1)
        out[i] = returned + 10 * selected + 100 * smaller + 1000 * lowest

    out = np.zeros(4)
    k[1, 4](np.array([0, 1, 2, 3]), np.float32(0.5), out)
    assert out.tolist() == [55.5, 555.5, 555.5, 555.5]


@pytest.mark.filterwarnings("error")
def test_the_mean_of_no_elements_is_no_warning(target: str) -> None:
    @kernel(backend=target)
    def k(x, out):
        out[0] = np.nanmean(x[:0])
        out[1] = np.mean(x[:0])

    out = np.zeros(2)
    k[1, 1](np.ones(3), out)
    assert np.isnan(out).all()
