"""Long chains of device functions, each of which calls the next."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pycu2c import CompileError
from pycu2c.declarations.signatures import parse_signature
from pycu2c.frontend import function_builder
from pycu2c.kernels.cache_key import fingerprint
from pycu2c.kernels.captured_names import captured_names
from support.kernels_from_text import module_from
from support.launching import run

OUT = parse_signature("void(int64[::1])")


def chain(length: int, tmp_path: Path, call: str = "return 1 + {}") -> Any:
    """Return a module with a kernel that calls the last function of a chain."""
    lines = ["from pycu2c import cuda, device, kernel", "", "@device", "def f0(x):", "    return x"]
    for i in range(1, length):
        lines += ["@device", f"def f{i}(x):", f"    {call.format(f'f{i - 1}(x)')}"]
    lines += ["@kernel", "def k(out):", "    i = cuda.grid(1)", f"    out[i] = f{length - 1}(i)"]
    return module_from("\n".join(lines) + "\n", tmp_path)


IN_A_BRANCH = "if x >= 0:\n        x = 1 + {}\n    return x"
CHAINS = [pytest.param(300, "return 1 + {}", marks=pytest.mark.slow), (100, IN_A_BRANCH)]


@pytest.mark.parametrize("target", ["cpu", "python"])
@pytest.mark.parametrize(("length", "call"), CHAINS)
def test_a_long_chain_runs(length: int, call: str, target: str, tmp_path: Path) -> None:
    module = chain(length, tmp_path, call)
    (out,) = run(module.k, (1, 4), [np.zeros(4, np.int64)], target)
    np.testing.assert_array_equal(out, np.arange(4) + length - 1)


@pytest.mark.parametrize(("length", "call"), CHAINS)
def test_a_long_chain_is_translated_to_cuda(length: int, call: str, tmp_path: Path) -> None:
    limit = sys.getrecursionlimit()
    text = chain(length, tmp_path, call).k.inspect("cuda", OUT)
    assert all(f" f{i}(" in text for i in range(length))
    assert sys.getrecursionlimit() == limit


@pytest.mark.parametrize("constant", [255, 256])
def test_a_constant_passes_through_a_long_chain(constant: int, tmp_path: Path) -> None:
    """Its type is checked where it is used, after a search that visits each function once."""
    lines = ["from pycu2c import *", "@device", "def f0(x):", "    return uint8(1) + x"]
    for i in range(1, 60):
        calls = f"f{i - 1}(x) + f{i - 1}(x)"
        lines += ["@device", f"def f{i}(x):", f"    return {calls}"]
    lines += ["@kernel", "def k(out):", f"    out[cuda.grid(1)] = f59({constant})"]
    k = module_from("\n".join(lines) + "\n", tmp_path).k
    if constant > 255:
        with pytest.raises(CompileError, match="256 does not fit `uint8`"):
            k.inspect("cuda", OUT)
    else:
        assert "f59(255)" in k.inspect("cuda", OUT)


def test_the_cache_key_and_the_captured_names_of_a_long_chain(tmp_path: Path) -> None:
    module = chain(600, tmp_path)
    assert fingerprint(module.k.source, OUT).count(" f0 ") == 1
    names = {binding.name for binding in captured_names(module.k.source).bindings}
    assert names >= {f"f{i}" for i in range(600)}


def test_a_chain_that_is_too_long_is_rejected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(function_builder, "MAX_NESTED_CALLS", 5)
    module = chain(100, tmp_path)
    limit = sys.getrecursionlimit()
    with pytest.raises(CompileError, match="device functions that call each other in a chain"):
        module.k.inspect("cuda", OUT)
    assert sys.getrecursionlimit() == limit
