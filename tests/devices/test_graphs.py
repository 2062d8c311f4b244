"""Graphs: lists of launches on the CPU, CUDA graphs on a GPU."""

from __future__ import annotations

import contextlib
import ctypes
import sys
import threading
import weakref
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

from pycu2c import LaunchError, cuda
from pycu2c.cuda_driver import driver
from pycu2c.devices.cpu_graphs import merge_launches
from pycu2c.kernels.kernel import Kernel


def add(out, a, x):  # type: ignore[no-untyped-def]
    i = cuda.grid(1)
    if i < len(out):
        out[i] = a[i] + x


def count(out):  # type: ignore[no-untyped-def]
    out[cuda.grid(1)] += 1


def say(out):  # type: ignore[no-untyped-def]
    print("out", out[0])


class Place(NamedTuple):
    device: Any
    backend: Any

    def kernel(self, function: Any) -> Kernel[...]:
        return Kernel(function, backend=self.backend)

    def array(self, values: Any) -> cuda.DeviceArray:
        return cuda.to_device(np.asarray(values, np.float64), device=self.device)

    def graph(self, stream: object = None) -> Any:
        return cuda.graph(stream, device=self.device)


GPU = Place(None, "cuda")
PLACES = [
    Place("cpu", "cpu"),
    Place("cpu", "cpu-resumable"),
    Place("cpu", "python"),
    *([pytest.param(GPU, marks=pytest.mark.gpu)] if driver.available() else []),
]


@pytest.fixture(params=PLACES, ids=lambda place: place.backend)
def place(request: pytest.FixtureRequest) -> Place:
    result: Place = request.param
    return result


def test_a_launch_does_what_was_captured_in_order(place: Place) -> None:
    k = place.kernel(add)
    a, out = place.array(np.arange(8.0)), place.array(np.zeros(8))
    with place.graph() as g:
        k[1, 8](out, a, 1.0)
        k[1, 8](a, out, 2.0)
        out[:4] = 7
    assert out.copy_to_host().tolist() == [0.0] * 8, "what is captured is not done"
    g.launch()
    assert a.copy_to_host().tolist() == [3, 4, 5, 6, 7, 8, 9, 10]
    assert out.copy_to_host().tolist() == [7, 7, 7, 7, 5, 6, 7, 8]
    g()
    g()
    assert a.copy_to_host().tolist() == [9, 10, 11, 12, 13, 14, 15, 16]
    assert [node.name for node in g.nodes] == ["add", "add"]
    assert g.nodes[0].grid == (1, 1, 1)
    assert g.nodes[0].block == (8, 1, 1)


def test_launches_in_the_dispatch_table_are_captured(place: Place) -> None:
    k, out = place.kernel(count), place.array(np.zeros(8))
    k[1, 8](out)
    for _ in range(9):
        k[1, 8](out)
    configured = k[1, 8]
    with place.graph() as g:
        configured(out)
        k[1, 8](out)
    assert out.copy_to_host()[0] == 10
    k[1, 8](out)
    assert out.copy_to_host()[0] == 11
    g()
    assert out.copy_to_host()[0] == 13


def test_a_node_is_given_other_arguments(place: Place) -> None:
    k = place.kernel(add)
    a, out, other = place.array(np.arange(8.0)), place.array(np.zeros(8)), place.array(np.zeros(16))
    with place.graph() as g:
        k[2, 8](out, a, 1.0)
        k[2, 8](a, a, 1.0)
    node = g.nodes[0]
    node.set(other[4:12], a, x=10.0)
    g()
    assert out.copy_to_host().sum() == 0
    assert other.copy_to_host()[4:12].tolist() == [10, 11, 12, 13, 14, 15, 16, 17]
    node.set(out, a, 5)  # an int: the kernel is another one
    g()
    assert out.copy_to_host().tolist() == [6, 7, 8, 9, 10, 11, 12, 13]
    with pytest.raises(LaunchError, match="takes 3 arguments"):
        node.set(out, a)
    with pytest.raises(LaunchError, match=r"argument 1 \(out\)"):
        node.set([1.0], a, 1.0)
    g()
    assert out.copy_to_host().tolist() == [7, 8, 9, 10, 11, 12, 13, 14], "it is as it was"


def test_a_graph_is_captured_again(place: Place) -> None:
    k, add_one = place.kernel(add), place.kernel(count)
    a, b, out = (place.array(np.full(4, x)) for x in (1, 2, 0))
    with place.graph() as g:
        k[1, 4](out, a, 1.0)
    first = g.nodes[0]
    with g.capture():
        k[1, 4](out, b, 10.0)
    g()
    assert out.copy_to_host().tolist() == [12.0] * 4
    g.nodes[0].set(out, a, 20.0)
    g()
    assert out.copy_to_host().tolist() == [21.0] * 4
    with pytest.raises(LaunchError, match="captured again"):
        first.set(out, a, 1.0)
    with g.capture():  # of another shape
        out[...] = 0
        add_one[1, 4](out)
        add_one[1, 4](out)
    g()
    assert out.copy_to_host().tolist() == [2.0] * 4
    assert len(g.nodes) == 2


def test_copies_from_and_to_pinned_memory_are_done_at_each_launch(place: Place) -> None:
    k, array = place.kernel(count), place.array(np.zeros(4))
    into, back = cuda.pinned_array(4), cuda.pinned_array(4)
    with place.graph() as g:
        array.copy_to_device(into)
        k[1, 4](array)
        array.copy_to_host(back)
        wide = array[::2].copy()
        array[1::2] = wide
    for number in (1, 5):
        into[:] = number
        g()
        cuda.synchronize()
        assert back.tolist() == [number + 1] * 4
    assert wide.copy_to_host().tolist() == [6.0] * 2


def test_a_value_of_eight_bytes_is_filled_in(place: Place) -> None:
    array = place.array(np.zeros(8))
    with place.graph() as g:
        array[::2] = 1 / 3
        array[1] = 0.1
    g()
    assert array.copy_to_host()[:3].tolist() == [1 / 3, 0.1, 1 / 3]
    assert not g.nodes, "a fill is no launch of the user's"


def test_arrays_live_as_long_as_the_graph(place: Place) -> None:
    k, out, ones = place.kernel(add), place.array(np.zeros(1000)), place.array(np.ones(1000))
    with place.graph() as g:
        k[8, 128](out, ones, 1.0)
    del ones
    others = [place.array(np.full(1000, 50.0)) for _ in range(4)]
    g()
    assert np.all(out.copy_to_host() == 2)
    assert all(np.all(other.copy_to_host() == 50) for other in others)


def test_a_freed_graph_frees_its_resources() -> None:
    k, out = Kernel(count, backend="cpu"), np.zeros(4)
    with cuda.graph(device="cpu") as g:
        k[1, 4](out)
    kept, node = weakref.ref(out), g.nodes[0]
    del out
    assert kept() is not None
    g()
    node.set(np.zeros(4))
    assert kept() is None
    del g
    with pytest.raises(LaunchError, match="was freed"):
        node.set(np.zeros(4))


def test_a_graph_in_a_graph(place: Place) -> None:
    k, out = place.kernel(count), place.array(np.zeros(4))
    with place.graph() as inner:
        k[1, 4](out)
    with place.graph() as outer:
        inner()
        k[1, 4](out)
        inner()
    with inner.capture():
        out[...] = 100
    outer()
    assert out.copy_to_host().tolist() == [3.0] * 4


def test_a_graph_in_a_graph_is_as_it_was_last(place: Place) -> None:
    k, a, out = place.kernel(add), place.array(np.zeros(4)), place.array(np.zeros(4))
    with place.graph() as inner:
        k[1, 4](out, a, 1.0)
    with inner.capture():
        k[1, 4](out, a, 2.0)
    inner.nodes[0].set(out, out, 30.0)
    with place.graph() as outer:
        inner()
        inner()
    inner.nodes[0].set(out, a, 0.0)
    outer()
    assert out.copy_to_host().tolist() == [60.0] * 4
    inner()
    assert out.copy_to_host().tolist() == [0.0] * 4


@pytest.mark.gpu
def test_work_of_other_streams_is_not_captured() -> None:
    ours = cuda.stream()
    with cuda.graph() as g, pytest.raises(LaunchError, match="blocking=False"):
        ours.wait(g.stream)


def test_streams(place: Place) -> None:
    k, (a, b, c) = place.kernel(add), (place.array(np.zeros(64)) for _ in range(3))
    side = cuda.stream(blocking=False)
    with place.graph(cuda.stream(blocking=False)) as g:
        k[1, 64, g.stream](a, a, 1.0)
        side.wait(g.stream)
        k[1, 64, side](b, a, 1.0)
        k[1, 64](c, a, 2.0)  # at the same time
        g.stream.wait(side)
        k[1, 64](b, c, 10.0)
    other = cuda.stream(blocking=False)
    for stream in (None, other, cuda.stream()):
        g.launch(stream)
    other.synchronize()
    assert g.stream is None
    assert np.all(a.copy_to_host() == 3)
    assert np.all(b.copy_to_host() == 15)


def test_other_threads_go_on(place: Place) -> None:
    k, out, own = place.kernel(count), place.array(np.zeros(4)), place.array(np.zeros(4))

    def work() -> None:
        for _ in range(20):
            k[1, 4](own)
            own.copy_to_host()
        cuda.default_stream().synchronize()

    with place.graph() as g:
        thread = threading.Thread(target=work)
        thread.start()
        for _ in range(20):
            k[1, 4](out)
        thread.join()
    assert own.copy_to_host()[0] == 20
    assert out.copy_to_host()[0] == 0
    g()
    assert out.copy_to_host()[0] == 20


def test_after_an_error_all_is_as_before(place: Place) -> None:
    k, out = place.kernel(count), place.array(np.zeros(4))
    with place.graph() as g:
        k[1, 4](out)
    with pytest.raises(LaunchError), g.capture():
        k[1, 4](out, k[1, 4](out))
    k[1, 4](out)
    g()
    assert out.copy_to_host()[0] == 2


REJECTED = {
    "synchronize": (lambda a: cuda.synchronize(), r"cuda.synchronize\(\) would wait"),
    "a stream's": (lambda a: cuda.stream().synchronize(), r"synchronize\(\) would wait"),
    "an event's": (lambda a: cuda.event().synchronize(), r"synchronize\(\) would wait"),
    "to the host": (lambda a: a.copy_to_host(), "cuda.pinned_array"),
    "an element": (lambda a: a[0], "cuda.pinned_array"),
    "from the host": (lambda a: a.copy_to_device(np.zeros(4)), "cuda.pinned_array"),
    "assigned": (lambda a: a.__setitem__(..., [1, 2, 3, 4]), "cuda.pinned_array"),
    "callback": (lambda a: cuda.stream().add_callback(print), "a callback cannot be captured"),
    "another": (
        lambda a: cuda.Graph(device="cpu").capture().__enter__(),
        "another graph cannot be captured",
    ),
}


@pytest.mark.parametrize("name", REJECTED)
def test_unsupported_captures(place: Place, name: str) -> None:
    action, message = REJECTED[name]
    array = place.array(np.zeros(4))
    with pytest.raises(LaunchError, match=message), place.graph():
        action(array)
    assert array.copy_to_host().tolist() == [0.0] * 4


def test_an_empty_graph() -> None:
    with pytest.raises(LaunchError, match="is empty"):
        cuda.Graph().launch()
    with cuda.graph() as g:
        pass
    g()
    assert "0 launches" in repr(g)


def test_numpy_arrays_are_used_where_they_are_by_the_cpu() -> None:
    k, out = Kernel(count, backend="cpu"), np.zeros(4)
    with cuda.graph(device="cpu") as g:
        k[1, 4](out)
    g()
    g()
    assert out.tolist() == [2.0] * 4


class Ending:
    """A launch on the CPU that ends early, to the C that runs several."""

    def __init__(self, code: int, raised: list[int]) -> None:
        kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
        self.start = kind(lambda *arguments: raised.append(arguments[2]) or code)
        self.step = ctypes.cast(self.start, ctypes.c_void_p).value, 0, b"packed", len(raised)

    def raise_for_code(self, code: int) -> None:
        raise ArithmeticError(code)


def test_a_launch_that_ends_early_is_reported() -> None:
    raised: list[int] = []
    launches = [Ending(code, raised) for code in (0, 0, 7, 0)]
    run = merge_launches(launches)  # type: ignore[arg-type]
    with pytest.raises(ArithmeticError, match="7"):
        run()
    assert len(raised) == 3


def test_ranges_of_profilers_are_left_out(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYCU2C_NVTX", "1")
    monkeypatch.setattr("pycu2c.base.output.tracing.TRACE_FILE", "trace.json")
    monkeypatch.setitem(sys.modules, "nvtx", SimpleNamespace(annotate=contextlib.nullcontext))
    k, out = place.kernel(count), place.array(np.zeros(4))
    with place.graph() as g:
        k[1, 4](out)
    g()
    assert out.copy_to_host()[0] == 1


@pytest.mark.gpu
def test_unsupported_captures_on_a_gpu() -> None:
    array = cuda.to_device(np.zeros(4))
    k = Kernel(count)
    with pytest.raises(LaunchError, match=r"argument 1.*in host memory"), cuda.graph():
        k[1, 4](np.zeros(4))
    with pytest.raises(LaunchError, match="prints"), cuda.graph():
        Kernel(say)[1, 1](array)
    with pytest.raises(LaunchError, match="runs on the CPU"), cuda.graph():
        Kernel(count, backend="cpu")[1, 4](np.zeros(4))
    with pytest.raises(LaunchError, match="a stream outside of the capture"), cuda.graph():
        k[1, 4, cuda.stream()](array)
    with pytest.raises(LaunchError, match="blocking=False"), cuda.graph(cuda.stream()):
        pass
    on_cpu = cuda.graph(device="cpu")
    with pytest.raises(LaunchError, match="cannot contain a launch on a GPU"), on_cpu:
        k[1, 4](array)
    k[1, 4](array)
    assert array.copy_to_host()[0] == 1
