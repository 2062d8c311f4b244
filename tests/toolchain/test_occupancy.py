"""Occupancy compared with CUDA's calculator, and the block size that is chosen from it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from pycu2c import LaunchError, cuda, float32, kernel
from pycu2c.cuda_driver import driver, kernel_api
from pycu2c.declarations.signatures import parse_signature
from pycu2c.kernels.kernel import Kernel
from pycu2c.toolchain.nvrtc import nvrtc
from pycu2c.toolchain.nvrtc.occupancy import Occupancy, best_block, occupancy
from pycu2c.toolchain.nvrtc.resource_usage import KernelAttributes
from pycu2c.toolchain.toolchain_errors import ToolchainError
from support.launching import copied


def taking(registers: int = 32, shared: int = 0, arch: str = "sm_90", most: int = 1024):
    return KernelAttributes(arch, registers, shared, 0, 0, 0, most)


@pytest.mark.parametrize(
    ("takes", "threads", "expected"),
    [  # as NVIDIA's calculator says
        (taking(32), 256, Occupancy(8, 64, 1.0, "warps")),
        (taking(32), 32, Occupancy(32, 32, 0.5, "blocks")),
        (taking(64), 256, Occupancy(4, 32, 0.5, "registers")),
        (taking(40), 192, Occupancy(8, 48, 0.75, "registers")),
        (taking(255), 1024, Occupancy(0, 0, 0.0, "registers")),
        (taking(32, 48 * 1024), 256, Occupancy(4, 32, 0.5, "shared memory")),
        (taking(32, 48 * 1024, "sm_86"), 256, Occupancy(2, 16, 1 / 3, "shared memory")),
        (taking(32, 0, "sm_75"), 256, Occupancy(4, 32, 1.0, "warps")),
        (taking(32), 100, Occupancy(16, 64, 1.0, "warps")),
    ],
)
def test_occupancy(takes, threads, expected):
    assert occupancy(takes, threads) == expected


def test_an_architecture_that_is_not_known():
    with pytest.raises(ToolchainError, match=r"the occupancy is known for sm_75.*not for sm_999"):
        occupancy(taking(arch="sm_999"), 256)


@pytest.mark.parametrize(
    ("takes", "threads"),
    [
        (taking(32), 256),
        (taking(64), 256),
        (taking(72), 128),
        (taking(255, most=256), 256),
        (taking(32, 100 * 1024), 1024),
    ],
)
def test_the_best_block(takes, threads):
    assert best_block(takes) == threads


# ---- of kernels --------------------------------------------------------------------------------


@kernel
def tiles(x, y):
    tile = cuda.shared.array(256, float32)
    i = cuda.grid(1)
    tile[cuda.threadIdx.x] = x[i]
    cuda.syncthreads()
    y[i] = tile[255 - cuda.threadIdx.x]


TYPES = "float32[::1], float32[::1]"


def test_of_a_kernel_without_a_gpu():
    result = tiles.occupancy(256, signature=TYPES, arch="sm_80")
    assert result == Occupancy(8, 64, 1.0, "warps")
    crowded = tiles.occupancy((16, 16), shared=80 * 1024, signature=TYPES, arch="sm_80")
    assert (crowded.blocks, crowded.limited_by) == (2, "shared memory")


@pytest.mark.gpu
@pytest.mark.parametrize("registers", [None, 32, 64, 128])
def test_as_the_driver_calculates(registers):
    @kernel(max_registers=registers)
    def much(x, y):
        a, b, c, d = x[0], x[1], x[2], x[3]
        e, f, g, h = x[4], x[5], x[6], x[7]
        for _ in range(100):
            a, b, c, d = a * b + h, b * c + g, c * d + f, d * a + e
            e, f, g, h = e * a + h, f * b + d, g * c + b, h * d + a
        y[0] = a + b + c + d + e + f + g + h

    for each, types in ((tiles, TYPES), (much, "float64[::1], float64[::1]")):
        takes = each.attributes(types)
        loaded = _loaded(each, types)
        assert takes.registers == loaded.registers
        assert takes.shared_bytes == loaded.static_shared
        for threads, shared in itertools.product((32, 96, 128, 256, 512, 1000), (0, 5000, 40000)):
            if threads > takes.max_threads:
                continue
            api = driver.api()
            blocks = driver.check(
                api.cuOccupancyMaxActiveBlocksPerMultiprocessor(
                    driver.check(api.cuKernelGetFunction(loaded.handle), "look"), threads, shared
                ),
                "ask",
            )
            assert occupancy(takes, threads, shared).blocks == blocks, (threads, shared)


def _loaded(each: Kernel, types: str) -> kernel_api.LoadedKernel:
    made = each.launcher.compiler.generate("cuda", parse_signature(types))
    binary = nvrtc.compile(made.text, made.entry, driver.arch(), options=each.options)
    return kernel_api.load_kernel(binary.data, binary.entry)


# ---- forall ------------------------------------------------------------------------------------


def add_one(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += cuda.blockDim.x


@pytest.mark.parametrize("n", [1, 255, 256, 1000])
def test_a_thread_for_each(target, n):
    x = np.zeros(1000, np.int32)
    Kernel(add_one, backend=target).forall(n)(x)
    threads = int(x[0])
    assert threads % 32 == 0
    covered = -(-n // threads) * threads
    assert (x[:covered] == threads).all()
    assert not x[covered:].any()


def test_one_thread_per_element_in_blocks_of_a_given_size(target):
    x = np.zeros(100, np.int32)
    declared = Kernel(add_one, backend=target, block=32)
    declared.forall(33)(x)
    assert x[63] == 32 != x[64]
    raised = copied(np.zeros(100, np.int32))
    declared.forall(33, 64, shared=128)(raised)
    assert (raised[:64] == 64).all()


def test_none_for_nothing(target):
    x = np.zeros(3, np.int32)
    Kernel(add_one, backend=target).forall(0)(x)
    assert not x.any()


def test_arguments_by_name(target):
    x = np.zeros(3, np.int32)
    Kernel(add_one, backend=target).forall(3)(x=x)
    assert x.all()


@pytest.mark.parametrize("n", [-1, 2.0, None, "3"])
def test_no_number_of_elements(n):
    with pytest.raises(LaunchError, match=r"add_one.forall takes a number of elements, not"):
        kernel(add_one).forall(n)
