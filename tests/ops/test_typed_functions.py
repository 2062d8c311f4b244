"""Functions with fixed types: ``cuda.libdevice``, ``cuda.fp16``, ``cuda.bf16``."""

from __future__ import annotations

import functools
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pycu2c import CompileError, cuda, float64, kernel, uint32
from pycu2c.base.dtypes import DType
from pycu2c.cuda_driver import driver
from pycu2c.ops.intrinsics.kinds import FIXED
from pycu2c.ops.intrinsics.registry import Intrinsic
from pycu2c.ops.names.cuda_namespace import CUDA, members
from support.kernels_from_text import module_from
from support.launching import run

COUNT = 64
AT_ONCE = 60  # functions in a kernel

Kinds = tuple[str, ...]


@functools.cache
def functions_of(namespace: str) -> dict[str, Intrinsic]:
    result = members(getattr(CUDA, namespace))
    return {name: row for name, row in result.items() if isinstance(row, Intrinsic)}


def kinds_of(row: Intrinsic) -> Kinds:
    return tuple(kind for _, kind in row.parameters)


def groups() -> list[tuple[str, Kinds, list[str]]]:
    """Functions that take the same types, so many at once."""
    result = []
    for namespace in ("libdevice", "fp16", "bf16"):
        functions = functions_of(namespace)
        names = sorted(functions, key=lambda name: kinds_of(functions[name]))
        for kinds, alike in groupby(names, key=lambda name: kinds_of(functions[name])):
            listed = list(alike)
            parts = range(0, len(listed), AT_ONCE)
            result += [(namespace, kinds, listed[start : start + AT_ONCE]) for start in parts]
    return result


GROUPS = groups()
IDS = [f"{namespace}-{'-'.join(kinds)}-{names[0]}" for namespace, kinds, names in GROUPS]


def text_of(namespace: str, kinds: Kinds, names: list[str]) -> str:
    """A kernel that calls each function; what it gives goes to the floats or to the ints."""
    arrays = [f"a{n}" for n in range(len(kinds))]
    arguments = ", ".join(f"{a}[i]" for a in arrays)
    lines = ["from pycu2c import cuda, kernel", "", "@kernel"]
    lines += [
        f"def called({', '.join(arrays)}, out):",
        "    i = cuda.grid(1)",
        "    if i < a0.size:",
    ]
    place = 0
    for name in names:
        call = f"cuda.{namespace}.{name}({arguments})"
        parts = len(functions_of(namespace)[name].expands_to)
        targets = [f"out[{place + n}, i]" for n in range(parts)]
        lines.append(f"        {', '.join(targets)} = {call}")
        place += parts
    return "\n".join(lines)


def numbers(kind: str, seed: int) -> Any:
    dtype, rng = FIXED[kind], np.random.default_rng(seed)
    if dtype.is_float:
        signs = np.where(np.arange(COUNT) % 3, 1, -1)
        return (rng.uniform(0.05, 0.95, COUNT) * signs).astype(dtype.numpy)
    small = rng.integers(0, 9, COUNT).astype(dtype.numpy)
    wide = rng.integers(dtype.minimum, dtype.maximum, COUNT, dtype.name, endpoint=True)
    return np.where(np.arange(COUNT) % 2, small, wide)


def near(dtypes: set[DType], target: str) -> float:
    """How far results of functions of these types may be from the reference's."""
    narrowest = min((d.numpy for d in dtypes if d.is_float), key=lambda d: d.itemsize, default=None)
    if narrowest is None:
        return 0.0
    if narrowest.itemsize == 2:
        return 0.004 if narrowest.name == "float16" else 0.03
    fast = 1e-4 if target == "cuda" else 1e-5
    return fast if narrowest.itemsize == 4 else 1e-12


@pytest.mark.parametrize(("namespace", "kinds", "names"), GROUPS, ids=IDS)
def test_functions_compute_the_reference(
    namespace: str, kinds: Kinds, names: list[str], tmp_path: Path
) -> None:
    called = module_from(text_of(namespace, kinds, names), tmp_path).called
    functions = functions_of(namespace)
    arguments = [numbers(kind, seed) for seed, kind in enumerate(kinds)]
    if kinds[0].startswith("int") and len(kinds) == 2 and kinds[1].startswith("float"):
        arguments[0] = np.abs(arguments[0]) % 5  # the order of a Bessel function
    results = [
        t.result_type or FIXED["int32"] for name in names for t in functions[name].expands_to
    ]
    out = np.zeros((len(results), COUNT), np.float64)
    expected = run(called, (1, COUNT), [*arguments, out], "python")[-1]
    for target in ("cpu", "cpu-resumable", *(["cuda"] if driver.available() else [])):
        result = run(called, (1, COUNT), [*arguments, out], target)[-1]
        for place, dtype in enumerate(results):
            limit = near({dtype, *(FIXED[kind] for kind in kinds)}, target)
            np.testing.assert_allclose(result[place], expected[place], rtol=limit, atol=limit)


def test_libdevice_is_numbas() -> None:
    """Every name, with the types that numba says."""
    pytest.importorskip("numba.cuda")
    from numba.cuda import libdevicefuncs

    ours, known = {}, libdevicefuncs.functions.items()
    theirs = {}
    for name, (result, parameters) in known:
        arguments = [str(p.ty) for p in parameters if not p.is_ptr]
        first = [] if str(result) == "none" else [str(result)]
        theirs[name] = arguments, first + [str(p.ty) for p in parameters if p.is_ptr]
    for name, row in functions_of("libdevice").items():
        gives = [t.result_type.name for t in row.expands_to if t.result_type]
        ours[f"__nv_{name}"] = list(kinds_of(row)), gives
    assert ours == theirs


def test_a_tuple_is_unpacked(target: str) -> None:
    @kernel
    def parts(out, x):
        whole = cuda.libdevice.frexp(x)
        out[0], out[1] = whole
        s, c = cuda.sincos(x)
        out[2] = s * s + c * c
        out[3], out[4] = cuda.libdevice.remquo(x, 3)

    (result, _) = run(parts, (1, 1), [np.zeros(5), 10.0], target)
    np.testing.assert_allclose(result, [0.625, 4, 1, 1, 3])


def test_arguments_are_evaluated_once(target: str) -> None:
    @kernel
    def counted(out, log):
        out[0], out[1] = cuda.libdevice.modf(cuda.atomic.add(log, 0, 1.25))

    result = run(counted, (1, 1), [np.zeros(2), np.full(1, 2.5)], target)
    assert result[0].tolist() == [0.5, 2.0]
    assert result[1].tolist() == [3.75]


def test_bits_of_integers_count(target: str) -> None:
    """What is unsigned in CUDA takes and gives the bits, as numba's do."""

    @kernel
    def mixed(out, x):
        out[0] = cuda.libdevice.umulhi(x, 0xCC9E2D51)
        out[1] = cuda.umulhi(x, 0xCC9E2D51)

    result = run(mixed, (1, 1), [np.zeros(2, np.int64), np.uint32(0xFFFFFFFF)], target)[0]
    assert result.tolist() == [0xCC9E2D50 - 2**32, 0xCC9E2D50]


def test_a_float_is_not_cut_to_an_integer_unsaid() -> None:
    @kernel
    def cut(out, x):
        out[0] = cuda.libdevice.popc(x) + cuda.mulhi(x, 1)

    with pytest.raises(CompileError, match="must be an integer"):
        cut.inspect("c", (uint32[::1], float64))
