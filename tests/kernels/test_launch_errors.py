"""What a launch refuses, before anything runs."""

from __future__ import annotations

import pickle
import re
from enum import Enum
from pathlib import Path

import numpy as np
import pytest

from pycu2c import CompileError, LaunchError, cuda, device, kernel
from pycu2c.cuda_driver import driver


@kernel(backend="cpu")
def double(data, out, factor):
    i = cuda.grid(1)
    if i < len(out):
        out[i] = data[i] * factor


@device
def twice(x):
    return 2 * x


@kernel(backend="cpu", block=32)
def without_length(out):
    out[cuda.grid(1)] = 1


class Series:
    def __array__(self, dtype=None, copy=None):
        return np.ones(64)


DATA = np.ones(64, np.float32)


@pytest.mark.parametrize(
    ("configuration", "message"),
    [
        ((0, 32), "grid has at least 1 along x, not 0"),
        ((-1, 32), "not -1"),
        ((1, 1025), "at most 1024"),
        ((1, (32, 32, 2)), "at most 1024 threads, not 2048"),
        ((1, (1, 1, 65)), "at most 64 along z"),
        (((1, 70000), 1), "at most 65535 along y"),
        ((2.5, 32), "integers, not 2.5"),
        ((2.0, 32), "write 2"),
        (((1, 1, 1, 1), 32), "1, 2 or 3 axes, not 4"),
        (("many", 32), "integers"),
        ((1, 32, None, -4), "cannot be negative"),
        ((1, 32, -1), "no stream has the handle -1"),
        ((1, 32, 1024), r"handle 1024.*write k\[grid, block, 0, 1024\]"),
        (32, r"write double\[grid, block\]"),
    ],
)
def test_configuration(configuration, message):
    with pytest.raises(LaunchError, match=message):
        double[configuration](DATA, DATA.copy(), 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((DATA, DATA.copy()), r"takes 3 arguments \(data, out, factor\), 2 given"),
        ((DATA, DATA.copy(), 2, 3), "4 given"),
        (([1.0], DATA.copy(), 2), r"argument 1 \(data\) is a list"),
        ((DATA, DATA.copy(), {"x": 1}), r"argument 3 \(factor\) is a dict.*frozen dataclass"),
        ((Series(), DATA.copy(), 2), r"argument 1 \(data\) is a Series.*pass numpy.asarray"),
        ((DATA, DATA.copy(), Enum("Mode", "FAST").FAST), "is a Mode.*or make it an IntEnum"),
        ((DATA, DATA.copy(), (2, [1])), r"argument 3 \(factor\), item 2 is a list.*pass a tuple"),
        ((DATA.astype(">f4"), DATA.copy(), 2), "byte order"),
        ((DATA.astype("g"), DATA.copy(), 2), "float128|longdouble"),
        ((DATA.astype(object), DATA.copy(), 2), "object"),
        ((np.zeros((1,) * 17), DATA.copy(), 2), "17 axes"),
        ((DATA, DATA.copy(), 2**80), "factor.*int64"),
    ],
)
def test_arguments(arguments, message):
    with pytest.raises(LaunchError, match=message):
        double[2, 32](*arguments)


def test_read_only_array_that_is_written():
    out = DATA.copy()
    out.flags.writeable = False
    with pytest.raises(LaunchError, match=r"argument 2 \(out\) is written, and it is read-only"):
        double[2, 32](DATA, out, 2)
    np.testing.assert_array_equal(out, DATA)


def test_read_only_array_that_is_read():
    data = DATA.copy()
    data.flags.writeable = False
    out = np.zeros_like(data)
    double[2, 32](data, out, 2)
    np.testing.assert_array_equal(out, 2)


def test_no_grid_can_be_found():
    with pytest.raises(LaunchError, match="has no grid"):
        without_length(np.zeros(4))


def test_no_block():
    with pytest.raises(LaunchError, match="has no block"):
        double(DATA, DATA.copy(), 2)


@pytest.mark.skipif(driver.available(), reason="this machine has a GPU")
def add_one(x):
    x[cuda.grid(1)] += 1


def test_a_grid_is_enough_where_the_block_is_declared():
    k, x = kernel(backend="cpu", block=4)(add_one), np.ones(8)
    k[2](x)
    assert (x == 2).all()


def test_a_configuration_is_not_pickled():
    with pytest.raises(TypeError, match="cannot be pickled: pickle add_one"):
        pickle.dumps(kernel(backend="cpu")(add_one)[1, 4])


def test_cuda_without_a_gpu(without_gpus):
    k = kernel(backend="cuda")(double.python)
    with pytest.raises(LaunchError, match=r"no GPU.*backend='auto'"):
        k[2, 32](DATA, DATA.copy(), 2)


def test_another_dtype_than_declared():
    declared = kernel(backend="cpu", signature="float32[:], float32[:], int")(double.python)
    with pytest.raises(LaunchError, match=r"given `float64\[::1\]`: pass .astype\(numpy.float32\)"):
        declared[2, 32](DATA.astype(float), DATA.copy(), 2)


def test_unknown_backend():
    with pytest.raises(ValueError, match="auto, cuda, cpu, cpu-resumable, python"):
        kernel(backend="gpu")(double.python)


def test_empty_arrays():
    double[1, 32](DATA[:0], DATA[:0], 2)


class Simulation:
    @kernel
    def step(self, out):
        out[0] = 1


def test_a_kernel_is_no_method():
    with pytest.raises(LaunchError, match=r"out missing; .*write @staticmethod above @kernel"):
        Simulation().step[1, 1](np.zeros(1))


def test_a_device_function_is_not_launched():
    with pytest.raises(TypeError, match=r"twice is a device function.*with @kernel to launch"):
        twice[1, 1](2)


def total(a, out):
    out[0] = len(a)


def test_an_error_of_types_says_what_the_types_are():
    untyped = kernel(total)
    for _ in range(2):
        with pytest.raises(CompileError) as caught:
            untyped[1, 1](2.5, DATA)
        assert caught.value.__notes__ == ["launched with a: float, out: float32[::1]"]
    with pytest.raises(CompileError) as caught:
        kernel("float64, float32[::1]")(total)
    assert not hasattr(caught.value, "__notes__")


@pytest.mark.parametrize("arguments", [(2.5, DATA), ([1], DATA), (DATA,)])
def test_a_traceback_ends_at_the_launch(arguments):
    with pytest.raises((CompileError, LaunchError)) as caught:
        kernel(total)[1, 1](*arguments)
    assert len(caught.traceback) <= 3
    assert caught.value.__context__ is None


def test_a_traceback_ends_at_the_decorator():
    with pytest.raises(CompileError) as caught:
        kernel("float64, float32[::1]")(total)
    assert len(caught.traceback) <= 3


def by_names(a):
    x, y = cuda.grid(2)
    height, width = a.shape
    if x >= width or y >= height:
        return
    a[y, x] += 1


def by_a_name_set_twice(a):
    width = len(a)
    if a[0, 0] > 5:
        width = a.shape[1]
    x = cuda.grid(1)
    if x < width:
        a[0, x] = 1


def test_a_grid_follows_from_lengths_that_have_a_name():
    a = np.zeros((21, 70), np.int32)
    for _ in range(4):  # by the dispatch table in the end
        kernel(block=(32, 8))(by_names)(a)
    assert (a == 4).all()
    with pytest.raises(LaunchError, match="has no grid"):
        kernel(block=32)(by_a_name_set_twice)(a)


def test_a_lambda_is_named_in_the_error() -> None:
    @kernel(backend="cpu")
    def applied(f, out):
        out[0] = f(1) + missing  # noqa: F821

    with pytest.raises(CompileError) as raised:
        applied[1, 1](lambda x: x, np.zeros(1))
    assert raised.value.__notes__ == ["launched with f: lambda, out: float64[::1]"]


@kernel(block=(4, 2))
def placed_in_a_plane(out):
    x, y = cuda.grid(2)
    if y < out.shape[0] and x < out.shape[1]:
        out[y, x] = y * 10 + x


def test_a_pair_is_no_grid_of_two_axes():
    """Python gives k[(2, 3)] and k[2, 3] alike to the kernel."""
    out = np.zeros((6, 8))
    for configuration in ((2, 3), (np.int64(2), 3)):
        with pytest.raises(LaunchError, match=r"placed_in_a_plane\[\(2, 3\),\]") as caught:
            placed_in_a_plane[configuration]
        assert caught.value.__context__ is None
    placed_in_a_plane[(2, 3),](out)
    assert (out == np.arange(6)[:, None] * 10 + np.arange(8)).all()
    again = np.zeros((6, 8))
    placed_in_a_plane[2, (4, 6)](again)  # another block than is declared
    assert (again == out).all()


def test_an_array_with_too_few_axes():
    with pytest.raises(CompileError, match="`out` has 1 axis"):
        placed_in_a_plane[(2, 3),](np.zeros(6))


def launch_of_a_list():
    without_length[1]([1.0])


def rejected_kernel():
    @kernel
    def k(out):
        with out:
            pass


def rejected_device_function():
    @device
    def f(x):
        with x:
            pass


def rejected_kernel_of_numba():
    @cuda.jit
    def k(out):
        with out:
            pass


def rejected_device_function_of_numba():
    @cuda.jit(device=True)
    def f(x):
        with x:
            pass


@pytest.mark.parametrize(
    "program",
    [
        launch_of_a_list,
        rejected_kernel,
        rejected_device_function,
        rejected_kernel_of_numba,
        rejected_device_function_of_numba,
    ],
)
def test_pytest_and_ipython_show_no_frames_of_the_package(program):
    with pytest.raises((CompileError, LaunchError)) as caught:
        program()
    shown = caught.traceback.filter(caught)
    assert {entry.path.name for entry in shown} == {Path(__file__).name}


@pytest.mark.parametrize("program", [launch_of_a_list, rejected_kernel])
def test_ipython_shows_the_calls_and_the_message_in_colour(program):
    pytest.importorskip("IPython")
    with pytest.raises((CompileError, LaunchError)) as caught:
        program()
    shown = "\n".join(caught.value._render_traceback_())
    plain = re.sub(r"\033\[[\d;]*m", "", shown)
    assert plain.startswith("Traceback (most recent call last):\n")
    assert plain.endswith(f"\n{type(caught.value).__name__}: {caught.value}")
    assert ("\033[31m" in shown) == isinstance(caught.value, CompileError)
    assert {*re.findall(r'File "(.*)", line', plain)} == {__file__}
