"""Kernels in which NVRTC 12.6 to 13.3 may drop a minus sign are compiled without optimization."""

import warnings

import numpy as np
import pytest

from pycu2c.base.diagnostics import CompileWarning
from pycu2c.toolchain.nvrtc import lost_negation, nvrtc, program
from pycu2c.toolchain.toolchain_errors import ToolchainError

try:
    nvrtc.version()
except ToolchainError as error:
    pytest.skip(str(error), allow_module_level=True)

KERNEL = """\
extern "C" __global__ void least(const TYPE *x, const TYPE *y, TYPE *out)
{
    const int i = threadIdx.x;
    out[i] = VALUE;
}
"""


@pytest.fixture(autouse=True)
def no_faulty_version(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the installed version optimize every kernel, also if it has the fault."""
    monkeypatch.setattr(program, "version", lambda: (13, 4))


def texts(value: str, type_name: str = "int") -> str:
    return KERNEL.replace("VALUE", value).replace("TYPE", type_name)


def may_lose(text: str, arch: str) -> bool:
    """Judge the code of the installed version, which has the same instructions."""
    module = program.compile_module(text, "k.cu", (f"--gpu-architecture={arch}",), ())
    assert not isinstance(module, str), module
    return lost_negation.may_lose_negation(module.cubin, module.ptx)


@pytest.mark.parametrize("arch", ["sm_90", "sm_100"])
@pytest.mark.parametrize(
    ("value", "type_name", "expected"),
    [
        ("min(min(x[i], -y[i]), out[i])", "int", True),
        ("max(out[i], max(x[i], -y[i]))", "int", True),
        ("min(min(x[i], y[i] * -1), 7)", "int", True),
        ("min(min(x[i], y[i]), out[i])", "int", False),
        ("min(x[i], -y[i])", "int", False),
        ("max(min(x[i], -y[i]), out[i])", "int", False),
        ("min(min(x[i], -y[i]), out[i])", "unsigned", False),
        ("min(min(x[i], -y[i]), out[i])", "long long", False),
        ("fminf(fminf(x[i], -y[i]), out[i])", "float", False),
    ],
)
def test_nested_extremes_of_a_negation_are_found(
    value: str, type_name: str, expected: bool, arch: str
) -> None:
    assert may_lose(texts(value, type_name), arch) is expected


@pytest.mark.parametrize("arch", ["sm_89", "sm_120"])
def test_other_gpus_have_no_such_instruction(arch: str) -> None:
    assert not may_lose(texts("min(min(x[i], -y[i]), out[i])"), arch)


def test_the_instruction_is_one_word_of_a_cubin() -> None:
    # VIMNMX3 R11, R2, R5, R6, PT of a faulty cubin, and its unsigned form
    signed = np.array([0x00000005020B720F, 0x010FCA0003800106], np.uint64).tobytes()
    unsigned = np.array([0x00000005020B720F, 0x010FCA0003800006], np.uint64).tobytes()
    for negation in b"neg.s32 \t%r5, %r4;", b"sub.s32 \t%r5, 0, %r4;", b"mul.lo.s32 %r5, %r4, -1;":
        assert lost_negation.may_lose_negation(bytes(16) + signed + b"rest", negation)
        assert not lost_negation.may_lose_negation(unsigned, negation)
    assert not lost_negation.may_lose_negation(signed, b"sub.s32 \t%r5, %r3, %r4;")


def compiled(value: str) -> bytes:
    return nvrtc.compile(texts(value), "least", "sm_90", cache=False).data


def test_an_affected_version_compiles_without_optimization(monkeypatch: pytest.MonkeyPatch) -> None:
    optimized = compiled("min(min(x[i], -y[i]), out[i])")
    monkeypatch.setattr(program, "version", lambda: (13, 0))
    with pytest.warns(CompileWarning, match=r"NVRTC 13\.0 drops minus signs.*least\.cu"):
        unoptimized = compiled("min(min(x[i], -y[i]), out[i])")
    assert lost_negation.may_lose_negation(optimized, b"neg.s32")
    assert not lost_negation.may_lose_negation(unoptimized, b"neg.s32")


@pytest.mark.parametrize(
    ("version", "value"),
    [
        ((13, 0), "min(min(x[i], y[i]), out[i])"),
        ((12, 4), "min(min(x[i], -y[i]), out[i])"),
        ((13, 4), "min(min(x[i], -y[i]), out[i])"),
    ],
)
def test_other_kernels_and_versions_are_optimized(
    version: tuple[int, int], value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = compiled(value)
    monkeypatch.setattr(program, "version", lambda: version)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert compiled(value) == expected
