"""``fuse``: CuPy fuses functions of its arrays, and other calls run the function."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pycu2c.cupy import fuse, jit
from support.launching import run


def both(x, y):  # type: ignore[no-untyped-def]
    return x + y, x // y


@fuse
def larger(x, y):  # type: ignore[no-untyped-def]
    return x if x > y else y


def test_forms_of_the_decorator() -> None:
    @fuse
    def one(x):  # type: ignore[no-untyped-def]
        """Adds one."""
        return x + 1

    @fuse()
    def two(x):  # type: ignore[no-untyped-def]
        return one(x) + 1

    @fuse(kernel_name="more")
    def three(x):  # type: ignore[no-untyped-def]
        x += 3

    assert [f(np.arange(2)).tolist() for f in (one, two)] == [[1, 2], [2, 3]]
    assert (one.__name__, one.__doc__, repr(three)) == ("one", "Adds one.", "<fused more>")
    changed = np.arange(2)
    three(changed)
    assert changed.tolist() == [3, 4]
    assert fuse(both)(7, 2) == (9, 3)


def test_cupy_fuses_functions_of_its_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    class Ndarray:
        pass

    fused: list[Any] = []

    def cupys_fuse(kernel_name: str | None) -> Any:
        def decorated(function: Any) -> Any:
            fused.append((kernel_name, function))
            return lambda *args: args

        return decorated

    cupy = SimpleNamespace(ndarray=Ndarray, fuse=cupys_fuse)
    monkeypatch.setitem(sys.modules, "cupy", cupy)  # type: ignore[arg-type]
    function, x = fuse(kernel_name="named")(both), Ndarray()
    assert function(7, 2) == (9, 3)
    assert fused == []
    assert [function(x, 2), function(2, x)] == [(x, 2), (2, x)]
    assert fused == [("named", both)]
    function.clear_cache()
    function(x, 2)
    assert fused == [("named", both)] * 2


def test_kernels_call_fused_functions(target: str) -> None:
    @jit.rawkernel()
    def k(x, out):  # type: ignore[no-untyped-def]
        out[0] = larger(x[0], x[1])

    assert run(k, (1, 1), [np.float32([1, 2]), np.zeros(1, np.float32)], target)[1] == 2


def test_unsupported_fusions() -> None:
    with pytest.raises(ValueError, match="Invalid kernel name"):
        fuse(kernel_name="1")(both)
    with pytest.raises(TypeError, match="must be a function"):
        fuse(np.sqrt)
