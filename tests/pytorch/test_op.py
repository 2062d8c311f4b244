"""``pycu2c.torch.op``: an operator of a kernel in every way in which PyTorch calls operators."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from pycu2c import LaunchError, cuda, float32, int32, kernel
from pycu2c.native.extension import recent_kernels
from pycu2c.torch import op

# of PyTorch itself, when it compiles
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::DeprecationWarning:torch")]

Tensor = torch.Tensor


@kernel(block=64)
def saxpy(out, x: Tensor, y: Tensor, a: float = 2.0):  # type: ignore[no-untyped-def]
    i = cuda.grid(1)
    if i < len(out):
        out[i] = a * x[i] + y[i]


@kernel(block=64)
def product(z, x: Tensor, y: Tensor):  # type: ignore[no-untyped-def]
    i = cuda.grid(1)
    if i < len(z):
        z[i] = x[i] * y[i]


@kernel(block=64)
def product_backward(grad_x, grad_y, grad_z: Tensor, x: Tensor, y: Tensor):  # type: ignore[no-untyped-def]
    i = cuda.grid(1)
    if i < len(grad_x):
        grad_x[i] = grad_z[i] * y[i]
        grad_y[i] = grad_z[i] * x[i]


@kernel(block=(8, 8))
def matmul(c, a: Tensor, b: Tensor):  # type: ignore[no-untyped-def]
    j, i = cuda.grid(2)
    if i < c.shape[0] and j < c.shape[1]:
        total = c.dtype.type(0)
        for k in range(a.shape[1]):
            total += a[i, k] * b[k, j]
        c[i, j] = total


@kernel(block=64)
def scale(x: Tensor, factor: float):  # type: ignore[no-untyped-def]
    i = cuda.grid(1)
    if i < len(x):
        x[i] *= factor


@kernel(block=64)
def count(bins, x: Tensor):  # type: ignore[no-untyped-def]
    i = cuda.grid(1)
    if i < len(x):
        cuda.atomic.add(bins, x[i], 1)


@kernel(block=64)
def masked(out, x: Tensor, mask: Tensor | None = None, flip: bool = False, n: int = 3):  # type: ignore[no-untyped-def]
    i = cuda.grid(1)
    if i < len(out):
        factor = -n if flip else n
        if mask is None:
            out[i] = x[i] * factor
        else:
            out[i] = x[i] * factor * mask[i]


NAMES = (f"pycu2c_tests::op{i}" for i in itertools.count())


@pytest.fixture(autouse=True)
def fresh_compilers() -> None:
    torch._dynamo.reset()


def product_op() -> Any:
    gradients = op(product_backward, next(NAMES), out={"grad_x": "x", "grad_y": "y"})
    return op(product, next(NAMES), out={"z": "x"}, backward=gradients)


def histogram_op() -> Any:
    def bins(x: Tensor) -> Tensor:
        return torch.zeros(4, dtype=torch.int64, device=x.device)

    return op(count, next(NAMES), out={"bins": bins})


def saxpy_op(**options: Any) -> Any:
    def backward(grad_out: Tensor, a: float) -> tuple[Tensor, Tensor]:
        return grad_out * a, grad_out

    return op(saxpy, next(NAMES), out={"out": "x"}, backward=backward, **options)


def matmul_op(**options: Any) -> Any:
    return op(
        matmul,
        next(NAMES),
        out={"c": lambda a, b: ((a.shape[0], b.shape[1]), a.dtype)},
        grid=lambda a, b: (-(-b.shape[1] // 8), -(-a.shape[0] // 8)),
        **options,
    )


# ---- calls -----------------------------------------------------------------------------------


def test_an_operator_allocates_its_output(device: torch.device) -> None:
    f = saxpy_op()
    for n in (1, 5, 100):
        x, y = torch.arange(float(n), device=device), torch.ones(n, device=device)
        for result in (f(x, y), f(x, y, 2.0), f(x=x, y=y, a=2.0)):
            assert result.device == x.device
            assert torch.equal(result, 2 * x + y)
        assert torch.equal(f(x, y, 3.0), 3 * x + y)


def test_a_function_gives_shape_dtype_and_grid(device: torch.device) -> None:
    f = matmul_op()
    a = torch.arange(35.0, device=device).view(5, 7)
    b = torch.arange(21.0, device=device).view(3, 7)
    for _ in range(3):
        assert torch.equal(f(a, b.T), a @ b.T)
    assert f(a[:0], b.T).shape == (0, 3)  # its grid has no blocks


def test_a_function_gives_a_new_tensor(device: torch.device) -> None:
    f = histogram_op()
    for _ in range(3):
        assert f(torch.tensor([0, 3, 3, 1], device=device)).tolist() == [1, 1, 0, 2]


def test_an_argument_is_no_output() -> None:
    f = op(saxpy, next(NAMES), out={"out": lambda x, y, a: y})
    with pytest.raises(ValueError, match="a rule of out= returned an argument"):
        f(torch.ones(3), torch.ones(3))


@pytest.mark.parametrize("result", ["x", (3,), ((3,), "float32"), None])
def test_a_rule_returns_a_shape_and_a_dtype(result: Any) -> None:
    f = op(saxpy, next(NAMES), out={"out": lambda x, y, a: result})
    with pytest.raises(TypeError, match=r"a rule of out= returned .* a new tensor, or a shape and"):
        f(torch.ones(3), torch.ones(3))


def test_several_outputs(device: torch.device) -> None:
    f = op(product_backward, next(NAMES), out={"grad_y": "y", "grad_x": "x"})
    g, x, y = (torch.full((3,), n, device=device) for n in (2.0, 3.0, 5.0))
    grad_y, grad_x = f(g, x, y)  # in the order of `out`
    assert (grad_x.tolist(), grad_y.tolist()) == ([10.0] * 3, [6.0] * 3)


def test_optional_and_default_arguments(device: torch.device) -> None:
    f = op(masked, next(NAMES), out={"out": "x"})
    assert str(f._schema).partition("(")[2] == (
        "Tensor x, Tensor? mask=None, bool flip=False, SymInt n=3) -> Tensor"
    )
    x, mask = torch.ones(3, device=device), torch.tensor([0.0, 1.0, 2.0], device=device)
    assert f(x).tolist() == [3.0] * 3
    assert f(x, mask).tolist() == [0.0, 3.0, 6.0]
    assert f(x, None, True).tolist() == [-3.0] * 3
    assert f(x, n=5).tolist() == [5.0] * 3


def test_the_block_and_the_grid_of_the_operator(device: torch.device) -> None:
    @kernel
    def where(out, x: Tensor):  # type: ignore[no-untyped-def]
        i = cuda.grid(1)
        if i < len(out):
            out[i] = cuda.blockDim.x * 100 + cuda.gridDim.x

    x = torch.zeros(40, dtype=torch.int64, device=device)
    for options, expected in (
        ({"block": 16}, 1603),
        ({"block": 16, "grid": 5}, 1605),
        ({"block": lambda x: 32, "grid": lambda x: [4]}, 3204),
        ({"block": (8,), "grid": lambda x: (len(x),)}, 840),
    ):
        f = op(where, next(NAMES), out={"out": "x"}, **options)
        for _ in range(3):
            assert f(x).tolist() == [expected] * 40


def test_a_grid_of_zero_launches_nothing() -> None:
    f, x = op(scale, next(NAMES), grid=0), torch.ones(3)
    f(x, 2.0)
    assert x.tolist() == [1, 1, 1]


def test_a_declared_signature(device: torch.device) -> None:
    @kernel("void(float32[:], float32[:], int32, float32)", block=32)
    def by_text(out, x, n, a):  # type: ignore[no-untyped-def]
        i = cuda.grid(1)
        if i < n:
            out[i] = x[i] * a

    @kernel(block=32)
    def by_annotations(out: float32[:], x: float32[:], n: int32, a: float32):  # type: ignore[no-untyped-def]
        i = cuda.grid(1)
        if i < n:
            out[i] = x[i] * a

    x = torch.ones(5, device=device)
    for k in (by_text, by_annotations):
        f = op(k, next(NAMES), out={"out": "x"})
        assert str(f._schema).partition("(")[2] == "Tensor x, SymInt n, float a) -> Tensor"
        assert f(x, 5, 3.0).tolist() == [3.0] * 5
        assert str(op(k, next(NAMES))._schema).partition("(")[2].startswith("Tensor(a0!) out, ")


def test_cpu_tensors_stay_on_the_cpu() -> None:
    """A launch of a kernel with the default back end copies them to a GPU, if there is one."""

    @kernel(block=32)
    def on_cpu_alone(out, x: Tensor):  # type: ignore[no-untyped-def]
        i = cuda.grid(1)
        if i < len(x):
            out[i] = x[i]

    f = op(on_cpu_alone, next(NAMES), out={"out": "x"})
    for _ in range(5):
        assert f(torch.ones(1)).tolist() == [1.0]
    assert "on_cpu_alone" not in recent_kernels()


def test_an_operator_is_defined_anew(device: torch.device) -> None:
    name, x = next(NAMES), torch.ones(3, device=device)
    assert op(saxpy, name, out={"out": "x"})(x, x).tolist() == [3.0] * 3
    assert op(product, name, out={"z": "x"})(x, x).tolist() == [1.0] * 3
    assert torch.ops.pycu2c_tests.op0 is not None


# ---- operators that write in place -------------------------------------------------------------


def test_an_operator_writes_in_place(device: torch.device) -> None:
    f = op(scale, next(NAMES))
    x = torch.ones(4, device=device)
    version = x._version
    for k in range(1, 4):
        assert f(x, 2.0) is None
        assert x.tolist() == [2.0**k] * 4
        assert x._version == version + k
    strided = torch.ones(4, 2, device=device)
    f(strided[:, 1], 3.0)
    assert strided.tolist() == [[1.0, 3.0]] * 4


def test_a_tensor_that_is_written_may_be_left_out(device: torch.device) -> None:
    @kernel(block=64)
    def save(out, x: Tensor, state: Tensor | None = None):  # type: ignore[no-untyped-def]
        i = cuda.grid(1)
        if i < len(out):
            out[i] = x[i] * 2
            if state is not None:
                state[i] = x[i]

    f = op(save, next(NAMES), out={"out": "x"})
    x, state = torch.ones(2, 3, device=device), torch.zeros(2, 3, device=device)
    for arguments in ((x[0],), (x[0], state[0])):
        assert f(*arguments).tolist() == [2.0] * 3
        assert torch.vmap(f)(*(a[None] for a in arguments)).tolist() == [[2.0] * 3]
    assert state.tolist() == [[1.0] * 3, [0.0] * 3]


def test_autograd_finds_that_a_saved_tensor_was_changed(device: torch.device) -> None:
    f = op(scale, next(NAMES))
    x = torch.ones(4, device=device, requires_grad=True)
    y = x * 2
    z = y * y
    f(y.detach(), 2.0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


def test_what_is_written_must_be_declared(device: torch.device) -> None:
    """Without a signature, only assignments in the text of the kernel are known."""
    x, bins = torch.tensor([1, 1], device=device), torch.zeros(2, dtype=torch.int64, device=device)

    @kernel(block=32)
    def counts(bins: Tensor, x: Tensor):  # type: ignore[no-untyped-def]
        if cuda.grid(1) < len(x):
            cuda.atomic.add(bins, x[cuda.grid(1)], 1)

    f = op(counts, next(NAMES))
    with pytest.raises(LaunchError, match=r"counts writes bins, and .* name it in mutates_args="):
        f(bins, x)
    op(counts, next(NAMES), mutates_args=["bins"])(bins, x)
    assert bins.tolist() == [0, 2]


def test_in_place_operators_have_no_gradient(device: torch.device) -> None:
    f = op(scale, next(NAMES))
    x = torch.ones(4, device=device, requires_grad=True)
    with pytest.raises(RuntimeError, match="writes x in place, which records no gradient"):
        f(x, 2.0)
    with torch.no_grad():
        f(x, 2.0)
    assert x.tolist() == [2.0] * 4


# ---- autograd ----------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [saxpy_op, product_op, lambda: matmul_op(backward=matmul_grads)])
def test_gradients(device: torch.device, make: Callable[[], Any]) -> None:
    shape = (3, 3) if "matmul" in str(make) or make not in (saxpy_op, product_op) else (4,)
    inputs = [torch.rand(shape, dtype=torch.float64, device=device) for _ in range(2)]
    inputs[0].requires_grad_()
    inputs[1].requires_grad_()
    assert torch.autograd.gradcheck(make(), inputs)


def matmul_grads(grad_c: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    return grad_c @ b.T, a.T @ grad_c


def test_outputs_are_saved(device: torch.device) -> None:
    @kernel(block=64)
    def root(y, x: Tensor):  # type: ignore[no-untyped-def]
        i = cuda.grid(1)
        if i < len(y):
            y[i] = x[i] ** 0.5

    f = op(root, next(NAMES), out={"y": "x"}, backward=lambda y, grad_y: grad_y / (2 * y))
    x = torch.rand(4, dtype=torch.float64, device=device) + 1
    assert torch.autograd.gradcheck(f, [x.requires_grad_()])
    assert torch.autograd.gradgradcheck(f, [x])


def test_tensors_without_a_gradient(device: torch.device) -> None:
    f = op(
        masked,
        next(NAMES),
        out={"out": "x"},
        backward=lambda grad_out, n, flip, mask: (grad_out * n, None),
    )
    x = torch.ones(3, device=device, requires_grad=True)
    f(x, n=5).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [5.0] * 3


def test_an_operator_without_backward(device: torch.device) -> None:
    f = op(saxpy, next(NAMES), out={"out": "x"})
    x = torch.ones(3, device=device, requires_grad=True)
    result = f(x, x)
    assert result.tolist() == [3.0] * 3
    with pytest.raises(NotImplementedError, match="has no gradient: pass backward="):
        result.sum().backward()
    with torch.no_grad():
        assert not f(x, x).requires_grad
    assert not histogram_op()(torch.tensor([1], device=device)).requires_grad


def test_backward_must_return_a_gradient_for_each_tensor(device: torch.device) -> None:
    f = op(saxpy, next(NAMES), out={"out": "x"}, backward=lambda grad_out: grad_out)
    x = torch.ones(3, device=device, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"returned 1 gradients: .* each tensor \(x, y\)"):
        f(x, x).sum().backward()


# ---- transformations -----------------------------------------------------------------------------


def operators() -> dict[str, Callable[[torch.device], tuple[Any, tuple[Any, ...]]]]:
    """Return an operator and arguments of each kind."""

    def rand(device: torch.device, *shape: int) -> Tensor:
        return torch.rand(*shape, device=device)

    return {
        "like": lambda d: (saxpy_op(), (rand(d, 5).requires_grad_(), rand(d, 5), 3.0)),
        "defaults": lambda d: (saxpy_op(), (rand(d, 5), rand(d, 5))),
        "operator as backward": lambda d: (
            product_op(),
            (rand(d, 5).requires_grad_(), rand(d, 5).requires_grad_()),
        ),
        "function": lambda d: (matmul_op(), (rand(d, 3, 4), rand(d, 4, 2))),
        "tensor": lambda d: (histogram_op(), (torch.tensor([0, 1, 3], device=d),)),
        "in place": lambda d: (op(scale, next(NAMES)), (rand(d, 5), 2.0)),
        "optional": lambda d: (op(masked, next(NAMES), out={"out": "x"}), (rand(d, 5),)),
    }


@pytest.mark.parametrize("case", operators())
def test_pytorchs_check_of_operators(device: torch.device, case: str) -> None:
    f, arguments = operators()[case](device)
    torch.library.opcheck(f, arguments)


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_torch_compile(device: torch.device, backend: str) -> None:
    f, g = saxpy_op(), op(scale, next(NAMES))

    def model(x: Tensor, y: Tensor) -> Tensor:
        z = f(x * 2, y, 3.0) + 1
        state = torch.ones_like(z)
        g(state, 5.0)
        return z * state

    compiled = torch.compile(model, fullgraph=True, backend=backend)
    x, y = torch.rand(5, device=device, requires_grad=True), torch.rand(5, device=device)
    result = compiled(x, y)
    assert torch.allclose(result, 5 * (6 * x + y + 1))
    result.sum().backward()
    assert x.grad is not None
    assert torch.allclose(x.grad, torch.full_like(x, 30))


def test_torch_compile_with_dynamic_shapes(device: torch.device) -> None:
    f = matmul_op(backward=matmul_grads)
    compiled = torch.compile(f, fullgraph=True, backend="aot_eager", dynamic=True)
    for n in (3, 9, 17):
        a = torch.rand(n, 4, device=device, requires_grad=True)
        b = torch.rand(4, n + 1, device=device)
        result = compiled(a, b)
        assert torch.allclose(result, a @ b)
        result.sum().backward()


def test_export(device: torch.device) -> None:
    f = saxpy_op()

    class Model(torch.nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return f(x, x + 1, 3.0)

    x = torch.rand(4, device=device)
    exported = torch.export.export(Model(), (x,)).module()
    assert torch.allclose(exported(x), 4 * x + 1)


def test_vmap(device: torch.device) -> None:
    f, g = saxpy_op(), op(product_backward, next(NAMES), out={"grad_x": "x", "grad_y": "y"})
    x = torch.rand(3, 5, device=device, requires_grad=True)
    y = torch.rand(5, 3, device=device)
    result = torch.vmap(f, in_dims=(0, 1, None))(x, y, 3.0)
    assert torch.allclose(result, 3 * x + y.T)
    result.sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [[3.0] * 5] * 3
    first, second = torch.vmap(g, in_dims=(None, 0, 1))(y[:, 0], x.detach(), y)
    assert torch.allclose(first, y[:, 0] * y.T)
    assert torch.allclose(second, y[:, 0] * x)


def test_vmap_over_no_items(device: torch.device) -> None:
    f, g = matmul_op(), op(product_backward, next(NAMES), out={"grad_x": "x", "grad_y": "y"})
    x = torch.ones(4, 0, 5, device=device)
    assert torch.vmap(f, in_dims=(1, None))(x, torch.ones(5, 3, device=device)).shape == (0, 4, 3)
    y = torch.ones(0, 5, device=device)
    assert [row.shape for row in torch.vmap(g)(y, y, y.double())] == [(0, 5), (0, 5)]


def test_vmap_in_place(device: torch.device) -> None:
    f = op(scale, next(NAMES))
    x, factors = torch.ones(3, 5, device=device), torch.ones(3, device=device)
    torch.vmap(lambda row: (f(row, 2.0), row)[1], in_dims=1)(x)
    assert x.tolist() == [[2.0] * 5] * 3
    g = op(product_in_place, next(NAMES))
    with pytest.raises(RuntimeError, match=r"writes x in place, and torch\.vmap maps it over"):
        torch.vmap(lambda y: (g(x[:, 0], y), y)[1])(factors[None])


@kernel(block=64)
def product_in_place(x: Tensor, y: Tensor):  # type: ignore[no-untyped-def]
    i = cuda.grid(1)
    if i < len(x):
        x[i] *= y[i]


def test_transformations_without_an_answer_raise(device: torch.device) -> None:
    f, x = saxpy_op(), torch.ones(3, device=device)
    with pytest.raises(NotImplementedError, match=r"has no gradient in torch\.func"):
        torch.func.grad(lambda x: f(x, x).sum())(x)
    with pytest.raises(NotImplementedError, match="has no forward-mode derivative"):
        torch.func.jvp(lambda x: f(x, x), (x,), (x,))


# ---- GPUs ---------------------------------------------------------------------------------------


def test_streams(gpu: torch.device) -> None:
    """The operator runs in the current stream, after the work that is pending there."""
    f = saxpy_op()
    x = torch.zeros(1 << 20, device=gpu)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    for k in range(1, 5):
        with torch.cuda.stream(stream):
            torch.cuda._sleep(20_000_000)
            x += 1
            result = f(x, x, 2.0)
            total = result.sum()
        stream.synchronize()
        assert total.item() == 3 * k * len(x)


def test_cuda_graphs(gpu: torch.device) -> None:
    f = saxpy_op()
    x = torch.ones(1000, device=gpu)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            f(x, x)
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = f(x, x, 2.0)
    for value in (2.0, 3.0):
        x.fill_(value)
        graph.replay()
        torch.cuda.synchronize()
        assert result.tolist() == [3 * value] * 1000


def test_cuda_graphs_of_torch_compile(gpu: torch.device) -> None:
    f = saxpy_op()
    compiled = torch.compile(lambda x: f(x + 1, x) * 2, mode="reduce-overhead", fullgraph=True)
    for value in (1.0, 2.0, 3.0, 4.0):
        x = torch.full((1000,), value, device=gpu)
        assert compiled(x).tolist() == [2 * (2 * (value + 1) + value)] * 1000


def test_tensors_of_another_gpu_than_the_current_one(second_gpu: torch.device) -> None:
    f, x = saxpy_op(), torch.ones(100, device=second_gpu, requires_grad=True)
    for _ in range(3):
        result = f(x, x)
        assert result.device == second_gpu
        assert result.tolist() == [3.0] * 100
    result.sum().backward()


# ---- declarations that are rejected --------------------------------------------------------------


@kernel
def without_block(out, x: Tensor):  # type: ignore[no-untyped-def]
    out[cuda.grid(1)] = x[0]


@kernel(block=32)
def without_types(out, x, a):  # type: ignore[no-untyped-def]
    out[cuda.grid(1)] = x[0] * a


@kernel(block=32)
def with_keyword(out, *, x: Tensor):  # type: ignore[no-untyped-def]
    out[cuda.grid(1)] = x[0]


@kernel(block=32)
def with_a_tuple(out, x: Tensor, p: tuple[int, int]):  # type: ignore[no-untyped-def]
    out[cuda.grid(1)] = x[0] * p[0]


@kernel(block=32)
def without_tensors(out, n: int):  # type: ignore[no-untyped-def]
    out[cuda.grid(1)] = n


WRONG: dict[str, tuple[Any, dict[str, Any], type[Exception], str]] = {
    "no kernel": (np.add, {}, TypeError, "takes a kernel, as @kernel makes one, not <ufunc"),
    "a name without a library": (
        saxpy,
        {"name": "saxpy", "out": {"out": "x"}},
        ValueError,
        "is 'library::name'",
    ),
    "no block": (without_block, {"out": {"out": "x"}}, ValueError, "has no block: pass block="),
    "no types": (
        without_types,
        {"out": {"out": "x"}},
        TypeError,
        r"x and a have none: annotate them, as in `x: torch\.Tensor`",
    ),
    "a keyword": (with_keyword, {"out": {"out": "x"}}, TypeError, "are positional"),
    "a tuple": (
        with_a_tuple,
        {"out": {"out": "x"}},
        ValueError,
        r"p has unsupported type tuple\[int, int\]: write torch.Tensor, int, float",
    ),
    "no tensor": (without_tensors, {"out": {"out": "n"}}, TypeError, "an operator takes a tensor"),
    "no output": (saxpy, {}, TypeError, "out has none: annotate it"),
    "an unknown output": (
        saxpy,
        {"out": {"z": "x"}},
        ValueError,
        "out names z, and there are out, x, y, a",
    ),
    "outputs without rules": (
        saxpy,
        {"out": ["out"]},
        TypeError,
        r"out is \['out'\]; write a rule for each array: {'y': 'x'}",
    ),
    "a second unknown output": (
        saxpy,
        {"out": {"out": "x", "z": "x"}},
        ValueError,
        "out names z, and there are out, x, y, a",
    ),
    "an unknown rule": (
        saxpy,
        {"out": {"out": "a"}},
        ValueError,
        "rule in out names a, and .* x, y",
    ),
    "an unknown argument": (
        saxpy,
        {"out": {"out": "x"}, "mutates_args": ["q"]},
        ValueError,
        "mutates_args names q, and there are x, y",
    ),
    "backward of an operator in place": (
        scale,
        {"backward": lambda: None},
        ValueError,
        "writes x in place, which has no gradient",
    ),
    "an unknown parameter of backward": (
        saxpy,
        {"out": {"out": "x"}, "backward": lambda grad: grad},
        TypeError,
        "the parameter grad, and its parameters are some of grad_out, x, y, a, out",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_declarations(case: str) -> None:
    wrong, options, error, message = WRONG[case]
    name = options.pop("name", None) or next(NAMES)
    with pytest.raises(error, match=message):
        op(wrong, name, **options)
