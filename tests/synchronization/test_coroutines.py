"""CPU kernels that run as coroutines: synchronization, and deadlocks."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from pycu2c import DeadlockError, cuda, device, float32, float64, int32, kernel
from pycu2c.declarations.signatures import parse_signature
from pycu2c.kernels.kernel import Kernel
from pycu2c.kernels.specialization import generate_text
from support.c_compilers import check_warnings

BACKENDS = ["cpu", "cpu-resumable"]


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def launch(k: Any, grid: int, block: Any, *arguments: Any, backend: str) -> None:
    Kernel(k.python, backend=backend, options=k.options)[grid, block](*arguments)


def text_of(k: Any, signature: str, target: str = "cpu") -> str:
    return generate_text(k.launcher.compiler.build(parse_signature(signature)), target).text


def runs_in_steps(k: Any, signature: str) -> bool:
    return "_step(" in text_of(k, signature)


# ---- waiting in a loop -------------------------------------------------------------------------


@kernel
def ring(flags, out):
    """Each block waits for the one before it, the first for nobody."""
    b = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        while b > 0 and cuda.atomic.add(flags, b - 1, 0) == 0:
            pass
        if b > 0:
            out[b] = out[b - 1] + b
        cuda.threadfence()
        cuda.atomic.add(flags, b, 1)
    cuda.syncthreads()


def test_blocks_wait_for_blocks(backend: str) -> None:
    flags, out = np.zeros(300, np.int32), np.zeros(300, np.int64)
    launch(ring, 300, 3, flags, out, backend=backend)
    np.testing.assert_array_equal(out, np.cumsum(np.arange(300)))


@kernel
def back_to_front(flags, out):
    """Each block waits for one that begins later."""
    b, last = cuda.blockIdx.x, cuda.gridDim.x - 1
    while b < last:
        cuda.threadfence()
        if flags[b + 1] != 0:
            break
    out[b] = (out[b + 1] if b < last else 0) + 1
    cuda.threadfence()
    flags[b] = 1


def test_blocks_wait_for_later_blocks(backend: str) -> None:
    flags, out = np.zeros(40, np.int32), np.zeros(40, np.int64)
    launch(back_to_front, 40, 1, flags, out, backend=backend)
    np.testing.assert_array_equal(out, np.arange(40, 0, -1))


@kernel
def after_another(others, flags):
    b = cuda.blockIdx.x
    while others[b] >= 0 and cuda.atomic.add(flags, others[b], 0) == 0:
        cuda.nanosleep(10)
    cuda.atomic.add(flags, b, 1)


def chain(order: Any) -> Any:
    """For each block the one that comes before it."""
    others = np.full(len(order), -1)
    others[order[1:]] = order[:-1]
    return others


@pytest.mark.parametrize("order", ["forward", "backward", "shuffled"])
def test_thousands_of_blocks_synchronize(order: str) -> None:
    count = 4000
    orders = {
        "forward": np.arange(count),
        "backward": np.arange(count)[::-1],
        "shuffled": np.random.default_rng(0).permutation(count),
    }
    flags = np.zeros(count, np.int32)
    launch(after_another, count, 1, chain(orders[order]), flags, backend="cpu")
    assert flags.all()


@device
def turn_of(ticket, place: int):
    """Waits in a function."""
    while cuda.atomic.add(ticket, 0, 0) != place:
        pass


@kernel
def in_turn(ticket, order):
    """The threads of a block one after the other, the last first."""
    place = cuda.blockDim.x - 1 - cuda.threadIdx.x
    turn_of(ticket, place)
    order[place] = cuda.threadIdx.x
    cuda.threadfence()
    cuda.atomic.add(ticket, 0, 1)


def test_threads_of_one_block_wait_for_each_other(backend: str) -> None:
    ticket, order = np.zeros(1, np.int32), np.zeros(100, np.int64)
    launch(in_turn, 1, 100, ticket, order, backend=backend)
    np.testing.assert_array_equal(order, np.arange(99, -1, -1))


@device
def first_above(a, limit):
    """Returns from inside of two loops."""
    for i in range(a.size):
        cuda.syncthreads()
        for j in range(2):
            cuda.syncthreads()
            if a[i] * (j + 1) > limit:
                return 2 * i + j
        if a[i] < 0:
            return -2
    return -1


@device
def locked(lock) -> int:
    tries = 0
    while True:
        if cuda.atomic.cas(lock, 0, 0, 1) == 0:
            return tries
        tries += 1


@kernel
def returning(a, out, lock):
    t = cuda.threadIdx.x
    out[0, t] = first_above(a, 5 + t // 100)
    out[1, t] = first_above(a, 100)
    out[2, t] = first_above(a[3:], 100)
    locked(lock)
    out[3, 0] += t
    cuda.threadfence()
    cuda.atomic.exch(lock, 0, 0)


def test_functions_return_from_inside_of_loops(target: str) -> None:
    if target == "cuda":
        return  # one thread of a warp would hold the lock while others spin
    a, out = np.array([1, 2, 4, 3, -1, 9]), np.zeros((4, 40), np.int64)
    Kernel(returning.python, backend=target)[1, 40](a, out, np.zeros(1, np.int32))
    assert out[0].tolist() == [5] * 40
    assert out[1].tolist() == [-2] * 40
    assert out[2].tolist() == [-2] * 40
    assert out[3, 0] == sum(range(40))


# ---- the grid's barrier ------------------------------------------------------------------------


@kernel
def relax(a, b, steps):
    i, n = cuda.grid(1), a.size
    everyone = cuda.cg.this_grid()
    for _ in range(steps):
        if i < n:
            b[i] = a[i - 1 if i > 0 else n - 1] + 1
        everyone.sync()
        if i < n:
            a[i] = b[i]
        everyone.sync()


def test_the_grid_synchronizes(backend: str) -> None:
    a, b = np.arange(500), np.zeros(500, np.int64)
    launch(relax, 8, 64, a, b, 7, backend=backend)
    np.testing.assert_array_equal(a, np.roll(np.arange(500), 7) + 7)


@kernel
def some_leave(out):
    i = cuda.grid(1)
    if i % 3 == 0:
        return
    cuda.cg.this_grid().sync()
    cuda.atomic.add(out, 0, 1)


def test_the_grid_does_not_wait_for_threads_that_have_returned(backend: str) -> None:
    out = np.zeros(1, np.int64)
    launch(some_leave, 5, 33, out, backend=backend)
    assert out[0] == 5 * 33 - 55


# ---- what lives across a wait ------------------------------------------------------------------


@kernel
def keeper(out):
    t = cuda.threadIdx.x
    own = cuda.local.array((2, 3), float32)
    for i in range(2):
        for j in range(3):
            own[i, j] = t * 10 + i * 3 + j
    shared = cuda.shared.array((4, 8), int32)
    total = 0.0
    for i in range(2):
        for j in range(3):
            shared[j, t] = own[i, j]
            cuda.syncthreads()
            if t > 100:
                continue
            total += shared[j, 7 - t] + own[1 - i, j]
            cuda.syncthreads()
    out[t] = total


def test_arrays_and_counters_are_kept(backend: str) -> None:
    out = np.zeros(8)
    launch(keeper, 1, 8, out, backend=backend)
    sums = [6 * 10 * t + 15 for t in range(8)]
    np.testing.assert_array_equal(out, [sums[t] + sums[7 - t] for t in range(8)])


@kernel
def three_axes(out):
    x, y, z = cuda.threadIdx.x, cuda.threadIdx.y, cuda.threadIdx.z
    cuda.syncthreads()
    i, j, k = cuda.grid(3)
    out[k, j, i] = x + 10 * y + 100 * z + 1000 * cuda.blockIdx.x + 10000 * cuda.blockIdx.y


def test_coordinates(backend: str) -> None:
    out = np.zeros((4, 9, 20), np.int64)
    Kernel(three_axes.python, backend=backend)[(4, 3, 2), (5, 3, 2)](out)
    z, y, x = np.indices(out.shape)
    inside = x % 5 + 10 * (y % 3) + 100 * (z % 2)
    np.testing.assert_array_equal(out, inside + 1000 * (x // 5) + 10000 * (y // 3))


# ---- what never ends ---------------------------------------------------------------------------


@kernel
def never(flag):
    while cuda.atomic.add(flag, 0, 0) == 0:  # nobody writes
        pass


def test_an_endless_wait_loop_is_reported(backend: str) -> None:
    with pytest.raises(DeadlockError) as raised:
        launch(never, 3, 40, np.zeros(1, np.int32), backend=backend)
    line = never.python.__code__.co_firstlineno + 2
    message = str(raised.value)
    assert "never would never end" in message
    assert (
        f"block (0, 0, 0): threads 0-39 wait in a loop for memory to change, {__file__}:{line}"
        in (message)
    )


@kernel
def half_way(flag):
    if cuda.blockIdx.x == 1 and cuda.threadIdx.x >= 4:
        while cuda.atomic.add(flag, 0, 0) == 0:
            pass
    cuda.cg.this_grid().sync()


def test_threads_that_wait_at_different_barriers_are_reported(backend: str) -> None:
    with pytest.raises(DeadlockError) as raised:
        launch(half_way, 2, 6, np.zeros(1, np.int32), backend=backend)
    message = str(raised.value)
    assert "block (1, 0, 0): threads 0-3 wait in cuda.cg.this_grid.sync" in message
    assert "block (1, 0, 0): threads 4-5 wait in a loop" in message


@kernel
def counts_in_memory(flag, seen):
    """Its variables stay what they are: what changes is memory."""
    while cuda.atomic.add(flag, 0, 1) < 2_000_000:
        pass
    seen[0] = 1


def test_a_loop_that_changes_memory_goes_on(backend: str) -> None:
    seen = np.zeros(1, np.int32)
    launch(counts_in_memory, 2, 2, np.zeros(1, np.int32), seen, backend=backend)
    assert seen[0] == 1


def test_after_a_deadlock_others_run(backend: str) -> None:
    k = Kernel(never.python, backend=backend)
    with pytest.raises(DeadlockError):
        k[3, 40](np.zeros(1, np.int32))
    k[3, 40](np.ones(1, np.int32))


# ---- the text ----------------------------------------------------------------------------------


def test_the_selected_lowering() -> None:
    assert runs_in_steps(ring, "int32[::1], int64[::1]")
    assert runs_in_steps(in_turn, "int32[::1], int64[::1]")
    assert runs_in_steps(relax, "int64[::1], int64[::1], int")
    assert not runs_in_steps(keeper, "float64[::1]")


@pytest.mark.parametrize(
    ("k", "signature"),
    [
        (ring, "int32[::1], int64[::1]"),
        (in_turn, "int32[:], int64[:]"),
        (relax, "int64[::1], int64[::1], int"),
        (keeper, "float64[::1]"),
        (three_axes, "int64[:, :, :]"),
        (never, "int32[::1]"),
    ],
)
def test_compilers_have_no_warnings(k: Any, signature: str) -> None:
    assert check_warnings(text_of(k, signature, "cpu-resumable")) == ""


# ---- memory ------------------------------------------------------------------------------------

TOO_MANY = """
import resource
import numpy as np
from pycu2c import LaunchError
from synchronization.test_coroutines import keeps_much
out = np.zeros(1)
keeps_much[2, 32](out)
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
try:
    keeps_much[4000, 256](out)
except LaunchError as error:
    print(error)
keeps_much[2, 32](out)
print(out[0])
"""


@kernel(backend="cpu")
def keeps_much(out):
    own = cuda.local.array(4096, float64)
    for i in range(4096):
        own[i] = i
    cuda.cg.this_grid().sync()
    out[0] = own[5]


@pytest.mark.slow
def test_too_little_memory_for_all_blocks() -> None:
    """What a thread keeps while it waits for the grid is there for all blocks at once."""
    command = [sys.executable, "-c", TOO_MANY]
    here = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ran = subprocess.run(command, capture_output=True, text=True, check=True, env=here)
    raised, result = ran.stdout.splitlines()
    assert "keeps_much: there is too little memory" in raised
    assert result == "5.0"
