"""The groups ``wrap`` and ``lossy``: exact results have no findings, and others have one."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

from pycu2c import CheckError, cuda, float32, int8, int32, kernel, uint8, uint32
from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.checks.instrumentation import LaunchFacts, instrument
from pycu2c.declarations.signatures import parse_signature
from support.targets import ON_GPU

BACKENDS = ["cpu", *ON_GPU]


def add(a, b, out):
    i = cuda.grid(1)
    out[i] = a[i] + b[i]


def subtract(a, b, out):
    i = cuda.grid(1)
    out[i] = a[i] - b[i]


def multiply(a, b, out):
    i = cuda.grid(1)
    out[i] = a[i] * b[i]


def negate(a, b, out):
    i = cuda.grid(1)
    out[i] = -a[i]


def findings(function: Any, backend: str, group: str, *arguments: Any, count: int = 1) -> Any:
    """Return the findings of a launch with one group of checks."""
    try:
        kernel(function, backend=backend, check=group)[1, count](*arguments)
    except CheckError as error:
        return error.findings
    return ()


def interesting(dtype: str) -> list[int]:
    limits = np.iinfo(dtype)
    root = 1 << limits.bits // 2
    numbers = {limits.min, limits.min + 1, limits.max, limits.max - 1, limits.max // 2}
    numbers |= {0, 1, 2, 3, root - 1, root, root + 1, *(-n for n in (1, 2, 3, root, root + 1))}
    return sorted(n for n in numbers if limits.min <= n <= limits.max)


@pytest.mark.parametrize("function", [add, subtract, multiply, negate], ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "uint32", "int64", "uint64"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_exactly_the_results_that_wrap_are_found(dtype: str, function: Any, backend: str) -> None:
    pairs = [(a, b) for a in interesting(dtype) for b in interesting(dtype)]
    if function is negate:
        pairs = [(a, 0) for a in interesting(dtype)]
    exact = {add: operator.add, subtract: operator.sub, multiply: operator.mul}
    compute = exact.get(function, lambda a, _: -a)
    limits = np.iinfo(dtype)
    wrapping = [not limits.min <= compute(a, b) <= limits.max for a, b in pairs]
    a, b = (np.array(column, dtype) for column in zip(*pairs))
    out, expected = np.zeros(len(a), dtype), np.zeros(len(a), dtype)
    found = findings(function, backend, "wrap", a, b, out, count=len(a))
    assert findings(function, backend, "memory", a, b, expected, count=len(a)) == ()
    np.testing.assert_array_equal(out, expected)  # the result is the wrapped one
    (finding,) = found
    assert finding.count == sum(wrapping)
    assert finding.thread.x in np.flatnonzero(wrapping)
    right = ~np.array(wrapping)
    arrays = a[right], b[right], out[right]
    assert findings(function, backend, "wrap", *arrays, count=int(right.sum())) == ()


def narrow(a, out):
    i = cuda.grid(1)
    out[i] = a[i]


CONVERSIONS = [
    ("wrap", "int64", "int32", [2**31 - 1, -(2**31)], [2**31, -(2**31) - 1, 2**40]),
    ("wrap", "int64", "uint8", [0, 255], [-1, 256]),
    ("wrap", "int32", "uint64", [0, 2**31 - 1], [-1]),
    ("wrap", "uint64", "int64", [0, 2**63 - 1], [2**63, 2**64 - 1]),
    ("lossy", "int32", "float32", [2**24, -(2**24), 2**31 - 128, -(2**31)], [2**24 + 1]),
    ("lossy", "int64", "float64", [2**53, -(2**63), 2**60], [2**53 + 1, 2**63 - 1]),
    ("lossy", "uint64", "float64", [2**63], [2**64 - 1, 2**63 + 1]),
    ("lossy", "int32", "float16", [2048, 65504, 4096], [2049, 65536, -65536]),
    ("lossy", "float64", "float32", [0.1, 2.0**24, np.nan, np.inf, 1e-300], [2.0**24 + 1, 1e300]),
    ("lossy", "float32", "float16", [0.1, 2048.0, -np.inf], [2049.0, 70000.0]),
]


@pytest.mark.parametrize(("group", "source", "target", "kept", "changed"), CONVERSIONS)
@pytest.mark.parametrize("backend", BACKENDS)
def test_conversions(
    group: str, source: str, target: str, kept: list[Any], changed: list[Any], backend: str
) -> None:
    a = np.array(kept, source)
    assert findings(narrow, backend, group, a, np.zeros(len(a), target), count=len(a)) == ()
    for number in changed:
        arrays = np.array([number], source), np.zeros(1, target)
        (finding,) = findings(narrow, backend, group, *arrays)
        assert (finding.kind, finding.line) == ("arithmetic", narrow.__code__.co_firstlineno + 2)
        shown = number if "int" in source else "an integral number"
        assert finding.message == f"`{target}` does not represent {shown}"
        other = "lossy" if group == "wrap" else "wrap"
        assert findings(narrow, backend, other, *arrays) == ()


def proved(out):
    i = cuda.grid(1)
    small = i % 100
    out[i] = int32(small) * int32(1000) + int32(7)
    for k in range(10):
        out[i] += float32(k) * float32(small)


def test_what_the_ranges_prove_is_not_instrumented() -> None:
    compiler = kernel(proved, backend="cpu").launcher.compiler
    module = compiler.build(parse_signature("float32[::1]")).module
    facts = LaunchFacts(LaunchAssumptions(True, block=(8, 1, 1), grid=(1, 1, 1)))
    assert instrument(module, frozenset(("wrap", "lossy")), facts).sites == ()


def hashed(a, out):
    i = cuda.grid(1)
    state = uint32(a[i])
    for _ in range(4):
        state = state * uint32(1664525) + uint32(1013904223)
    out[i] = uint8(int8(3)) + state


def test_the_groups_are_opt_in() -> None:
    arrays = np.arange(4), np.zeros(4, np.uint32)
    kernel(hashed, backend="cpu", check=True)[1, 4](*arrays)
    assert len(findings(hashed, "cpu", "wrap", *arrays, count=4)) >= 1


def product(a, out):
    i = cuda.grid(1)
    out[i] = a[i] * a[i]


def test_report() -> None:
    a = np.array([50_000], np.int32)
    (finding,) = findings(product, "cpu", "wrap", a, np.zeros(1, np.int32))
    assert finding.message == "`*` wraps: 50000 * 50000 does not fit `int32`"
    assert finding.hint == "convert an operand to a wider type, or limit the operands"
