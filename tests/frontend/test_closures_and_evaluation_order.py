"""Closures read variables when called; operands are evaluated once, from left to right."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from pycu2c import CompileError
from support.construct_kernels import IMPORTS, N, arguments, run_in_python, text_of
from support.kernels_from_text import module_from
from support.language_constructs import Construct, rows_of
from support.launching import run

CLOSURES = rows_of(
    "Closures",
    """
    # a lambda reads what is assigned after it
    y = 1
    f = lambda v: v + y
    y = 10
    out[i] = f(i)

    # a lambda reads a name that has its first value after it
    f = lambda: k * 2
    for k in range(i + 1):
        pass
    out[i] = f()

    # a lambda reads a tuple that has its first value after it
    f = lambda: t[0] + t[1]
    t = (i, 3)
    out[i] = f()

    # two names of one lambda
    y = 1
    f = lambda v: v + y
    g = f
    y = 10
    out[i] = g(i)

    # lambdas in a tuple
    y = 1
    fs = (lambda v: v + y, lambda v: v * y)
    y = 10
    out[i] = fs[0](i) + fs[1](i)

    # a lambda as an argument, before and after
    y = 1
    g = lambda v: v + y
    r = applied(g, i)
    y = 5
    out[i] = r * 100 + applied(g, i)

    # a lambda in a walrus
    out[i] = (f := lambda v: v + i)(2) + f(3)

    # a default is evaluated where the function is made
    y = 1
    f = lambda v, w=y: v + w
    y = 10
    out[i] = f(i)

    # functions that a comprehension makes, with defaults
    fs = [lambda v, k=k: v * k for k in (1, 2, 3)]
    out[i] = fs[0](i) + fs[1](i) * 10 + fs[2](1)

    # functions that another function returns, with a parameter named as the target
    def times(k):
        return lambda v: v * k
    fs = [times(k) for k in (1, 2, 3)]
    out[i] = fs[0](i) + fs[1](i) * 10 + fs[2](i) * 100
    # a function that a function returns
    def make(w):
        return lambda v: v * w + i
    f = make(3)
    g = make(5)
    out[i] = f(1) * 100 + g(2)
    """,
)

NONE = rows_of(
    "None",
    """
    # a default of None that is replaced
    def f(v, w=None):
        if v > 3:
            return 7
        if w is None:
            w = v
        for k in range(3):
            w += k
        return w
    out[i] = f(i) + f(i, 2)

    # a variable that is None first, then a number
    y = None
    if y is None:
        y = i
    out[i] = y

    # a variable that is None first, then a tuple
    y = None
    y = (i, 2) if y is None else y
    out[i] = sum(y)

    # a string, then a number
    y = "fast"
    if y == "fast":
        y = 2
    out[i] = y
    """,
)

BUMP = """def bump():
    out[i] += 1
    return out[i]
"""

ORDER = rows_of(
    "Order",
    """
    # items of a comprehension see the walrus of their own turn
    out[i] = sum([(z := k * i) + z for k in (1, 2)]) + z * 10

    # what a comprehension runs over is evaluated once
    out[i] = sum([p + p for p in (bump(), bump())])

    # what a comprehension runs over is evaluated before its items
    out[i] = 1
    out[i] = sum([bump() + p * 10 for p in (1, out[i])])

    # the items of a repeated tuple are evaluated once
    out[i] = sum((bump(),) * 3)

    # the items that an index leaves out are evaluated
    t = (bump(), bump())[0]
    out[i] = t * 10 + out[i]

    # the items that a slice leaves out are evaluated
    t = (bump(), bump(), bump())[1:2]
    out[i] = t[0] * 10 + out[i]

    # reversed items are evaluated forwards
    t = tuple(reversed((bump(), bump() * 10)))
    out[i] = t[0] * 100 + t[1]

    # an element is read before statements that write it
    out[i] = 3
    r = out[i] * 100 + sum([p + p for p in (bump(), bump())])
    out[i] = r + out[i]

    # an element is read before a call that writes it
    out[i] = 3
    r = out[i] * 100 + bump()
    s = (out[i] + 1) * bump() - out[i] * bump()
    out[i] = r * 1000 + s

    # an element is read before a call that writes it, in an operand that may be skipped
    out[i] = 3
    p = (i > 3) or (out[i] * 100 + bump() == 304)
    out[i] = out[i] * 10 + p

    # an item by a computed index, where two are equal
    out[i] = (1, i + 5, 1)[i % 3]

    # any() of a generator stops at the first
    p = any(bump() > i for k in range(4))
    out[i] = out[i] * 10 + p

    # all() of a list has evaluated the list
    p = all([bump() > i for k in range(4)])
    out[i] = out[i] * 10 + p

    # a walrus in a generator that stops
    r = any((w := v) > i for v in (1, 3, 5))
    out[i] = w * 10 + r

    # a value comes before the walrus in its target
    z = 0
    out[(z := i)] = z + 1

    # what `in` looks into is evaluated, also behind the one that is found
    r = bump() in (bump(), 1, bump())
    out[i] = out[i] * 10 + r

    # what is compared with None is evaluated
    r = bump() is None
    out[i] = out[i] * 10 + r

    # the items that len() counts are evaluated
    r = len((bump(), bump()))
    out[i] = r * 10 + out[i]

    # the items of a tuple that is a condition are evaluated
    r = 1 if (bump(), 2) else 0
    out[i] = r * 10 + out[i]

    # the start of a sum comes after its items
    out[i] = sum((bump(), bump()), bump() * 100)

    # keywords of functions that are no user's are evaluated as they are written
    out[i] = math.atan2(bump() + 2, 1) + round(ndigits=0 * int(bump()), number=bump() + 0.25) * 10
    out[i] += complex(imag=bump(), real=bump() * 10).real

    # keywords of intrinsics
    z = complex(imag=bump(), real=bump() * 10)
    out[i] = z.real * 100 + z.imag

    # the bounds and indices of a subscript, from left to right
    k = 1
    out[i] = m[k:, (k := 2)][i % 3] + m[(k := 1), k] + k
    k = 0
    out[i] += a[(k := k + 1) : (k := k + 4)][k - 4] + a[: (k := 6) : (k := 2)][k]

    # what is indexed comes before the index
    k = 1
    out[i] = a[k:][(k := 2)] + k + m[k][(k := 1)] * 10

    # a tuple that zip cuts has been evaluated
    s = 0
    for p, q in zip((bump(), bump(), bump()), (1, 2)):
        s += p * q
    t = tuple(zip((bump(), bump()), (1,)))
    out[i] = s * 1000 + t[0][0] * 10 + out[i]

    # a tuple that zip cuts, beside an array
    s = 0
    for p, q in zip((bump(), bump(), bump()), a[:2]):
        s += p * q
    out[i] = s * 10 + out[i]

    # what acts inside of a value that is not used
    max(bump(), 0)
    max(bump() if i % 2 else out[i], 0)
    abs(bump() and bump())
    abs(bump() * 0 or i % 3 or bump())

    # keywords are evaluated as they are written
    out[i] = scaled(plus=bump(), v=bump() * 10, factor=bump() * 100)
    """,
)


def _with_bump(row: Construct) -> Construct:
    body = BUMP + row.body if "bump" in row.body else row.body
    return Construct(row.section, row.title, body)


@pytest.mark.filterwarnings("ignore::pycu2c.CompileWarning")
@pytest.mark.parametrize(
    "row", [_with_bump(row) for row in CLOSURES + NONE + ORDER], ids=lambda row: row.title
)
def test_as_python_does(row: Construct, target: str, tmp_path: Path) -> None:
    module = module_from(IMPORTS + text_of(row), tmp_path)
    result = run(module.k, (2, N // 2), arguments(), target)[-1]
    np.testing.assert_array_equal(result, run_in_python(row))


@pytest.mark.parametrize(
    ("value", "pattern"),
    [
        ("out[i] * 100 + bump()", r"first = out\[i\].*;\n.*first.* \+ bump\("),
        ("bump() + out[i] * 100", r"first = bump\(.*;\n.*first \+ out\[i\]"),
    ],
)
def test_a_load_and_a_call_that_writes_are_separate_statements(
    value: str, pattern: str, tmp_path: Path
) -> None:
    row = _with_bump(Construct("", "bump", f"out[i] = {value}"))
    types = "float32[::1], int32[::1], float64[:, ::1], int, float, float64[::1]"
    text = module_from(IMPORTS + text_of(row), tmp_path).k.inspect("cuda", types)
    assert re.search(pattern, text)


def test_functions_of_a_comprehension_would_all_read_its_last_item(tmp_path: Path) -> None:
    row = Construct("", "", "fs = [lambda v: v * k for k in (1, 2)]\nout[i] = fs[0](i)")
    module = module_from(IMPORTS + text_of(row), tmp_path)
    with pytest.raises(CompileError, match="reads `k` after the comprehension has ended"):
        run(module.k, (2, N // 2), arguments(), "cpu")


@pytest.mark.parametrize(
    "body",
    [
        "y = None\nif i > 2:\n    y = i\nout[i] = 0 if y is None else y",
        "y = None\nfor k in range(3):\n    if y is None:\n        y = k\n    out[i] += y",
        "for k in range(3):\n    y = None\n    if k == i:\n        break\n    y = k\nout[i] = y",
    ],
    ids=["in a branch", "in a loop", "before a break"],
)
def test_none_is_replaced_only_if_every_path_assigns(body: str, tmp_path: Path) -> None:
    module = module_from(IMPORTS + text_of(Construct("", "", body)), tmp_path)
    with pytest.raises(CompileError, match="and here `None`"):
        run(module.k, (2, N // 2), arguments(), "cpu")


def test_a_lambda_has_the_name_that_it_is_given(tmp_path: Path) -> None:
    body = "nearest = lambda v: min(v, n)\n    a[nearest(cuda.grid(1))] = 1"
    text = f"from pycu2c import cuda, kernel\n\n@kernel\ndef k(a, n):\n    {body}\n"
    k = module_from(text, tmp_path).k
    assert "__device__ int nearest(" in k.inspect("cuda", "float32[::1], int")
