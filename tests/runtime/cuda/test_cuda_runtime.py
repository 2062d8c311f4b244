"""The CUDA runtime: what needs no device, then launches where there is one."""

import ctypes
import struct
import subprocess
import sys
import threading
from types import SimpleNamespace

import numpy as np
import pytest

from pycu2c.base.diagnostics import LaunchError
from pycu2c.cuda import to_device
from pycu2c.cuda_driver import driver, kernel_api
from pycu2c.runtime.arguments.arguments import describe
from pycu2c.runtime.cuda import cuda_kernel
from pycu2c.runtime.cuda.cuda_kernel import CudaKernel
from pycu2c.runtime.cuda.transfers import stage_arguments
from pycu2c.toolchain.binary import CompiledBinary
from pycu2c.toolchain.nvrtc import nvrtc

ONE = (1, 1, 1)

# ---- without a device ----------------------------------------------------------------------


def test_availability_is_returned_and_never_raised():
    assert driver.available() is not bool(driver.unavailable_reason())


def test_without_a_device_using_one_says_why(monkeypatch):
    monkeypatch.setattr(driver, "_probe", lambda: "there is no CUDA device")
    assert not driver.available()
    with pytest.raises(driver.CudaError, match="use a GPU: there is no CUDA device"):
        driver.arch()


def protocol(handle, version=0):
    return type("Stream", (), {"__cuda_stream__": lambda self: (version, handle)})()


@pytest.mark.parametrize(
    ("stream", "handle"),
    [
        (None, 0),
        (0, 0),
        (2, 2),
        (np.int64(7000), 7000),
        (protocol(7), 7),
        (SimpleNamespace(__cuda_stream__=(0, 7)), 7),  # an attribute in early cuda.core
        (SimpleNamespace(ptr=7), 7),
        (SimpleNamespace(cuda_stream=7), 7),
        (SimpleNamespace(handle=7), 7),
        (SimpleNamespace(handle=ctypes.c_void_p(7)), 7),
        (SimpleNamespace(handle=ctypes.c_void_p(None)), 0),
    ],
)
def test_streams_of_every_package_have_a_handle(stream, handle):
    assert driver.stream_of(stream) == handle


@pytest.mark.parametrize(
    ("stream", "message"),
    [
        ("main", "a stream is an int, None, or a stream object"),
        (protocol(7, version=1), "has version 1 of __cuda_stream__"),
        (SimpleNamespace(handle="seven"), "has no handle that is an int"),
    ],
)
def test_values_that_are_no_stream_are_rejected(stream, message):
    with pytest.raises(LaunchError, match=message):
        driver.stream_of(stream)


@pytest.mark.parametrize("pair", [(5, 5), (0, 1), (1, 0)])
def test_a_stream_does_not_wait_for_itself(pair, monkeypatch):
    monkeypatch.setattr(driver, "make_current", lambda: pytest.fail("the driver was asked"))
    driver.order_after(*pair)


class FakeDriver:
    """Answers launches with codes, and reads the parameters as the driver does."""

    def __init__(self, *codes):
        self.codes = list(codes)
        self.calls = []
        self.parameters = []

    def cuLaunchKernel(self, *call):
        if any(size < 0 for size in call[1:8]):
            raise OverflowError("can't convert negative value to unsigned int")
        pointer, buffer, size, count, end = (ctypes.c_size_t * 5).from_address(call[-1])
        assert (pointer, size, end) == (1, 2, 0)
        length = ctypes.c_size_t.from_address(count).value
        self.parameters.append(ctypes.string_at(buffer, length))
        self.calls.append(call)
        return (self.codes.pop(0) if self.codes else SUCCESS,)


class Code(int):
    """A CUresult: an int with a name."""

    def __new__(cls, number, name):
        code = super().__new__(cls, number)
        code.name = name
        return code


SUCCESS = Code(0, "CUDA_SUCCESS")
INVALID_VALUE = Code(1, "CUDA_ERROR_INVALID_VALUE")


@pytest.fixture
def fake_kernel(monkeypatch):
    """Makes a CudaKernel whose launches get the codes; ``contexts`` counts make_current."""

    def make(*codes, **options):
        fake = FakeDriver(*codes)
        loaded = kernel_api.LoadedKernel("handle", "library", 1024, 47 * 1024, 512, 128)
        fake.contexts, fake.allowed = [], []
        monkeypatch.setattr(kernel_api, "load_kernel", lambda cubin, entry: loaded)
        monkeypatch.setattr(driver, "api", lambda: fake)
        monkeypatch.setattr(driver, "make_current", lambda: fake.contexts.append(1))
        monkeypatch.setattr(kernel_api, "shared_limit", lambda: 227 * 1024)
        monkeypatch.setattr(driver, "_text_of", lambda code: "no good")
        monkeypatch.setattr(
            kernel_api,
            "set_kernel_attribute",
            lambda kernel, name, size, doing: fake.allowed.append(size),
        )
        monkeypatch.setattr(cuda_kernel, "_BUFFER", cuda_kernel._ThreadParameterBuffer())
        return CudaKernel(CompiledBinary("cubin", "k", "", b"", None, ""), **options), fake

    return make


class Record(SimpleNamespace):
    """A struct of the driver's."""

    def __init__(self):
        super().__init__(value=SimpleNamespace())


TOO_MANY = Code(720, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE")


def test_launch_attributes_are_flags(fake_kernel):
    kernel, fake = fake_kernel(cooperative=True, programmatic=True)
    arguments = []
    fake.CUlaunchConfig = fake.CUlaunchAttribute = Record
    fake.CUlaunchAttributeID = {2: "cooperative", 6: "programmatic"}.get
    fake.cuLaunchKernelEx = lambda *call: arguments.append(call) or (SUCCESS,)
    kernel.launch((4, 2, 1), (32, 1, 1), 64, 7000, b"it")
    ((config, handle, parameters, extra),) = arguments
    together, early = config.attrs
    assert (together.id, together.value.cooperative, config.numAttrs) == ("cooperative", 1, 2)
    assert early.id == "programmatic"
    assert early.value.programmaticStreamSerializationAllowed == 1
    assert (config.gridDimX, config.gridDimY, config.gridDimZ) == (4, 2, 1)
    assert (config.blockDimX, config.sharedMemBytes, config.hStream) == (32, 64, 7000)
    assert (handle, parameters, extra) == ("handle", 0, cuda_kernel._BUFFER.extra)


def test_too_many_blocks_for_a_cooperative_launch_are_rejected(fake_kernel, monkeypatch):
    monkeypatch.setattr(kernel_api, "launch_with_flags", lambda *call: (TOO_MANY,))
    monkeypatch.setattr(
        kernel_api, "max_coresident_blocks", lambda kernel, block, shared, cluster: 264
    )
    kernel, _ = fake_kernel(cooperative=True)
    with pytest.raises(LaunchError, match=r"all its 1000 blocks .* 64 threads .* runs 264: "):
        kernel.launch((1000, 1, 1), (64, 1, 1), 0, None, b"")


def test_parameters_reach_the_driver_unchanged(fake_kernel):
    kernel, fake = fake_kernel()
    kernel.launch((4, 2, 1), (32, 1, 1), 0, None, b"first one")
    kernel.launch(ONE, ONE, 64, 7000, b"second")
    kernel.launch(ONE, ONE, 0, None, b"")
    assert fake.parameters == [b"first one", b"second", b""]
    assert fake.calls[0][:10] == ("handle", 4, 2, 1, 32, 1, 1, 0, 0, 0)
    assert fake.calls[1][7:9] == (64, 7000)


def test_each_thread_has_its_parameters_and_enters_a_context(fake_kernel):
    kernel, fake = fake_kernel()
    kernel.launch(ONE, ONE, 0, None, b"here")
    other = threading.Thread(target=kernel.launch, args=(ONE, ONE, 0, None, b"there"))
    other.start()
    other.join()
    assert fake.parameters == [b"here", b"there"]
    assert fake.calls[0][-1] != fake.calls[1][-1]
    assert len(fake.contexts) == 2


def test_a_thread_may_lose_its_context(fake_kernel):
    """A look before each launch; what is quick is launched by C."""
    kernel, fake = fake_kernel()
    kernel.launch(ONE, ONE, 0, None, b"")
    kernel.launch(ONE, ONE, 0, None, b"")
    assert len(fake.calls) == len(fake.contexts) == 2


@pytest.mark.parametrize(
    ("grid", "block", "message"),
    [
        ((0, 1, 1), ONE, "k: a grid has 1 to 2147483647 along x, not 0"),
        ((1, -2, 1), ONE, "k: a grid has 1 to 65535 along y, not -2"),
        (ONE, (1, 1, 65), "k: a block has 1 to 64 along z, not 65"),
        (ONE, (1024, 1, 1), "k: a block has 1024 threads; with 128 registers each"),
    ],
)
def test_a_launch_that_cannot_run_raises(fake_kernel, grid, block, message):
    kernel, _ = fake_kernel(INVALID_VALUE)
    with pytest.raises(LaunchError, match=message):
        kernel.launch(grid, block, 0, None, b"")


def test_other_failures_are_the_drivers(fake_kernel):
    kernel, _ = fake_kernel(INVALID_VALUE)
    with pytest.raises(driver.CudaError, match=r"launch k on grid .*: no good") as caught:
        kernel.launch(ONE, ONE, 0, None, b"")
    assert caught.value.name == "CUDA_ERROR_INVALID_VALUE"


def test_much_shared_memory_is_asked_for_once(fake_kernel):
    kernel, fake = fake_kernel()
    for size in (47 * 1024, 100 * 1024, 90 * 1024):
        kernel.launch(ONE, ONE, size, None, b"")
    assert fake.allowed == [100 * 1024]
    with pytest.raises(LaunchError, match=r"k needs 232449 bytes .* the device has 232448"):
        kernel.launch(ONE, ONE, 226 * 1024 + 1, None, b"")


# ---- on a device ---------------------------------------------------------------------------

SAXPY = """\
extern "C" __global__ void saxpy(float *out, const float *x, const float *y, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = a * x[i] + y[i];
}
"""

SHIFT = """\
extern "C" __global__ void shift(const double *from, double *to)
{
    double mine = from[threadIdx.x];
    __syncthreads();
    to[threadIdx.x] = mine;
}
"""

REVERSE = """\
extern "C" __global__ void reverse(int *x, int n)
{
    extern __shared__ int copy[];
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        copy[i] = x[i];
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        x[i] = copy[n - 1 - i];
}
"""

WILD = """\
extern "C" __global__ void wild(float *x, long long far)
{
    x[far] = 1.0f;
}
"""


def loaded(text, entry):
    return CudaKernel(nvrtc.compile(text, entry, driver.arch(), cache=False))


@pytest.mark.gpu
def test_saxpy_on_numpy_arrays():
    n = 1000
    x, y = np.arange(n, dtype=np.float32), np.ones(n, np.float32)
    out = np.zeros(n, np.float32)
    with stage_arguments([describe(a) for a in (out, x, y)], {0}, 0, "saxpy") as addresses:
        packed = struct.pack("@PPPfi", *addresses, 2.0, n)
        loaded(SAXPY, "saxpy").launch((4, 1, 1), (256, 1, 1), 0, None, packed)
    np.testing.assert_array_equal(out, 2 * x + y)


@pytest.mark.gpu
def test_device_arrays_are_used_in_place():
    n = 256
    x = to_device(np.arange(n, dtype=np.float32))
    out = to_device(np.zeros(n, np.float32))
    arguments = [describe(a) for a in (out, x, x)]
    with stage_arguments(arguments, {0}, 0, "saxpy") as addresses:
        assert addresses == (out.address, x.address, x.address)
        packed = struct.pack("@PPPfi", *addresses, 2.0, n)
        loaded(SAXPY, "saxpy").launch(ONE, (n, 1, 1), 0, None, packed)
    np.testing.assert_array_equal(out.copy_to_host(), 3 * np.arange(n))


@pytest.mark.gpu
def test_a_device_array_is_copied_back_unchanged():
    for values in (np.arange(24.0).reshape(2, 3, 4)[:, ::-1], np.zeros((0, 3)), np.float32(3)):
        array = to_device(values)
        assert array.shape == np.shape(values)
        np.testing.assert_array_equal(array.copy_to_host(), values)


@pytest.mark.gpu
def test_overlapping_views_stay_aliased():
    base = np.arange(9.0)
    arguments = [describe(base[:8]), describe(base[1:])]
    with stage_arguments(arguments, {1}, 0, "shift") as addresses:
        packed = struct.pack("@PP", *addresses)
        loaded(SHIFT, "shift").launch(ONE, (8, 1, 1), 0, None, packed)
    assert base.tolist() == [0, 0, 1, 2, 3, 4, 5, 6, 7]


@pytest.mark.gpu
def test_more_than_48_kb_of_shared_memory():
    n = 15 * 1024  # 60 KB: every device since sm_75 has 64
    x = np.arange(n, dtype=np.int32)
    kernel = loaded(REVERSE, "reverse")
    with stage_arguments([describe(x)], {0}, 0, "reverse") as addresses:
        packed = struct.pack("@Pi", *addresses, n)
        kernel.launch(ONE, (256, 1, 1), 4 * n, None, packed)
    np.testing.assert_array_equal(x, np.arange(n)[::-1])
    with pytest.raises(LaunchError, match="shared memory"):
        kernel.launch(ONE, ONE, 2**20, None, packed)


@pytest.mark.gpu
@pytest.mark.parametrize("attribute", ["raw", "ptr", "cuda_stream", "handle", "__cuda_stream__"])
def test_launches_use_the_given_stream(attribute):
    driver.make_current()
    api = driver.api()
    made = driver.check(api.cuStreamCreate(int(api.CUstream_flags.CU_STREAM_NON_BLOCKING)), "make")
    handle = int(made)
    value = (0, handle) if attribute == "__cuda_stream__" else handle
    stream = handle if attribute == "raw" else SimpleNamespace(**{attribute: value})
    x = np.arange(8, dtype=np.float32)
    with stage_arguments([describe(x)] * 3, {0}, handle, "saxpy") as addresses:
        packed = struct.pack("@PPPfi", *addresses, 1.0, 8)
        loaded(SAXPY, "saxpy").launch(ONE, (8, 1, 1), 0, stream, packed)
    driver.check(api.cuStreamDestroy(made), "destroy")
    np.testing.assert_array_equal(x, 2 * np.arange(8))


@pytest.mark.gpu
def test_a_stream_waits_for_another():
    driver.make_current()
    api = driver.api()
    flags = int(api.CUstream_flags.CU_STREAM_NON_BLOCKING)
    streams = [driver.check(api.cuStreamCreate(flags), "make") for _ in range(2)]
    driver.order_after(int(streams[0]), int(streams[1]))
    for stream in streams:
        driver.synchronize(int(stream))
        driver.check(api.cuStreamDestroy(stream), "destroy")


@pytest.mark.gpu
@pytest.mark.parametrize(
    ("grid", "block", "message"),
    [
        ((0, 1, 1), ONE, "a grid has 1 to"),
        ((1, -1, 1), ONE, "a grid has 1 to"),
        (ONE, (32, 64, 1), "a block has 2048 threads"),
    ],
)
def test_the_device_rejects_launches_that_cannot_run(grid, block, message):
    with pytest.raises(LaunchError, match=message):
        loaded(SAXPY, "saxpy").launch(grid, block, 0, None, struct.pack("@PPPfi", 0, 0, 0, 0, 0))


@pytest.mark.gpu
def test_another_thread_can_launch():
    x = np.arange(8, dtype=np.float32)
    kernel = loaded(SAXPY, "saxpy")

    def run():
        driver.make_current()
        with stage_arguments([describe(x)] * 3, {0}, 0, "saxpy") as addresses:
            packed = struct.pack("@PPPfi", *addresses, 1.0, 8)
            kernel.launch(ONE, (8, 1, 1), 0, None, packed)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    np.testing.assert_array_equal(x, 2 * np.arange(8))


@pytest.mark.gpu
@pytest.mark.faulty
def test_a_failed_kernel_is_named():
    program = f"""
import struct, numpy as np
from pycu2c.cuda_driver import driver
from pycu2c.runtime.arguments.arguments import describe
from pycu2c.runtime.cuda.cuda_kernel import CudaKernel
from pycu2c.runtime.cuda.transfers import stage_arguments
from pycu2c.toolchain.nvrtc import nvrtc
kernel = CudaKernel(nvrtc.compile({WILD!r}, "wild", driver.arch(), cache=False))
with stage_arguments([describe(np.zeros(4, np.float32))], {{0}}, 0, "wild") as addresses:
    kernel.launch((1, 1, 1), (1, 1, 1), 0, None, struct.pack("@Pq", *addresses, 2**45))
"""  # in a process of its own: nothing works in one after such a failure
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 1
    assert "IllegalAddressError: run wild: " in done.stderr
    assert "Launched last: wild." in done.stderr
    assert "CUDA_ERROR_ILLEGAL_ADDRESS" in done.stderr
