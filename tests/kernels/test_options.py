"""The options of @kernel: what each one changes, in the text and in what kernels compute."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from pycu2c import CompileError, CompileWarning, cuda, device, float32, kernel
from pycu2c.cli.main import main
from pycu2c.declarations.options import OptionError, Options
from pycu2c.kernels.kernel import Kernel
from pycu2c.toolchain.cc import cc
from pycu2c.toolchain.nvrtc import nvrtc
from support.c_compilers import check_warnings
from support.kernels_from_text import module_from
from support.launching import run


def accepted(text: str, entry: str) -> None:
    """That both compilers take a text without a word."""
    assert nvrtc.compile(text, entry, "sm_90", cache=False).log == ""


def with_options(k: Kernel, **options: object) -> Kernel:
    return kernel(signature=k.signature, **options)(k.python)


# ---- what @kernel is told ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, Options()),
        ({"weak_float": None}, Options()),
        ({"weak_float": "float64"}, Options()),
        ({"weak_float": float}, Options()),
        ({"weak_float": np.float32}, Options(float32.dtype)),
        ({"weak_float": "float32"}, Options(float32.dtype)),
        ({"weak_float": float32, "fmad": False}, Options(float32.dtype, fmad=False)),
        ({"strict": True, "fastmath": True}, Options(strict=True, fastmath=True)),
        ({"wraparound": False}, Options(wraparound=False)),
    ],
)
def test_options_are_read(given, expected):
    @kernel(**given)
    def nothing():
        pass

    assert nothing.options == expected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"fast_math": True}, "no option 'fast_math': did you mean fastmath"),
        ({"wrap_around": False}, "did you mean wraparound"),
        ({"blocks": 3}, "did you mean block"),
        ({"zzz": 1}, "no option 'zzz': it has grid, block"),
        ({"fmad": 1}, "fmad is True or False, not 1"),
        ({"strict": None}, "strict is True or False, not None"),
        ({"weak_float": "float16"}, "weak_float is float32 or float64, not 'float16'"),
        ({"weak_float": 32}, "weak_float is float32 or float64, not 32"),
    ],
)
def test_mistakes_in_options(arguments, message):
    with pytest.raises(OptionError, match=message):
        kernel(**arguments)(lambda: None)


def test_a_signature_may_be_the_first_argument():
    @kernel("void(float32[:], int32)", block=32)
    def fill(out, value):
        out[cuda.grid(1)] = value

    assert str(fill.signature) == "(float32[:], int32)"
    assert fill.block == (32, 1, 1)


def test_a_signature_is_given_once():
    with pytest.raises(OptionError, match="two signatures"):
        kernel("float32[:]", signature="float32[:]")


# ---- weak_float --------------------------------------------------------------------------------


@device
def halves(x):
    return x * 0.5, x / 3


@kernel(weak_float="float32")
def lone(out, doubles, integers, factor):
    i = cuda.grid(1)
    x = 0.1 * i
    half, third = halves(x + factor)
    if i > 2:
        x = 5
    out[i] = math.sqrt(x) + half + third + i / 3
    doubles[i] = integers[i] * 0.1 + x


TYPES = "float32[::1], float64[::1], int32[::1], float"


@pytest.mark.parametrize("target", ["c", "cuda"])
def test_a_lone_float_is_float32(target):
    text = lone.inspect(target, TYPES)
    assert "float x = 0.1f * i;" in text
    assert "sqrtf(x)" in text
    assert "i / 3.0f" in text
    assert "float factor" in text


@pytest.mark.parametrize("target", ["c", "cuda"])
def test_a_float_beside_an_int32_is_float64(target):
    text = lone.inspect(target, TYPES)
    assert "integers[i] * 0.1 + x" in text


def test_text_for_lone_floats_is_accepted():
    accepted(lone.inspect("cuda", TYPES), "lone")
    assert check_warnings(lone.inspect("c", TYPES)) == ""


def test_lone_floats_print_as_single():
    assert "x: single = mul.single(0.1" in lone.inspect("ir", TYPES)


def test_lone_floats_are_computed_in_float32(target):
    out, doubles = np.zeros(4, np.float32), np.zeros(4)
    integers = np.arange(4, dtype=np.int32)
    result = run(lone, (1, 4), [out, doubles, integers, 2.6], target)
    f = np.float32
    x = f(0.1) * integers.astype(f)
    inner = x + f(2.6)
    x[3] = 5
    expected = np.sqrt(x) + inner * f(0.5) + inner / f(3) + integers.astype(f) / f(3)
    np.testing.assert_allclose(result[0], expected, rtol=3e-7)
    np.testing.assert_array_equal(result[1], integers * 0.1 + x.astype(float))


@kernel(weak_float="float32", fmad=False)
def widths(x, doubles, out, half, n):
    i = cuda.grid(1)
    third = 1 / 3
    y = x[i] * 0.7 + i * third - half
    if y < 0.1 * i:
        y = -y
    quotient, rest = divmod(y, half)
    out[i] = y + quotient * rest + min(half, i * 0.3) + float(doubles[i]) + abs(-third) + n / 7
    doubles[i] = doubles[i] * (0.1 + 0.2) + third + (y if i > 5 else 0.3)


def test_lone_floats_round_alike_everywhere(target):
    x = np.linspace(-2, 2, 32).astype(np.float32)
    arguments = [x, np.linspace(0, 1, 32), np.zeros(32), 0.55, 3]
    expected = run(widths, (1, 32), arguments, "python")
    result = run(widths, (1, 32), arguments, target)
    for left, right in zip(result, expected):
        np.testing.assert_array_equal(left, right)
    assert (expected[2] == expected[2].astype(np.float32)).all()


@kernel(weak_float="float32")
def turned(out, z):
    i = cuda.grid(1)
    w = z * complex(0, i) + 1
    out[i] = w.real + w.imag


def test_lone_complex_numbers_are_complex64(target):
    assert "single_complex" in turned.inspect("ir", "float32[::1], complex")
    (result, _) = run(turned, (1, 4), [np.zeros(4, np.float32), 2 + 3j], target)
    w = (2 + 3j) * 1j * np.arange(4) + 1
    np.testing.assert_array_equal(result, w.real + w.imag)


# ---- wraparound --------------------------------------------------------------------------------


@kernel(wraparound=False)
def shifted(a, n):
    a[n] = a[-1] + a[n - 1]


@pytest.mark.parametrize("target", ["c", "cuda"])
def test_dynamic_indices_stay_as_they_are(target):
    text = shifted.inspect(target, "float32[::1], int")
    assert "a[n] = a[a_len - 1] + a[n - 1];" in text
    wrapping = with_options(shifted, wraparound=True).inspect(target, "float32[::1], int")
    assert "a[n] =" not in wrapping


@kernel(wraparound=False)
def reshaped(a, n):
    a.reshape(2, 2)[n, n - 1] = a[1:].reshape(3)[n]


@pytest.mark.parametrize("target", ["c", "cuda"])
def test_indices_of_reshaped_arrays_stay_as_they_are(target):
    text = reshaped.inspect(target, "float32[::1], int")
    assert "n < 0" not in text
    assert "n < 0" in with_options(reshaped, wraparound=True).inspect(target, "float32[::1], int")


def test_no_wraparound(target):
    (result, _) = run(shifted, (1, 1), [np.arange(4, dtype=np.float32), 2], target)
    np.testing.assert_array_equal(result, [0, 1, 4, 3])


# ---- fmad, fastmath ----------------------------------------------------------------------------


@kernel(fmad=False)
def chain(x, y, out):
    i = cuda.grid(1)
    total = x[i]
    for k in range(40):
        total = total * y[i] + x[(i + k) % 64] * y[(i * k) % 64] - total * x[k]
    out[i] = total


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_without_fmad_every_target_rounds_as_python(dtype, target):
    random = np.random.default_rng(7)
    x, y = (random.uniform(-1, 1, 64).astype(dtype) for _ in range(2))
    arguments = [x, y, np.zeros(64, dtype)]
    expected = run(chain, (1, 64), arguments, "python")[2]
    result = run(chain, (1, 64), arguments, target)[2]
    np.testing.assert_array_equal(result, expected)


MULTIPLY_ADD = """
extern "C" __global__ void k(float *a, float b) { a[0] = a[1] * b + a[2]; }
"""


@pytest.mark.parametrize(
    ("options", "instruction"),
    [
        (Options(), b"fma.rn.f32"),
        (Options(fmad=False), b"mul.rn.f32"),
        (Options(fastmath=True), b"fma.rn.ftz.f32"),
        (Options(fastmath=True, fmad=False), b"mul.rn.ftz.f32"),
    ],
)
def test_instructions_of_the_gpu(options, instruction):
    ptx = nvrtc.compile(MULTIPLY_ADD, "k", "sm_90", kind="ptx", options=options, cache=False).data
    assert instruction in ptx


def test_options_have_binaries_of_their_own():
    text = "float f(float a, float b, float c) { return a * b + c; }\n"
    every = [Options(), Options(fmad=False), Options(fastmath=True)]
    assert len({cc.compile(text, "f", options=options).path for options in every}) == len(every)


@kernel(fastmath=True)
def extremes(x, out):
    i = cuda.grid(1)
    out[i] = min(x[i], 2.0) + max(x[i], 1.0) + x[i] / 3 + math.sin(x[i])


def test_fastmath_takes_fmin_on_a_gpu():
    types = "float32[::1], float32[::1]"
    text = extremes.inspect("cuda", types)
    assert "fminf(x[i], 2.0f) + fmaxf(x[i], 1.0f)" in text
    accepted(text, "extremes")
    assert "fmin" not in extremes.inspect("c", types)
    assert "fmin" not in with_options(extremes).inspect("cuda", types)


def test_fastmath_is_near(target):
    x = np.linspace(-3, 3, 64).astype(np.float32)
    result = run(extremes, (1, 64), [x, np.zeros_like(x)], target)[1]
    expected = np.minimum(x, 2) + np.maximum(x, 1) + x / 3 + np.sin(x)
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-5)


@kernel(fastmath=True)
def special(x, out):
    i = cuda.grid(1)
    out[i] = 1 if x[i] != x[i] else 2 if x[i] > 1e300 else 3


def test_fastmath_keeps_nan_and_infinity(target):
    x = np.array([np.nan, np.inf, 1.0])
    result = run(special, (1, 3), [x, np.zeros(3, np.int32)], target)[1]
    np.testing.assert_array_equal(result, [1, 2, 3])


# ---- strict ------------------------------------------------------------------------------------

UNDEFINED = """
from pycu2c import cuda, kernel

@kernel(strict={strict})
def pick(out, n):
    if n > 3:
        x = 1
    out[0] = x
"""


def test_strict_rejects_possibly_undefined_behaviour(tmp_path, target):
    pick = module_from(UNDEFINED.format(strict=True), tmp_path).pick
    fresh = Kernel(pick.python, backend=target, options=pick.options)
    with pytest.raises(CompileError, match=r"error\[maybe-undefined\]") as caught:
        fresh[1, 1](np.zeros(1), 5)
    assert caught.value.line == 8


def test_otherwise_it_is_a_warning(tmp_path, target):
    pick = module_from(UNDEFINED.format(strict=False), tmp_path).pick
    fresh = Kernel(pick.python, backend=target, options=pick.options)
    out = np.ones(1)
    with pytest.warns(CompileWarning, match=r"warning\[maybe-undefined\]") as caught:
        fresh[1, 1](out, 2)
    assert out[0] == 0
    assert caught[0].filename == __file__  # the line that launches
    again = Kernel(pick.python, grid=1, block=1, backend=target, options=pick.options)
    with pytest.warns(CompileWarning) as caught:
        again(out, 2)
    assert caught[0].filename == __file__


WEIGHTED = """
from pycu2c import kernel

@kernel(strict=True)
def scale(out, weights):
    if weights is {condition}:
        weight = out[0] * 2
    if weights is not None:
        out[0] = weight
"""


def test_a_branch_that_never_runs_reads_no_variable(tmp_path, target):
    scale = module_from(WEIGHTED.format(condition="not None"), tmp_path).scale
    fresh = Kernel(scale.python, backend=target, options=scale.options)
    for weights, expected in ((np.ones(1), 6), (None, 3)):
        out = np.full(1, 3.0)
        fresh[1, 1](out, weights)
        assert out[0] == expected


def test_a_branch_that_never_runs_assigns_no_variable(tmp_path, target):
    scale = module_from(WEIGHTED.format(condition="None"), tmp_path).scale
    fresh = Kernel(scale.python, backend=target, options=scale.options)
    fresh[1, 1](np.ones(1), None)
    with pytest.raises(CompileError, match="in a branch that never runs"):
        fresh[1, 1](np.ones(1), np.ones(1))


# ---- the command line --------------------------------------------------------------------------

FOR_EMIT = """
from pycu2c import kernel

@kernel("float32[::1], int", weak_float="float32", wraparound=False, fmad=False)
def scaled(out, n):
    out[n] = out[n] * (n * 0.3) + n
"""


def emitted(folder: Path, target: str) -> str:
    path = folder / "scaled.py"
    path.write_text(FOR_EMIT)
    result = CliRunner().invoke(main, ["emit", str(path), "--target", target])
    assert result.exit_code == 0, result.output
    return result.output


def test_emit_heeds_the_options(tmp_path):
    assert "out[n] = out[n] * (n * 0.3f) + n;" in emitted(tmp_path, "cuda")
    ptx = emitted(tmp_path, "ptx")
    assert "fma" not in ptx
    assert "mul.rn.f32" in ptx


# ---- the environment ---------------------------------------------------------------------------


def beyond(a):
    a[3] = 1


def test_the_backend_of_kernels_that_name_none(monkeypatch):
    monkeypatch.setenv("PYCU2C_BACKEND", "python")
    with pytest.raises(IndexError, match=r"test_options.py.*index 3 is out of bounds"):
        kernel(beyond)[1, 1](np.zeros(3))
    assert kernel(backend="cpu")(beyond).backend == "cpu"
    monkeypatch.setenv("PYCU2C_BACKEND", "gpu")
    with pytest.raises(ValueError, match=r"PYCU2C_BACKEND is 'gpu': .* one of auto, "):
        kernel(beyond)
