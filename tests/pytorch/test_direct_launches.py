"""Launches on tensors of PyTorch: how they are read, what is rejected, and torch.compile."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch._subclasses import FakeTensorMode

from pycu2c import LaunchError, LaunchWarning, cuda, kernel
from pycu2c.kernels.kernel import Kernel
from pycu2c.runtime.arguments.arguments import describe
from support.launching import leaks

pytestmark = pytest.mark.slow


def doubled(out, a):  # type: ignore[no-untyped-def]
    i = cuda.grid(1)
    if i < len(out):
        out[i] = a[i] * 2


@pytest.fixture
def double(device: torch.device) -> Kernel[Any]:
    """A kernel for the device, for which nothing is compiled or recorded yet."""
    return kernel(backend=device.type)(doubled)


def missed(double: Kernel[Any], monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Return a list that grows with each launch that misses the dispatch table."""
    slow: list[object] = []
    launch = double.launcher.launch

    def recorded(*arguments: Any) -> None:
        slow.append(arguments)
        launch(*arguments)

    monkeypatch.setattr(double.launcher, "launch", recorded)
    return slow


NUMBERS = [
    *(torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint16, torch.uint32),
    *(torch.uint64, torch.float16, torch.bfloat16, torch.float32, torch.float64),
    *(torch.complex64, torch.complex128),
]


@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
def test_dtypes(double: Kernel[Any], device: torch.device, dtype: torch.dtype) -> None:
    for n in (4, 5, 6, 7):
        a = torch.arange(n).to(dtype).to(device)
        out = torch.zeros_like(a)
        double[1, 32](out, a)
        assert out.tolist() == [2 * i for i in range(n)]


def test_later_launches_are_dispatched(
    double: Kernel[Any], device: torch.device, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = missed(double, monkeypatch)
    for n in range(1, 9):
        a, out = torch.ones(n, device=device), torch.zeros(n, device=device)
        double[1, 32](out, a)
        assert out.tolist() == [2.0] * n
    assert len(slow) == 2


@pytest.mark.parametrize(
    "view",
    [
        lambda t: t[::2],
        lambda t: t[3:],
        lambda t: t.view(4, 4)[:, 1],
        lambda t: t[:1].expand(8),
        lambda t: t[:0],
        lambda t: t.double(),
        lambda t: t.int(),
        lambda t: torch.nn.Parameter(t, requires_grad=False),
    ],
)
def test_tensors_that_differ(
    double: Kernel[Any], device: torch.device, view: Callable[[Any], Any]
) -> None:
    whole, out = torch.arange(16.0, device=device), torch.zeros(16, device=device)
    for _ in range(3):
        double[1, 32](out, whole)
    for _ in range(3):
        part = view(whole)
        result = torch.zeros(len(part), device=device, dtype=part.dtype)
        double[1, 32](result, part)
        assert result.tolist() == (part * 2).tolist()


def test_tensors_keep_their_entries_without_gradients(
    double: Kernel[Any], device: torch.device, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = missed(double, monkeypatch)
    a, out = torch.ones(4, device=device), torch.zeros(4, device=device)
    weight = torch.ones(4, device=device, requires_grad=True)
    for _ in range(3):
        double[1, 32](out, a)
    assert len(slow) == 2
    with pytest.raises(LaunchError, match="requires grad"):
        double[1, 32](out, weight)
    with torch.no_grad():
        double[1, 32](out, weight)
        double[1, 32](weight, a)
    assert len(slow) == 3
    assert weight.tolist() == [2.0] * 4
    with torch.inference_mode():
        double[1, 32](out, torch.ones(4, device=device))
    assert len(slow) == 3


def test_a_lazy_negative_misses_the_entry_of_real_numbers(
    double: Kernel[Any], device: torch.device
) -> None:
    """The imaginary part of a conjugate has the memory of the tensor, with other signs."""
    values = torch.complex(torch.zeros(4), torch.ones(4)).to(device)
    out = torch.zeros(4, device=device)
    for part in (values.imag, values.imag[:1]):
        for _ in range(3):
            double[1, 32](out[: len(part)], part)
    for part in (values.conj().imag, values.conj().imag[:1]):
        with pytest.raises(LaunchError, match=r"lazy negative: pass what \.resolve_neg\(\)"):
            double[1, 32](out[: len(part)], part)


def test_a_lazy_conjugate_misses_the_entry_of_complex_numbers(
    double: Kernel[Any], device: torch.device
) -> None:
    values = torch.complex(torch.zeros(4), torch.ones(4)).to(device)
    out = torch.zeros_like(values)
    for _ in range(3):
        double[1, 32](out, values)
    with pytest.raises(LaunchError, match=r"lazy conjugate: pass what \.resolve_conj\(\)"):
        double[1, 32](out, values.conj())


def without_memory() -> torch.Tensor:
    with FakeTensorMode():
        return torch.empty(4)


REJECTED: dict[str, tuple[Callable[[], Any], str]] = {
    "gradient": (lambda: torch.ones(4, requires_grad=True), r"torch\.op\(…, backward=…\)"),
    "sparse": (lambda: torch.ones(4).to_sparse(), "is a sparse or nested tensor"),
    "nested": (lambda: torch.nested.nested_tensor([torch.ones(2)]), "is a sparse or nested"),
    "meta": (lambda: torch.empty(4, device="meta"), "is on the device meta"),
    "fake": (without_memory, r"a FakeTensor without memory of its own.*pycu2c\.torch\.op"),
    "quantized": (lambda: torch.quantize_per_tensor(torch.ones(4), 1, 0, torch.quint8), "quint8"),
    "float8": (lambda: torch.ones(4).to(torch.float8_e5m2), "has dtype torch.float8_e5m2"),
    "zeros": (lambda: torch._efficientzerotensor((4,)), "without memory of its own"),
}


@pytest.mark.filterwarnings("ignore")  # of nested and quantized tensors, which are prototypes
@pytest.mark.parametrize("case", REJECTED)
def test_tensors_that_are_rejected(case: str) -> None:
    make, message = REJECTED[case]
    double = kernel(backend="cpu")(doubled)
    out = torch.zeros(4)
    for _ in range(3):
        double[1, 32](out, torch.ones(4))
    with pytest.raises(LaunchError, match=message):
        double[1, 32](out, make())


@pytest.mark.parametrize(
    "transform",
    [
        lambda f, x: torch.func.grad(lambda y: f(y).sum())(x),
        lambda f, x: torch.vmap(f)(x[None]),
        lambda f, x: torch.func.functionalize(f)(x),
    ],
)
def test_transformations_are_rejected(transform: Callable[..., Any]) -> None:
    double = kernel(backend="cpu")(doubled)
    out = torch.zeros(4)

    def f(x: torch.Tensor) -> torch.Tensor:
        double[1, 32](out, x)
        return x

    for _ in range(3):
        f(torch.ones(4))
    with pytest.raises(LaunchError, match=r"make an operator of the kernel with pycu2c\.torch\.op"):
        transform(f, torch.ones(4))


def test_vectors_of_a_signature(device: torch.device) -> None:
    @kernel("float4[:]", backend=device.type)
    def set_w(a):  # type: ignore[no-untyped-def]
        i = cuda.grid(1)
        if i < len(a):
            a[i].w = 5

    rows = torch.zeros(3, 4, device=device)
    set_w[1, 32](rows)
    assert rows[:, 3].tolist() == [5, 5, 5]
    with pytest.raises(LaunchError, match="requires grad"):
        set_w[1, 32](rows.requires_grad_())


def test_nothing_leaks(double: Kernel[Any], device: torch.device) -> None:
    a, other = torch.ones(4, device=device), torch.ones(4, device=device, requires_grad=True)
    out = torch.zeros(4, device=device)
    for _ in range(3):
        double[1, 32](out, a)
    assert describe(a) is not None

    def launch() -> None:
        double[1, 32](out, a)
        with pytest.raises(LaunchError):
            double[1, 32](out, other)

    assert not leaks(launch, 300, 100)


# ---- torch.compile ---------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["subscript", "configured", "called", "forall"])
def test_a_launch_breaks_the_graph_of_torch_compile(device: torch.device, form: str) -> None:
    double = kernel(backend=device.type, grid=1, block=32)(doubled)
    launches = {
        "subscript": lambda out, x: double[1, 32](out, x),
        "configured": double[1, 32],
        "called": double,
        "forall": lambda out, x: kernel(backend=device.type)(doubled).forall(4)(out, x),
    }
    launch = launches[form]

    def f(x: torch.Tensor) -> torch.Tensor:
        out = torch.empty_like(x)
        launch(out, x + 1)
        return out + 1

    torch._dynamo.reset()
    compiled = torch.compile(f, backend="eager")
    with pytest.warns(LaunchWarning, match=r"breaks its graph: call .* pycu2c\.torch\.op") as seen:
        assert compiled(torch.ones(4, device=device)).tolist() == [5.0] * 4
    assert {warning.filename for warning in seen} == {__file__}
    if form != "forall":  # which defines a new kernel
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compiled(torch.ones(4, device=device))
        assert compiled(torch.ones(4, device=device)).tolist() == [5.0] * 4
