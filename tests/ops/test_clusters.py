"""Clusters of blocks: errors, generated text, grids. ``synchronization/`` tests their results."""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from pycu2c import CompileError, DeadlockError, LaunchError, cuda, int32, kernel
from pycu2c.analysis.suspension_points import coroutine_loop
from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.compiler import lower
from pycu2c.cuda_driver import driver, kernel_api
from pycu2c.declarations.options import OptionError
from pycu2c.declarations.signatures import parse_signature
from pycu2c.kernels.kernel import Kernel
from pycu2c.pipeline import TARGETS
from pycu2c.runtime.cuda.cuda_kernel import CudaKernel
from pycu2c.toolchain.binary import CompiledBinary
from pycu2c.toolchain.nvrtc import nvrtc
from pycu2c.toolchain.toolchain_errors import ToolchainError
from support.c_compilers import check_warnings
from support.kernels_from_text import module_from
from support.launching import run

HEAD = "from pycu2c import cuda, device, int32, kernel\n\n\n"


# ---- the option --------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [0, 17, (4, 4, 2), (2, 2, 2, 2), "2", 2.0, (2, -1)])
def test_invalid_cluster_sizes_are_rejected(size):
    with pytest.raises(OptionError, match=r"cluster is how many blocks a cluster has, .* not "):

        @kernel(cluster=size)
        def k(a):
            pass


@kernel(cluster=(2, 3))
def marked(a):
    x, y = cuda.grid(2)
    if x < a.shape[1] and y < a.shape[0]:
        a[y, x] = cuda.cg.this_cluster().block_rank() + 1


@kernel(cluster=(2, 2, 2))
def placed(a):
    x, y, z = cuda.grid(3)
    cluster = cuda.cg.this_cluster()
    cluster.sync()
    block = cluster.block_index()
    a[z, y, x] = block.x + 2 * block.y + 4 * block.z


def test_a_cluster_has_neighbours_along_three_axes(target):
    (result,) = run(placed, ((4, 2, 4), 1), [np.zeros((4, 2, 4), np.int32)], target)
    z, y, x = np.indices(result.shape) % 2
    np.testing.assert_array_equal(result, x + 2 * y + 4 * z)


TYPES = "int32[:, ::1]"


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        ((3, 3), "marked: the grid has 3 along x, and a cluster 2, .*: launch 2 or 4 along x"),
        ((2, 4), "has 4 along y, and a cluster 3, .*: launch 3 or 6 along y"),
        (2, "has 1 along y, and a cluster 3, which does not divide it: launch 3 along y"),
    ],
)
def test_a_grid_is_a_multiple_of_the_cluster(grid, message):
    with pytest.raises(LaunchError, match=message):
        marked[grid, 8]
    with pytest.raises(LaunchError, match=message):
        Kernel(marked.python, grid=grid, options=marked.options)


def whole(shape):
    """What ``marked`` writes, with blocks of 4 x 2 threads."""
    y, x = np.indices(shape)
    return 1 + x // 4 % 2 + 2 * (y // 2 % 3)


def test_a_derived_grid_is_a_multiple_of_the_cluster(target):
    k = Kernel(marked.python, block=(4, 2), backend=target, options=marked.options)
    for shape in ((5, 9), (13, 8), (1, 1), (6, 8), (7, 1)):  # some are launched by C
        a = np.zeros(shape, np.int32)
        k(a)
        np.testing.assert_array_equal(a, whole(shape))


@kernel(cluster=(1, 2), block=1)
def down(a):
    x, y = cuda.grid(2)
    if x < a.shape[1] and y < a.shape[0]:
        a[y, x] = 1


def test_a_derived_grid_is_rejected_if_clusters_do_not_divide_it(target):
    k = Kernel(down.python, block=1, backend=target, options=down.options)
    tall = np.zeros((65_535, 1), np.uint8)
    for _ in range(4):  # by Python, and then by C
        with pytest.raises(LaunchError, match="a grid has at most 65535 along y, not 65536"):
            k(tall)
        k(tall[:3])
    assert tall.sum() == 3


@kernel(cluster=4)
def blocks_there_are(out):
    cuda.atomic.add(out, cuda.cg.this_cluster().block_rank(), 1)


@pytest.mark.parametrize(("n", "count"), [(1, 1), (32, 1), (33, 2), (64, 2), (65, 3), (0, 0)])
def test_forall_rounds_up_to_the_cluster(target, n, count):
    k = Kernel(blocks_there_are.python, backend=target, options=blocks_there_are.options)
    out = np.zeros(4, np.int32)
    k.forall(n, threads=8)(out)
    assert out.tolist() == [8 * count] * 4


def test_a_kernel_without_coroutines_runs_once(target):
    @kernel(cluster=2)
    def k(a):
        a[0] += 1

    if target != "cuda":
        a = np.zeros(1)
        Kernel(k.python, backend=target, options=k.options)(a)
        assert a[0] == 1


# ---- the text ----------------------------------------------------------------------------------


@kernel(cluster=2)
def exchange(a, out):
    tile = cuda.shared.array((4, 8), int32)
    cluster = cuda.cg.this_cluster()
    t = cuda.threadIdx.x
    theirs = cluster.map_shared_rank(tile, 1 - cluster.block_rank())
    tile[3, t] = a[cuda.grid(1)]
    cluster.sync()
    out[cuda.grid(1)] = theirs[3, t]
    cluster.sync()


def test_cuda_needs_no_header():
    text = exchange.inspect("cuda", "int32[::1], int32[::1]")
    assert "#include" not in text
    assert 'extern "C" __global__ __cluster_dims__(2, 1, 1) void exchange(' in text
    assert "    cluster_sync();\n" in text
    assert "= shared_of(tile, theirs_start0)[3][t];" in text


def test_ptx_has_clusters():
    ptx = exchange.inspect("ptx", "int32[::1], int32[::1]", arch="sm_90")
    for word in (".reqnctapercluster 2, 1, 1", "mapa.", "barrier.cluster.wait"):
        assert word in ptx


def test_older_gpus_have_no_clusters():
    message = r"exchange has cluster=\(2, 1, 1\), which requires sm_90 or newer.*backend='cpu'"
    for look in (
        exchange.attributes,
        lambda *arguments, **arch: exchange.inspect("ptx", *arguments, **arch),
    ):
        with pytest.raises(ToolchainError, match=message):
            look("int32[::1], int32[::1]", arch="sm_80")


def test_launch_bounds_and_clusters_combine():
    made = Kernel(exchange.python, options=replace(exchange.options, launch_bounds=(64,)))
    text = made.inspect("cuda", "int32[::1], int32[::1]")
    assert "__launch_bounds__(64) __cluster_dims__(2, 1, 1)" in text
    assert nvrtc.compile(text, "exchange", "sm_90", cache=False).log == ""


def in_steps(made, types):
    module = made.launcher.compiler.build(parse_signature(types)).module
    lowered = lower(module, TARGETS["cpu"], LaunchAssumptions(index32_safe=True), made.options)
    return coroutine_loop(lowered.kernel.body) is not None


def test_only_cluster_kernels_become_coroutines_on_the_cpu():
    assert in_steps(exchange, "int32[::1], int32[::1]")
    assert not in_steps(marked, TYPES)
    assert not in_steps(blocks_there_are, "int32[::1]")


def test_c_that_looks_at_other_blocks_is_taken_without_a_warning():
    assert check_warnings(exchange.inspect("c", "int32[::1], int32[::1]")) == ""


# ---- mistakes ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "code", "message"),
    [
        ("cuda.cg.this_cluster().map_shared_rank(a, 0)[0] = 1", "argument-type", "`int32[::1]`"),
        ("cuda.cg.this_cluster().map_shared_rank(2, 0)", "argument-type", "this is `int`"),
        ("cuda.cg.this_cluster().map_shared_rank(t, 2)[0, 0] = 1", "index-range", "has 2 blocks"),
        ("cuda.cg.this_cluster().map_shared_rank(t, -1)[0, 0] = 1", "index-range", "0 to 1"),
        ("cuda.cg.this_cluster().map_shared_rank(t, 0.5)[0, 0] = 1", "argument-type", "float"),
        ("u = cuda.cg.this_cluster().map_shared_rank(t, 0)\n    cuda.cg.this_cluster()"
         ".map_shared_rank(u, 1)[0, 0] = 1", "argument-type", "another block already"),
        ("cuda.cg.this_cluster().map_shared_rank(t.reshape(32), 0)[0] = 1", "argument-type",
         "reshaped array"),
        (
            "cuda.cg.this_cluster().map_shared_rank(t, 0).reshape(32)[0] = 1",
            "reshape",
            "contiguous",
        ),
        ("cuda.cg.this_cluster(2)", "argument-count", "this_cluster"),
        ("a[0] = cuda.cg.this_cluster().block_rank(1)", "argument-count", "block_rank"),
    ],
)  # fmt: skip
def test_mistakes(tmp_path, body, code, message):
    text = f"""{HEAD}@kernel("int32[::1]", cluster=2)
def k(a):
    t = cuda.shared.array((4, 8), int32)
    {body}
"""
    with pytest.raises(CompileError) as raised:
        module_from(text, tmp_path)
    assert raised.value.code == code
    assert message in str(raised.value)


def test_a_function_may_be_called_by_kernels_with_and_without(tmp_path):
    text = f"""{HEAD}@device
def rank():
    return cuda.cg.this_cluster().block_rank()


@kernel(cluster=2)
def k(a):
    a[cuda.blockIdx.x] = rank()


@kernel
def without(a):
    a[cuda.blockIdx.x] = rank()
"""
    module = module_from(text, tmp_path)
    a = np.zeros(4, np.int32)
    Kernel(module.k.python, backend="cpu", options=module.k.options)[4, 1](a)
    assert a.tolist() == [0, 1, 0, 1]
    with pytest.raises(CompileError, match=r"write @kernel\(cluster=2\)") as raised:
        module.without[4, 1](a)
    assert "return cuda.cg.this_cluster().block_rank()" in str(raised.value)
    assert "a[cuda.blockIdx.x] = rank()" in str(raised.value)


# ---- who waits where ---------------------------------------------------------------------------

ON_HOST = ("python", "cpu", "cpu-resumable")


@kernel(cluster=2)
def half_waits(a):
    cluster = cuda.cg.this_cluster()
    if cluster.block_rank() == 0:
        cluster.sync()
    else:
        while cuda.atomic.add(a, 0, 0) == 0:
            pass
    cluster.sync()


@pytest.mark.parametrize("backend", ON_HOST)
def test_a_cluster_deadlock_is_reported(backend):
    with pytest.raises(DeadlockError) as raised:
        run(half_waits, (4, 3), [np.zeros(1, np.int32)], backend)
    message = str(raised.value)
    line = half_waits.python.__code__.co_firstlineno
    assert (
        f"block (0, 0, 0): threads 0-2 wait in cuda.cg.this_cluster.sync, {__file__}:{line + 4}"
        in message
    )
    assert (
        f"block (1, 0, 0): threads 0-2 wait in a loop for memory to change, {__file__}" in message
    )
    assert "help: the cluster's barrier is passed when each thread of its blocks" in message


@kernel(cluster=2)
def two_barriers(a):
    if cuda.threadIdx.x < 2:
        cuda.syncthreads()
    else:
        cuda.cg.this_cluster().sync()
    a[cuda.grid(1)] = 1


@pytest.mark.parametrize("backend", ON_HOST)
def test_waits_at_different_barriers_are_reported(backend):
    with pytest.raises(DeadlockError) as raised:
        run(two_barriers, (2, 3), [np.zeros(6, np.int32)], backend)
    for block in (0, 1):
        assert f"block ({block}, 0, 0): threads 0-1 wait in cuda.syncthreads" in str(raised.value)
        assert f"block ({block}, 0, 0): thread 2 waits in cuda.cg.this_cluster" in str(raised.value)


@kernel(cluster=2)
def leaves_early(out):
    tile = cuda.shared.array(1, int32)
    cluster = cuda.cg.this_cluster()
    tile[0] = 1
    cluster.sync()
    if cluster.block_rank() == 1:
        out[0] = cluster.map_shared_rank(tile, 0)[0]


def test_the_reference_reports_reads_from_a_block_that_has_ended():
    with pytest.raises(RuntimeError, match=r"block \(0, 0, 0\) has ended, .* cluster.sync\(\)"):
        run(leaves_early, (2, 1), [np.zeros(1, np.int32)], "python")


# ---- the driver --------------------------------------------------------------------------------


class Code(int):
    name = "CUDA_ERROR_INVALID_CLUSTER_SIZE"


def test_a_cluster_that_does_not_fit_is_rejected(monkeypatch):
    loaded = kernel_api.LoadedKernel("handle", "library", 1024, 47 * 1024, 512, 128)
    asked = []
    monkeypatch.setattr(kernel_api, "load_kernel", lambda cubin, entry: loaded)
    monkeypatch.setattr(driver, "make_current", lambda: None)
    monkeypatch.setattr(
        driver, "api", lambda: SimpleNamespace(cuLaunchKernel=lambda *_: (Code(912),))
    )
    monkeypatch.setattr(
        kernel_api, "set_kernel_attribute", lambda kernel, name, value, doing: asked.append(doing)
    )
    monkeypatch.setattr(kernel_api, "max_coresident_blocks", lambda *arguments: 0)
    made = CudaKernel(CompiledBinary("cubin", "k", "", b"", None, ""), cluster=(4, 4, 1))
    assert asked == ["allow clusters of (4, 4, 1) blocks in k"]
    message = r"k: the device cannot run 16 blocks of a cluster, each with 64 threads and 1024"
    with pytest.raises(LaunchError, match=message):
        made.launch((4, 4, 1), (64, 1, 1), 0, None, b"")


class Record(SimpleNamespace):
    """A struct of the driver's."""

    def __init__(self):
        super().__init__(value=SimpleNamespace(clusterDim=SimpleNamespace()))


def test_the_driver_counts_clusters(monkeypatch):
    loaded = kernel_api.LoadedKernel(7, "library", 0, 47 * 1024, 512, 128)
    arguments = []
    fake = SimpleNamespace(
        CUlaunchConfig=Record,
        CUlaunchAttribute=Record,
        CUlaunchAttributeID={4: "dimension"}.get,
        CUfunction=lambda handle: ("function", handle),
        cuOccupancyMaxActiveClusters=lambda *call: arguments.append(call) or (0, 5),
    )
    monkeypatch.setattr(driver, "api", lambda: fake)
    assert kernel_api.max_coresident_blocks(loaded, (32, 2, 1), 64, (2, 1, 3)) == 30
    ((function, config),) = arguments
    (attribute,) = config.attrs
    assert function == ("function", 7)
    assert (attribute.id, attribute.value.clusterDim) == (
        "dimension",
        SimpleNamespace(x=2, y=1, z=3),
    )
    assert (config.gridDimX, config.gridDimY, config.gridDimZ) == (2, 1, 3)
    assert (config.blockDimX, config.blockDimY, config.sharedMemBytes) == (32, 2, 64)


@kernel(cluster=4)
def with_the_grid(out):
    cluster, grid = cuda.cg.this_cluster(), cuda.cg.this_grid()
    cluster.sync()
    grid.sync()
    out[cuda.blockIdx.x] = cluster.block_rank()


@pytest.mark.gpu
def test_a_gpu_schedules_clusters_together():
    out = cuda.to_device(np.zeros(40_000, np.int32))
    with_the_grid[64, 32](out)
    assert out.copy_to_host()[:64].tolist() == [0, 1, 2, 3] * 16
    with pytest.raises(
        LaunchError, match="all its 40000 blocks must run at the same time"
    ) as raised:
        with_the_grid[40_000, 32](out)
    (most,) = re.findall(r"the device runs (\d+): ", str(raised.value))
    with_the_grid[int(most), 32](out)
    assert int(most) % 4 == 0


@kernel(cluster=8)
def through_large_memory(out):
    tile = cuda.shared.array(0, int32)
    cluster, rank = cuda.cg.this_cluster(), cuda.cg.this_cluster().block_rank()
    tile[-1] = rank
    cluster.sync()
    out[cuda.blockIdx.x] += cluster.map_shared_rank(tile, 7 - rank)[-1]
    cluster.sync()


@pytest.mark.gpu
def test_a_graph_launches_clusters():
    out = cuda.to_device(np.zeros(16, np.int32))
    with cuda.graph() as graph:
        through_large_memory[16, 32, 0, 100 * 1024](out)
    graph.launch()
    graph.launch()
    cuda.synchronize()
    assert out.copy_to_host().tolist() == [2 * rank for rank in range(7, -1, -1)] * 2


def test_more_blocks_than_every_gpu_takes(target):
    @kernel(cluster=16)
    def k(out):
        tile = cuda.shared.array(1, int32)
        cluster = cuda.cg.this_cluster()
        tile[0] = cluster.block_rank()
        cluster.sync()
        out[cuda.blockIdx.x] = cluster.map_shared_rank(tile, 15 - cluster.block_rank())[0]
        cluster.sync()

    if target == "cuda" and not device_takes(16):
        with pytest.raises(LaunchError, match=r"make cluster=\(16, 1, 1\) smaller"):
            run(k, (32, 1), [np.zeros(32, np.int32)], target)
        return
    (out,) = run(k, (32, 1), [np.zeros(32, np.int32)], target)
    assert out.tolist() == [*range(15, -1, -1)] * 2


def device_takes(blocks):
    """H100, H200 and B200 do, most others not."""
    return blocks <= 8 or driver.arch() in ("sm_90", "sm_100", "sm_103")
