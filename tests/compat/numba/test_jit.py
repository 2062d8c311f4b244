"""``cuda.jit`` in each form of numba, and the attributes of its kernels."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest

from pycu2c import CompileError, CompileWarning, LaunchError, cuda, float32, int32, kernel, types
from pycu2c.base import types as base_types
from pycu2c.compat.numba.dispatcher import JitDeviceFunction
from pycu2c.declarations.options import OptionError
from pycu2c.declarations.signatures import SignatureError


@cuda.jit(device=True)
def add(a, b):
    return a + b


@cuda.jit("float32(float32)", device=True, inline=True)
def half(x):
    return x / 2


@cuda.jit
def twice(x):
    return 2 * x


@cuda.jit
def fill(out, value):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = value


def on(target: str, decorate: Any = cuda.jit, **options: Any) -> Any:
    """``cuda.jit`` for one backend."""
    return decorate(backend=target, **options)


@cuda.jit(device=True)
def annotated(x: Any, i: int):
    last: Any = x.size - 1
    where: float = i
    """The place from the end."""
    return x[last - where]


def test_annotations_of_locals_are_comments(target):
    @on(target)
    def turned(x: Any, out: Any):
        i: float = cuda.grid(1)
        """A string."""
        if i < out.size:
            value: Any
            value = annotated(x, i)
            out[i] = value

    out = np.zeros(3)
    turned[1, 4](np.array([1, 2, 3], np.int32), out)
    assert out.tolist() == [3, 2, 1]


def test_an_unused_value_is_warned_of(target):
    with pytest.warns(CompileWarning, match=r"(?s)this value is not used.*assign it"):

        @on(target)
        def kernel(out):
            if out.size > 3:
                math.nan, math.nan  # noqa: B018
            out[0] = 1

    out = np.zeros(1)
    kernel[1, 1](out)
    assert out[0] == 1


def place(x, values):
    if x < 0:
        return  # noqa: RET502
    for i in range(values.size):
        if values[i] == x:
            return i


def both(x):
    if x > 1:
        return x, x / 2
    return  # noqa: RET502


@pytest.mark.parametrize("function", [place, both])
def test_an_end_without_a_value_is_warned_of(function):
    with pytest.warns(CompileWarning, match=r"(?s)others do: it returns 0.*every path"):
        cuda.jit(device=True)(function)


@pytest.mark.filterwarnings("ignore::pycu2c.CompileWarning")
def test_an_end_without_a_value_gives_0(target):
    place_of, both_of = (cuda.jit(device=True)(function) for function in (place, both))

    @on(target)
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i, 0] = place_of(x[i], x)
            out[i, 1], out[i, 2] = both_of(x[i])

    out = np.full((3, 3), 9.0)
    kernel[1, 4](np.array([-1.0, 1, 5]), out)
    assert out.tolist() == [[0, 0, 0], [1, 0, 0], [2, 5, 2.5]]


@pytest.mark.filterwarnings("error")
def test_ends_that_are_not_reached_need_no_value(target):
    @cuda.jit(device=True)
    def sign(x):
        while True:
            if x > 0:
                return 1
            if x < 0:
                return -1
            return 0

    @cuda.jit(device=True)
    def doubled(x):
        def inner():
            return

        inner()
        return 2 * x

    @on(target)
    def kernel(out):
        out[0] = sign(out[0]) + doubled(3)

    out = np.array([-4.0])
    kernel[1, 1](out)
    assert out[0] == 5


def test_a_barrier_that_is_not_called_is_an_error():
    with pytest.raises(CompileError, match=r"write cuda\.syncthreads\(\)"):

        @cuda.jit
        def kernel(out):
            cuda.syncthreads  # noqa: B018
            out[0] = 1


# ---- forms -------------------------------------------------------------------------------------


def test_bare(target):
    out = np.zeros(5)
    on(target)(fill)[2, 4](out, 3)
    assert out.tolist() == [3] * 5


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"fastmath": True},
        {"debug": True, "opt": False},
        {"lineinfo": True},
        {"cache": True},
        {"cache": False},
        {"max_registers": 40},
        {"launch_bounds": 64},
        {"inline": "always"},
        {"forceinline": True, "lto": True, "nopython": True},
        {"link": [], "boundscheck": False, "extensions": []},
        {"opt_level": 3, "dump_ptx": False, "features": "+ptx80"},  # of numba-cuda-mlir
        {"fastmath": {"contract"}, "wraparound": False},
    ],
)
def test_options(options, target):
    made = on(target, **options)(fill.py_func)
    out = np.zeros(5)
    made[2, 4](out, 3)
    assert out.tolist() == [3] * 5
    assert made.options.fastmath == bool(options.get("fastmath"))
    assert made.options.lineinfo == bool(options.get("debug") or options.get("lineinfo"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fast_math": True}, "did you mean `fastmath`"),
        ({"wavefront": 3}, "it has device, debug"),
        ({"argtypes": [float32]}, "the types come first"),
        ({"boundscheck": True}, "PYCU2C_CHECK=memory"),
        ({"max_registers": 7}, "max_registers is a number from 16"),
    ],
)
def test_unsupported_options(options, message):
    with pytest.raises(OptionError, match=message):
        cuda.jit(**options)(fill.py_func)


@pytest.mark.parametrize(
    "arguments",
    [
        "void(float32[:], float32)",
        "(f4[:], f4)",
        (float32[:], float32),
        types.void(types.Array(float32, 1, "A"), types.f4),
        ["void(float32[:], float32)"],
        ["f4[:], f4", (types.f8[:], types.f8)],
    ],
    ids=str,
)
def test_signatures(arguments, target):
    made = cuda.jit(arguments, backend=target)(fill.py_func)
    assert made.signatures[0] == (float32[:], float32)  # typed when it was defined
    out = np.zeros(5, np.float32)
    made[2, 4](out, 3)
    assert out.tolist() == [3] * 5
    assert made.signatures == list(made.overloads) == [s.parameters for s in made.declared]
    with pytest.raises(LaunchError, match="declared"):
        made[2, 4](np.zeros(5, np.int8), 3)


def test_a_signature_of_numba():
    numba = pytest.importorskip("numba")
    made = cuda.jit([numba.void(numba.float32[:], numba.int64), "f8[:], f8"])(fill.py_func)
    assert list(map(str, made.declared)) == ["(float32[:], int64)", "(float64[:], float64)"]


def test_the_best_matching_signature_is_selected(target):
    @cuda.jit(["void(float64[:], float64)", "void(float64[:], int64)"], backend=target)
    def halved(out, n):
        out[0] = n // 2

    out = np.zeros(1)
    for value, expected in ((5.0, 2.0), (5, 2), (np.int64(7), 3)):
        halved[1, 1](out, value)
        assert out[0] == expected
    halved[1, 1](out, 7)
    assert str(halved.launcher.latest) == "(float64[::1], int64)"


def test_a_kernel_returns_nothing():
    with pytest.raises(SignatureError, match="write void"):
        cuda.jit("float32(float32[:])")(fill.py_func)


def test_annotations_are_comments(target):
    @on(target)
    def annotated(out: np.ndarray, value: float):
        out[cuda.grid(1)] = value

    out = np.zeros(4, np.float32)
    annotated[1, 4](out, 2)
    assert out.tolist() == [2] * 4


def test_values_that_are_no_function():
    with pytest.raises(TypeError, match="a function, not 3"):
        cuda.jit()(3)


# ---- device functions --------------------------------------------------------------------------


@cuda.jit
def combined(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = add(x[i], twice(y[i])) + half(3)


def test_kernels_call_device_functions_and_kernels(target):
    x = np.arange(6, dtype=np.float32)
    out = np.zeros_like(x)
    on(target)(combined)[2, 4](x, x, out)
    np.testing.assert_array_equal(out, 3 * x + 1.5)


def test_kernels_of_this_package_call_them_too(target):
    @kernel(backend=target)
    def ours(out):
        out[cuda.grid(1)] = add(twice(1), 1)

    out = np.zeros(2)
    ours[1, 2](out)
    assert out.tolist() == [3, 3]


def test_a_device_function_is_python_on_the_host():
    assert isinstance(add, JitDeviceFunction)
    assert add(1, 2) == add.py_func(1, 2) == 3
    with pytest.raises(TypeError, match="device function"):
        add[1, 1](1, 2)


def test_a_device_function_for_several_signatures(target):
    @cuda.jit(["f4(f4)", "f8(f8)"], device=True)
    def squared(x):
        return x * x

    @on(target)
    def squares(out):
        out[cuda.grid(1)] = squared(out[cuda.grid(1)])

    for dtype in ("f4", "f8"):
        out = np.arange(4, dtype=dtype)
        squares[1, 4](out)
        assert out.tolist() == [0, 1, 4, 9]


def test_functions_of_numba(target):
    numba = pytest.importorskip("numba")

    @numba.njit
    def plus_one(x):
        return x + 1

    @on(target)
    def more(out, after):
        out[cuda.grid(1)] = after(plus_one(1))

    out = np.zeros(2)
    more[1, 2](out, plus_one)
    assert out.tolist() == [3, 3]


# ---- launches ----------------------------------------------------------------------------------


def test_ways_to_launch(target):
    made = on(target)(fill.py_func)
    stream = cuda.stream()
    ways = (
        made[2, 4],
        made[(2,), (4, 1)],
        made[2, 4, 0],
        made[2, 4, stream],
        made[2, 4, stream, 0],
        made.configure(2, 4),
        made.configure(2, 4, stream=stream, sharedmem=64),
        made.forall(5),
        made.forall(ntasks=5, tpb=4, stream=stream, sharedmem=0),
    )
    for number, launch in enumerate(ways):
        out = cuda.device_array(5) if target == "cuda" else np.zeros(5)
        launch(out, number)
        stream.synchronize()
        result = out.copy_to_host() if target == "cuda" else out
        assert result.tolist() == [number] * 5
    with pytest.raises(LaunchError, match="not specified"):
        made(np.zeros(5), 1)


def test_a_jitted_kernel_is_dispatched_as_others_are():
    made = cuda.jit(backend="cpu")(fill.py_func)
    out = np.zeros(5)
    for _ in range(5):
        made[2, 4](out, 1)
    assert made.launcher.dispatch_table is not None
    assert made.launcher.dispatch_table.launch(made[2, 4]._configuration, (out, 1))
    assert made.py_func is fill.py_func
    assert made.get_max_threads_per_block()


def test_specialize(target):
    made = on(target)(fill.py_func)
    out = np.zeros(4, np.float32)
    special = made.specialize(out, 2.0)
    assert special is made.specialize(np.ones(9, np.float32), 3.0)
    assert (made.specialized, special.specialized) == (False, True)
    assert special.signatures == [(float32[::1], types.float64)]
    assert special.declared[0].parameters == (float32[::1], base_types.WEAK_FLOAT)
    special[1, 4](out, 5.0)
    assert out.tolist() == [5] * 4
    with pytest.raises(LaunchError, match="declared"):
        special[1, 4](np.zeros(4), 5.0)
    with pytest.raises(RuntimeError, match="already"):
        special.specialize(out, 2.0)


def test_pickled_by_name():
    assert pickle.loads(pickle.dumps(fill)) is fill
    assert pickle.loads(pickle.dumps(add)) is add


# ---- looking inside ----------------------------------------------------------------------------


@cuda.jit
def reversed_in_blocks(a):
    tile = cuda.shared.array(64, float32)
    i = cuda.threadIdx.x
    tile[i] = a[i]
    cuda.syncthreads()
    a[i] = tile[63 - i]


READINGS = (
    "get_regs_per_thread",
    "get_shared_mem_per_block",
    "get_const_mem_size",
    "get_local_mem_per_thread",
    "get_max_threads_per_block",
)


def test_what_a_kernel_takes():
    made = cuda.jit("void(float32[:])")(reversed_in_blocks.py_func)
    assert made.get_shared_mem_per_block() == 256
    assert made.get_const_mem_size() == made.get_local_mem_per_thread() == 0
    assert made.get_max_threads_per_block() == 1024
    assert 1 <= made.get_regs_per_thread() <= 255
    several = cuda.jit(["f4[:]", "f4[::1]"])(reversed_in_blocks.py_func)
    for name in READINGS:
        result = getattr(several, name)()
        assert list(result) == several.signatures == [(float32[:],), (float32[::1],)]
        assert getattr(several, name)("f4[:]") == result[float32[:],]


def test_overloads():
    made = cuda.jit(reversed_in_blocks.py_func)
    assert made.overloads == {}
    overload = made.compile((float32[::1],))
    (types_,) = made.overloads
    assert types_ == made.signatures[0] == made.nopython_signatures[0] == overload.signature.args
    assert overload.shared_mem_per_block == made.overloads[types_].shared_mem_per_block == 256
    assert repr(overload) == "<kernel reversed_in_blocks for (float32[::1])>"


@pytest.mark.parametrize("of_numba", [False, True])
def test_keys_of_overloads(of_numba):
    numba = pytest.importorskip("numba") if of_numba else types
    made = cuda.jit("void(float32[::1], int32)")(fill.py_func)
    f, i = numba.float32[::1], numba.int32
    (overload,) = made.overloads.values()
    for key in ((f, i), numba.void(f, i), "float32[::1], int32", "void(f4[::1], i4)"):
        assert made.overloads[key] is not None
        assert key in made.overloads
        assert made.overloads.get(key).signature == overload.signature
    assert (f, f) not in made.overloads
    with pytest.raises(KeyError):
        made.overloads[f, f]


def test_types_of_python_numbers_among_the_overloads():
    made = cuda.jit(fill.py_func)
    out = np.zeros(3, np.float32)
    made[1, 3](out, 2)
    made[1, 3](out, 2.5)
    assert made.signatures == [(float32[::1], types.int64), (float32[::1], types.float64)]
    overload = made.overloads[float32[::1], types.int64]
    assert str(overload.signature) == "(float32[::1], int)"
    result = made.get_regs_per_thread()
    assert made.get_regs_per_thread((float32[::1], types.int64)) == overload.regs_per_thread
    assert list(result) == made.signatures


@cuda.jit
def passed_on(a):
    i = cuda.grid(1)
    value = a[i]
    cuda.cg.this_grid().sync()
    a[a.size - 1 - i] = value


def test_a_kernel_with_a_grid_barrier():
    made = cuda.jit("void(float32[::1])")(passed_on.py_func)
    overload = made.overloads[float32[::1],]
    assert overload.cooperative
    assert not cuda.jit("f4[:], f4")(fill.py_func).overloads[float32[:], float32].cooperative
    few, many = (overload.max_cooperative_grid_blocks(block) for block in (1024, (32, 2)))
    assert 0 < few < many
    count = cuda.get_current_device().MULTIPROCESSOR_COUNT
    assert many % count == 0


def test_inspection(capsys):
    made = cuda.jit("void(float32[::1])")(reversed_in_blocks.py_func)
    (text,) = made.inspect_asm().values()
    assert ".entry reversed_in_blocks" in text
    assert made.inspect_asm((float32[::1],)) == made.overloads[float32[::1],].inspect_asm() == text
    with pytest.raises(NotImplementedError, match=r"k.inspect\('cuda'\)"):
        made.inspect_llvm()
    made.inspect_types()
    assert "tile: shared float32[64]" in capsys.readouterr().out


def test_instructions():
    made = cuda.jit("void(int32[:], int32)")(fill.py_func)
    (text,) = made.inspect_sass().values()
    assert "EXIT" in text
    assert made.signatures == [(int32[:], int32)]


@pytest.mark.parametrize("signature", [[], ["void(int32[:], int32)"]])
def test_a_call_without_a_configuration(target, signature):
    decorated = on(target)(fill.py_func) if not signature else cuda.jit(*signature)(fill.py_func)
    out = np.zeros(4, np.int32)
    for _ in range(3):  # also when the dispatch table has entries
        with pytest.raises(ValueError, match=r"not specified: call fill\[grid, block\]"):
            decorated(out, 1)
        decorated[1, 4](out, 2)
    assert out.tolist() == [2] * 4
    declared = cuda.jit(grid=1, block=4, backend=target)(fill.py_func)
    declared(out, 3)
    assert out.tolist() == [3] * 4


def test_a_statement_without_effect_may_raise(target):
    with pytest.warns(CompileWarning, match="not used"):

        @on(target, debug=True)
        def reads(a, k):
            for i in range(2):
                a.shape[k + i]
                a[i], a

    reads[1, 1](np.zeros(3), -1)
    with pytest.raises(IndexError, match="tuple index out of range"):
        reads[1, 1](np.zeros(3), 0)
