"""Device functions of PTX: on a GPU their instructions, elsewhere their Python bodies."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pycu2c import CompileError, cuda, float32, float64, int16, kernel, uint32, uint64
from support.kernels_from_text import module_from
from support.launching import run


@cuda.ptx_function("lop3.b32 %result, %a, %b, %c, 0x96;")
def xor3(a: uint32, b: uint32, c: uint32) -> uint32:
    return a ^ b ^ c


@cuda.ptx_function(
    """
    .reg .u64 t;  // the C sees "this" as one string, 100%
    mul.wide.u32 t, %x, 2654435761;
    shr.u64 %result, t, 16;
    """
)
def spread(x: uint32) -> uint64:
    return np.uint64(x) * np.uint64(2654435761) >> np.uint64(16)


@cuda.ptx_function("fma.rn.f64 %result, %x, %y, %z;")
def fused(x: float64, y: float64, z: float64) -> float64:
    return x * y + z


@cuda.ptx_function("sub.s16 %result, %x, %y;")
def short_difference(x: int16, y: int16) -> int16:
    return x - y


@cuda.ptx_function("st.global.f32 [%a], %x;", pure=False)
def put(a: float32[::1], x: float32) -> None:
    a[0] = x


@cuda.ptx_function("mov.u32 %result, %laneid;", pure=False)
def lane() -> uint32:
    return np.uint32(cuda.laneid)


@kernel
def k(a, whole, floats, out):
    i = cuda.grid(1)
    if i < len(a):
        a[i] = xor3(a[i], i, 5)
        whole[i] = spread(a[i]) + spread(i) + lane()
        floats[i] = fused(i, 2, 0.5) + short_difference(np.int16(i), 40)
        put(out[i:], i)


N = 70


def test_as_python(target: str) -> None:
    arrays = [np.arange(N, dtype=t) for t in (np.uint32, np.uint64, np.float64, np.float32)]
    a, whole, floats, out = run(k, (3, 32), arrays, target)
    i = np.arange(N, dtype=np.uint32)
    wide = [n.astype(np.uint64) * np.uint64(2654435761) >> np.uint64(16) for n in (i * 0 + 5, i)]
    np.testing.assert_array_equal(a, i * 0 + 5)
    np.testing.assert_array_equal(whole, sum(wide) + i % 32)
    np.testing.assert_array_equal(floats, np.arange(N) * 3 - 39.5)
    np.testing.assert_array_equal(out, np.arange(N))


SIGNATURE = ("uint32[::1]", "uint64[::1]", "float64[::1]", "float32[::1]")


def test_inline_ptx_is_in_the_generated_ptx() -> None:
    text = k.inspect("ptx", SIGNATURE, arch="sm_90")
    for part in (
        "lop3.b32",
        "mul.wide.u32 t,",
        "fma.rn.f64",
        "st.global.f32",
        "mov.u32",
        "%laneid",
    ):
        assert part in text
    assert k.attributes(SIGNATURE, "sm_90").registers
    written = k.inspect("cuda", SIGNATURE)
    assert '"lop3.b32 %0, %1, %2, %3, 0x96;\\n"' in written
    assert '"mov.u32 %0, %%laneid;\\n"' in written
    assert r'the C sees \"this\" as one string, 100%%\n"' in written
    assert written.count("asm volatile(") == 2
    assert written.count(': "memory");') == 2


HEAD = "from pycu2c import cuda, kernel, bool_, float16, float32, int8, int32\n"
USE = "\n@kernel\ndef k(a):\n    a[0] = f(a[0])\n"
WRONG = {
    "nothing": ('@cuda.ptx_function("")\n«def f(x: int32) -> int32: ...»', "its PTX text is empty"),
    "types": ('@cuda.ptx_function("x;")\n«def f(x): ...»', "annotate it"),
    "result": ('@cuda.ptx_function("x;")\n«def f(result: int32) -> int32: ...»', "call no param"),
    "small": (
        '@cuda.ptx_function("x;")\n«def f(x: int8) -> int32: ...»',
        "does not fit a register",
    ),
    "half": (
        '@cuda.ptx_function("x;")\n«def f(x: int32) -> float16: ...»',
        "does not fit a register",
    ),
    "weak": ('@cuda.ptx_function("x;")\n«def f(x: int) -> int32: ...»', "does not fit a register"),
    "instruction": (
        '@cuda.ptx_function("«add.s99 %result, %x, 1;»")\ndef f(x: int32) -> int32: ...',
        "Unknown modifier '.s99'",
    ),
    "register": (
        '@cuda.ptx_function("""\n    add.s32 %result, %x, 1;\n    «add.s32 %result, %y, 1;»\n""")\n'
        "def f(x: int32) -> int32: ...",
        "Unknown symbol '%y'",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong(name: str, tmp_path: Path) -> None:
    text, said = WRONG[name]
    program = HEAD + text.replace("«", "").replace("»", "") + USE
    with pytest.raises(CompileError) as caught:
        module_from(program, tmp_path).k.attributes(("int32[::1]",), "sm_90")
    assert said in str(caught.value)
    span = caught.value.diagnostics[0].labels[0].span
    before = HEAD + text.partition("«")[0]
    assert span.line == before.count("\n") + 1


def test_without_a_body_it_is_for_a_gpu_alone(tmp_path: Path) -> None:
    text = '@cuda.ptx_function("neg.s32 %result, %x;")\ndef f(x: int32) -> int32: ...'
    result = module_from(HEAD + text + USE, tmp_path).k
    with pytest.raises(CompileError, match=r"f has no code for the CPU(.|\n)*a Python body, or"):
        run(result, (1, 1), [np.zeros(1, np.int32)], "cpu")
