"""Every pure intrinsic for every dtype on a GPU, within CUDA's error bounds of its reference."""

from __future__ import annotations

import ctypes
import functools
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from pycu2c.base.dtypes import DType
from pycu2c.cuda_driver import driver, kernel_api
from pycu2c.declarations.options import Options
from pycu2c.ops.intrinsics.floats import special
from pycu2c.ops.intrinsics.registry import Intrinsic
from pycu2c.toolchain.nvrtc import nvrtc
from support.intrinsic_cases import (
    CASES,
    IDS,
    NAMES,
    arguments,
    defined,
    headers,
    program,
    result_type,
    same,
    types_of,
)

ON_CUDA = [i for i, (row, _) in enumerate(CASES) if row.cuda and driver.available()]
AT_ONCE = 48  # in one program
# fast functions are exact near 0 alone
NEAR_ZERO = 3.0


def kernel_of(number: int) -> str:
    """A kernel that calls the function of a case for each of its arguments."""
    (row, dtype), name = CASES[number], NAMES[number]
    types = types_of(row, dtype)
    parameters = [f"const {t.cuda} *a{n}" for n, t in enumerate(types)]
    parameters += [f"{result_type(row, dtype).cuda} *out", "int count"]
    given = ", ".join(f"a{n}[i]" for n in range(len(types)))
    return f"""
extern "C" __global__ void run_{name}({", ".join(parameters)}) {{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = {name}({given});
}}"""


def compiled(cases: range) -> bytes:
    own = [i for i in cases if i in ON_CUDA]
    text = headers() + program("cuda", range(own[0], own[-1] + 1))
    text += "".join(map(kernel_of, own))
    options = Options(fmad=False)
    return nvrtc.compile(text, f"run_{NAMES[own[0]]}", driver.arch(), options=options).data


@functools.cache
def programs() -> list[bytes]:
    last = max(ON_CUDA) + 1
    parts = [range(at, min(at + AT_ONCE, last)) for at in range(0, last, AT_ONCE)]
    with ThreadPoolExecutor(16) as pool:
        return list(pool.map(compiled, parts))


def columns(row: Intrinsic, dtype: DType) -> list[Any]:
    given = zip(*arguments(row, dtype))
    return [np.array(values, t.numpy) for values, t in zip(given, types_of(row, dtype))]


def computed(number: int, given: list[Any]) -> Any:
    """What the GPU makes of the arguments."""
    row, dtype = CASES[number]
    count = len(given[0])
    out = np.zeros(count, result_type(row, dtype).numpy)
    kernel = kernel_api.load_kernel(programs()[number // AT_ONCE], f"run_{NAMES[number]}")
    arrays = [*given, out]
    places = [driver.allocate(a.nbytes) for a in arrays]
    for place, array in zip(places, arrays):
        driver.copy_in(place, array.ctypes.data, array.nbytes)
    values = (*places, count)
    kinds = (*(ctypes.c_void_p for _ in places), ctypes.c_int)
    grid = (-(-count // 256), 1, 1)
    call = (kernel.handle, *grid, 256, 1, 1, 0, 0, (values, kinds), 0)
    driver.check(driver.api().cuLaunchKernel(*call), "launch")
    driver.copy_out(out.ctypes.data, places[-1], out.nbytes)
    for place in places:
        driver.free(place)
    return out


def near_enough(expected: Any, found: Any, row: Intrinsic, dtype: DType) -> bool:
    if same(expected, found, row, dtype):
        return True
    is_fast = row.name.startswith("cuda.fast_")
    return is_fast and bool(np.isclose(expected, found, rtol=1e-4, atol=1e-5))


if ON_CUDA:

    @pytest.mark.parametrize("number", ON_CUDA, ids=[IDS[i] for i in ON_CUDA])
    def test_cuda_computes_the_reference(number: int) -> None:
        row, dtype = CASES[number]
        given = columns(row, dtype)
        if row in special.FAST or row.name.startswith("cuda.fast_"):
            usual = np.all([np.abs(a) < NEAR_ZERO for a in given], axis=0)
            given = [a[usual] for a in given]
        if row.name == "cuda.fast_powf":
            given = [a[given[0] > 0] for a in given]
        found = computed(number, given)
        wrong = []
        for place, numbers in enumerate(zip(*given)):
            expected = row.reference(*numbers)
            if defined(row, numbers) and not near_enough(expected, found[place], row, dtype):
                wrong.append((numbers, expected, found[place]))
        assert not wrong
