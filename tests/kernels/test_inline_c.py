"""Device functions in C of the user's own, on every target, against their Python bodies."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pycu2c import (
    CompileError,
    complex64,
    cuda,
    device,
    float16,
    float32,
    float64,
    int32,
    int64,
    kernel,
    uint32,
)
from pycu2c.base.dtypes import BY_NAME, DTYPES
from pycu2c.kernels.kernel import Kernel
from pycu2c.toolchain.nvrtc import nvrtc
from support.c_compilers import check_warnings
from support.kernels_from_text import module_from
from support.launching import run

N = 70
TWO, THREE = np.int8(2), np.uint32(3)

SHARED = """
#define TWICE(x) (2 * (x))
static int with_helper(int x) { return TWICE(x) + 1; }
"""


@cuda.c_function("return x * y + 1.0f;", cpu="return x * y + 1.0f;", pure=True)
def plus_one(x: float32, y: float32) -> float32:
    return x * y + np.float32(1)


@cuda.c_function(cuda="return x > 0 ? x : -x;")  # on the CPU it is Python
def size(x: int64) -> int64:
    return x if x > 0 else -x


@cuda.c_function(
    """
    long long sum = 0;
    for (int k = 0; k < a_len; ++k)
        sum += a[k * a_stride0];
    return sum;
    """,
    cpu="""int64_t sum = 0;
           for (int k = 0; k < a_len; ++k)
               sum += a[k * a_stride0];
           return sum;""",
    pure=True,
)
def total(a: int32[:]) -> int64:
    s = 0
    for x in a:
        s += x
    return np.int64(s)


@cuda.c_function("a[i * a_shape1] += a_shape0;", cpu="a[i * a_shape1] += a_shape0;")
def bump(a: int32[:, ::1], i: int32) -> None:
    a[i, 0] += a.shape[0]


@cuda.c_function("return with_helper(x);", cpu="return with_helper(x);", preamble=SHARED)
def helped(x: int32) -> int32:
    return 2 * x + 1


@cuda.c_function("return TWICE(x) - 1;", cpu="return TWICE(x) - 1;", preamble=SHARED)
def helped_again(x: int32) -> int32:
    return 2 * x - 1


@cuda.c_function("return x * x;", cpu="return x * x;")
def squared(x, y=TWO):
    return x * x


@cuda.c_function("v.y += v.x; return v;", cpu="v.y += v.x; return v;")
def summed(v: cuda.float2) -> cuda.float2:
    v.y = v.x + v.y
    return v


@cuda.c_function("z.x = -z.x; return z;", cpu="z.x = -z.x; return z;")
def turned(z: complex64) -> complex64:
    return complex(-z.real, z.imag)


@cuda.c_function("return x < y;", cpu="return x < y;", signature="bool(int8, int8)")
def less(x, y):
    return x < y


@cuda.c_function("return (float)h;", cpu="return (float)h;")
def widened(h: float16) -> float32:
    return float32(h)


@cuda.c_function("return _b + c;", cpu="return _b + c;")
def keywords(_b: uint32, *, c: uint32 = THREE) -> uint32:
    return _b + c


@device
def through(x):
    return plus_one(x, x) * np.float32(2)


@kernel
def numbers(a, out):
    i = cuda.grid(1)
    if i < len(out):
        out[i] = through(a[i]) + plus_one(a[i], 0.5) + size(i - 30)


@kernel
def rows(m, out):
    i = cuda.grid(1)
    if i < m.shape[0]:
        out[i] = total(m[i, ::2]) + total(m[:, 1 + i % 2])  # not of what others change
        bump(m, i)


@kernel
def shared(out):
    tile = cuda.shared.array(32, np.int32)
    own = cuda.local.array((2, 3), np.int32)
    t = cuda.threadIdx.x
    tile[t] = t
    for k in range(2):
        own[k, 0] = own[k, 1] = own[k, 2] = t
    cuda.syncthreads()
    bump(own, 1)
    out[cuda.grid(1)] = total(tile[t:]) + total(own[1])


@kernel
def with_helper(out):
    i = cuda.grid(1)
    TWICE = helped(i)
    out[i] = helped_again(TWICE) + squared(int32(i)) + squared(np.int8(i % 7))


@kernel
def kinds(out, v, z, h):
    i = cuda.grid(1)
    v[i] = summed(v[i])
    z[i] = turned(z[i])
    out[i] = widened(h[i]) + keywords(np.uint32(i)) + (1 if less(i % 5, 2) else 7)


@kernel
def in_order(a, out):
    i = cuda.grid(1)
    if i < 1:
        for k in range(3):
            bump(a, k % 2)  # its value, if it had one, is not used
        out[0] = a[0, 0] * 10 + a[1, 0]


F32, I32 = np.float32, np.int32
CASES: dict[str, tuple[Kernel[...], tuple[int, int], Callable[[], list[Any]]]] = {
    "numbers": (numbers, (3, 32), lambda: [np.arange(N, dtype=F32), np.zeros(N, F32)]),
    "rows": (
        rows,
        (1, 32),
        lambda: [np.arange(60, dtype=I32).reshape(20, 3), np.zeros(20, np.int64)],
    ),
    "shared": (shared, (2, 32), lambda: [np.zeros(64, np.int64)]),
    "with_helper": (with_helper, (2, 32), lambda: [np.zeros(64, np.int64)]),
    "kinds": (
        kinds,
        (2, 32),
        lambda: [
            np.zeros(64),
            np.arange(128, dtype=F32).view(cuda.float2.numpy),
            np.arange(64).astype(np.complex64) * (1 + 2j),
            np.arange(64, dtype=np.float16),
        ],
    ),
    "in_order": (in_order, (1, 4), lambda: [np.ones((2, 3), I32), np.zeros(1, I32)]),
}


@pytest.mark.parametrize("name", CASES)
def test_as_python(name: str, target: str) -> None:
    k, configuration, arguments = CASES[name]
    inputs = arguments()
    expected = run(k, configuration, inputs, "python")
    for got, right in zip(run(k, configuration, inputs, target), expected):
        np.testing.assert_array_equal(got, right)


def test_the_python_body_is_what_the_reference_runs() -> None:
    """Not its own result compared with itself."""
    (_, out) = run(numbers, (3, 32), CASES["numbers"][2](), "python")
    i = np.arange(N)
    np.testing.assert_array_equal(out, 2 * (i * i + 1) + i * 0.5 + 1 + abs(i - 30))


@pytest.mark.parametrize("name", CASES)
def test_compilers_accept_it(name: str) -> None:
    k, configuration, arguments = CASES[name]
    run(k, configuration, arguments(), "cpu")
    fresh = Kernel(k.python)
    fresh[configuration](*arguments())
    assert check_warnings(fresh.inspect("c")) == ""
    assert nvrtc.compile(fresh.inspect("cuda"), name, "sm_90").log == ""


def test_outside_of_kernels_it_is_the_python_function() -> None:
    assert plus_one(np.float32(2), np.float32(3)) == 7
    assert repr(plus_one) == "<C function plus_one>"


@cuda.c_function("return 1;")
def alone(x: int32) -> int32:
    """It has no Python body."""


@cuda.c_function("return 0;")
def rejected(x: int32) -> int32:
    """It has none, either."""
    raise NotImplementedError("for kernels")


def test_without_a_python_body() -> None:
    @kernel
    def k(out):
        out[cuda.grid(1)] = alone(3) + rejected(3)

    (got,) = run(k, (1, 2), [np.zeros(2)], "cpu")
    assert got.tolist() == [1, 1]
    with pytest.raises(TypeError, match="alone has only a C body"):
        alone(1)
    with pytest.raises(TypeError, match="alone is C alone: give it a Python body"):
        run(k, (1, 2), [np.zeros(2)], "python")


def test_only_pure_calls_may_be_removed() -> None:
    @kernel
    def k(a):
        plus_one(a[0], a[1])
        squared(a[0])

    for what in ("c", "cuda"):
        text = k.inspect(what, (float32[::1],))
        assert "plus_one(a" not in text
        assert "squared(a[0], 2);" in text


def test_a_loop_of_threads_runs_what_is_pure_in_vectors() -> None:
    @kernel
    def k(a, out):
        i = cuda.grid(1)
        if i < len(out):
            n = 0
            x = a[i]
            while x < 100:
                x = plus_one(x, x)
                n += 1
            out[i] = n

    assert "omp simd" in k.inspect("c", (float32[::1], int32[::1]))


def test_weak_floats_are_what_the_annotations_say() -> None:
    @cuda.c_function("return sizeof x;", cpu="return sizeof x;")
    def bytes_of(x: float64) -> int32:
        return 8

    @kernel(weak_float="float32")
    def k(out):
        out[0] = bytes_of(0.5)

    (got,) = run(k, (1, 1), [np.zeros(1)], "cpu")
    assert got[0] == 8
    assert "double x" in k.inspect("cuda", (float64[::1],))


def test_names_in_c_are_left_to_it() -> None:
    """A kernel that is called as a function of the preamble is."""
    text = with_helper.inspect("cuda", (int64[::1],))
    assert "void with_helper_1(" in text
    assert "int TWICE_1" in text


KINDS = [BY_NAME[name] for name in (*(row.name for row in DTYPES), "float3", "uchar4", "longlong2")]
KEPT = """
@cuda.c_function("auto y = x; return y;", cpu="__typeof__(x) y = x; return y;")
def kept_{0}(x: "{0}") -> "{0}":
    return x
"""


def test_numbers_of_every_type_pass_through_c_unchanged(target: str, tmp_path: Path) -> None:
    names = [row.name for row in KINDS]
    lines = [f"    {n}_out[i] = kept_{n}({n}_in[i])" for n in names]
    taken = ", ".join(f"{n}_in, {n}_out" for n in names)
    body = "\n".join(["    i = cuda.grid(1)", *lines])
    program = f"{HEAD}{''.join(map(KEPT.format, names))}\n@kernel\ndef k({taken}):\n{body}\n"
    arrays = []
    for row in KINDS:
        arguments = np.zeros(4, row.numpy)
        arguments.view(np.uint8)[:] = np.arange(arguments.nbytes) % 2
        arrays += [arguments, np.zeros(4, row.numpy)]
    k = module_from(program, tmp_path).k
    result = run(k, (1, 4), arrays, target)
    for row, arguments, got in zip(KINDS, result[::2], result[1::2]):
        assert arguments.tobytes() == got.tobytes(), row.name
    signature = ", ".join(f"{n}[::1], {n}[::1]" for n in names)
    made = k.inspect("cuda", signature)
    assert nvrtc.compile(made, "k", "sm_90", kind="ptx").data


def test_headers_are_those_of_cuda() -> None:
    @cuda.c_function(
        "return __popc(x) + ((int)cuComplex{0, 1}.y & ONE);",
        cpu="return ONE;",
        headers=["cuComplex.h"],
        preamble="""
        #define ONE 1u
        """,
    )
    def ones(x: uint32) -> uint32: ...

    @kernel
    def k(a):
        a[0] = ones(a[0])

    assert run(k, (1, 1), [np.array([7], np.uint32)], "cpu")[0][0] == 1
    text = k.inspect("cuda", ("uint32[::1]",))
    assert "#include <cuComplex.h>\n#define ONE 1u\n" in text
    assert ".entry k" in k.inspect("ptx", ("uint32[::1]",), arch="sm_90")


def test_functions_that_only_the_python_body_calls_are_not_compiled() -> None:
    @device
    def halved(x):
        return x / 2

    @cuda.c_function("return 0.5f * x;")
    def half(x: float32) -> float32:
        return halved(x)

    @kernel
    def k(a):
        a[0] = half(a[0])

    assert "halved" not in k.inspect("cuda", (float32[::1],))
    assert "halved" in k.inspect("c", (float32[::1],))


def test_parameters_may_hide_functions_of_c(target: str) -> None:
    @cuda.c_function("return y0 - exp;", cpu="return y0 - exp;")
    def minus(y0: int32, exp: int32) -> int32:
        return y0 - exp

    @kernel
    def k(out):
        out[0] = minus(7, 2)

    assert run(k, (1, 1), [np.zeros(1)], target)[0][0] == 5
    assert "int y0, int exp" in k.inspect("cuda", (float64[::1],))


def test_macros_of_several_lines(target: str) -> None:
    @cuda.c_function(
        "return TRIPLE(x);",
        cpu="return TRIPLE(x);",
        preamble=r"""
        #define TRIPLE(x) ( \
            (x) + \
            2 * (x))
        """,
    )
    def tripled(x: int32) -> int32:
        return 3 * x

    @kernel(lineinfo=True)
    def k(out):
        out[0] = tripled(4)

    (got,) = run(k, (1, 1), [np.zeros(1)], target)
    assert got[0] == 12
    assert ".entry k" in k.inspect("ptx", (float64[::1],), arch="sm_90")


def test_explain_uses_the_cuda_code() -> None:
    """The Python body of C does not."""

    @cuda.c_function("return x / 3.0f;")
    def third(x: float32) -> float32:
        return float32(x / float64(3))

    @kernel
    def k(a):
        a[0] = third(a[0])

    assert "float64" not in k.explain((float32[::1],))


def test_line_information_names_the_lines_of_c() -> None:
    text = numbers.inspect("ptx", (float32[::1], float32[::1]), arch="sm_90")
    lines = Path(__file__).read_text().split("\n")
    number = next(i for i, line in enumerate(lines, 1) if "return x * y + 1.0f;" in line)
    assert f".loc\t1 {number} " in text


HEAD = """
import numpy as np
from pycu2c import cuda, kernel, bool_, float32, float64, int32, int64
"""
USE = """
@kernel(backend="cpu")
def k(a):
    a[0] = f(a[0])
"""
WRONG = {
    "empty": ('@cuda.c_function("  ")\n«def f(x: float32) -> float32:»\n    return x\n', "empty"),
    "name of C": (
        '@cuda.c_function("return x;")\ndef f(«double: float32») -> float32: ...\n',
        "rename",
    ),
    "any number": ('@cuda.c_function("return x;")\ndef f(*«x») -> float32: ...\n', "fixed number"),
    "types": ('@cuda.c_function("return x;")\n«def f(x): ...»\n', "x: float32) -> float32, or"),
    "result": ('@cuda.c_function("return x;")\n«def f(x: float32): ...»\n', "annotate it"),
    "weak": (
        '@cuda.c_function("return x;")\ndef f(«x: float») -> float32: ...\n',
        "float32 or float64",
    ),
    "weak result": (
        '@cuda.c_function("return x;")\ndef f(x: float32) -> «int»: ...\n',
        "int32 or int64",
    ),
    "tuple": (
        '@cuda.c_function("return x;")\n'
        "def f(x: float32) -> «tuple[float32, float32]»:\n    return x, x\n",
        "numbers and vectors",
    ),
    "raises": (
        '@cuda.c_function("return x;")\ndef f(x: float32) -> float32:\n    if x > 0:\n'
        "        «raise ValueError»\n    return x\n",
        "return a status",
    ),
    "C": ('@cuda.c_function("«return y;»")\ndef f(x: float32) -> float32: ...\n', "gcc says"),
    "second line": (
        '@cuda.c_function("""\n    x += 1;\n    «return z;»\n""")\n'
        "def f(x: float32) -> float32: ...\n",
        "'z' undeclared",
    ),
    "preamble": (
        '@cuda.c_function("return g(x);", preamble="«static float g(float x) { return q; }»")\n'
        "def f(x: float32) -> float32: ...\n",
        "'q' undeclared",
    ),
    "no return": (
        '@cuda.c_function("«if (x > 0) return x;»")\ndef f(x: float32) -> float32: ...\n',
        "control reaches end",
    ),
    "only CUDA": (
        '@cuda.c_function(cuda="return x;")\n«def f(x: float32) -> float32: ...»\n',
        'cpu="…"',
    ),
    "text elsewhere": (
        'T = "return y;"\n@«cuda.c_function(T)»\ndef f(x: float32) -> float32: ...\n',
        "'y' undeclared",
    ),
}


def test_texts_are_texts() -> None:
    with pytest.raises(TypeError, match="cuda must be a string, not 3"):
        cuda.c_function(cuda=3)(lambda: None)


@pytest.mark.parametrize("name", WRONG)
def test_wrong(name: str, tmp_path: Path) -> None:
    text, said = WRONG[name]
    before = text.partition("«")[0]
    plain = HEAD + text.replace("«", "").replace("»", "") + USE
    with pytest.raises(CompileError) as caught:
        module_from(plain, tmp_path).k[1, 1](np.zeros(1, np.float32))
    result = caught.value
    assert result.code == "inline-c"
    assert said in str(result)
    span = result.diagnostics[0].labels[0].span
    assert span.line == (HEAD + before).count("\n") + 1
    assert span.column == len(before.rpartition("\n")[2])


@cuda.c_function(
    cuda="""
    for (int i = 0; i < matrix_shape0; ++i) total[0] += matrix[i * matrix_stride0 + total_len];
"""
)
def add_column(total, matrix):
    for i in range(matrix.shape[0]):
        total[0] += matrix[i, total.shape[0]]


def test_lengths_of_shared_and_local_arrays_are_constants() -> None:
    """No parameter passes them, and the text names them."""

    @kernel
    def columns(out):
        total, matrix = cuda.local.array(2, float32), cuda.shared.array((3, 4), float32)
        total[0] = 0
        for i in range(3):
            matrix[i, 2] = i + 1
        add_column(total, matrix)
        out[0] = total[0]

    text = columns.inspect("cuda", (float32[::1],))
    for line in ("total_len = 2;", "matrix_shape0 = 3;", "matrix_stride0 = 4;"):
        assert f"const long long {line}" in text
    assert nvrtc.compile(text, "columns", "sm_90", kind="ptx").data
    out = np.zeros(1, np.float32)
    columns[1, 1](out)
    assert out[0] == 6


def test_arguments_of_function_makers_may_be_parameters() -> None:
    """A device function passes its parameter on to a function that makes a device function."""

    def adder(n: int) -> object:
        return device(lambda x: x + n)

    @device
    def add(x, n):
        return adder(n)(x)

    @kernel
    def add_three(out):
        out[0] = add(out[0], 3)

    out = np.ones(1, np.float32)
    add_three[1, 1](out)
    assert out[0] == 4


@pytest.mark.parametrize("alignment", [3, 2048, -4])
def test_alignments_are_powers_of_two(alignment: int) -> None:
    @kernel
    def aligned(out):
        tile = cuda.shared.array(4, float32, alignment=alignment)
        out[0] = tile[0]

    with pytest.raises(CompileError, match="a power of two up to 1024"):
        aligned.inspect("cuda", (float32[::1],))
