"""The kernels of a built library as operators of PyTorch, without pycu2c."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from aot import exported_records, exported_scalars
from aot.conftest import build, build_file, forget_package, run
from pytorch import exported_gradients
from support.paths import ROOT

SOURCE = Path(exported_gradients.__file__)
TARGETS = "cpu,cuda" if torch.cuda.is_available() else "cpu"


@pytest.fixture(scope="module")
def squares(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Return the module ``torch`` of the built package, and the package."""
    folder = tmp_path_factory.mktemp("squares")
    build_file(str(SOURCE), folder, "--name", "squares", "--targets", TARGETS)
    sys.path.insert(0, str(folder / "python"))
    yield importlib.import_module("squares"), importlib.import_module("squares.torch")
    sys.path.pop(0)


@pytest.fixture(scope="module")
def square(squares: Any) -> Any:
    """Return the operator ``x * x``, whose gradient another kernel computes."""
    package, operators = squares

    def blocks(*arguments: Any) -> int:
        return -(-arguments[0].numel() // 256)

    gradient = operators.op(
        package.square_gradient, "squares::gradient", grid=blocks, block=256, out={"result": "x"}
    )

    def backward(x: torch.Tensor, grad_result: torch.Tensor) -> Any:
        return gradient(x, grad_result.contiguous())

    return operators.op(
        package.square,
        "squares::square",
        grid=blocks,
        block=256,
        out={"result": "x"},
        backward=backward,
    )


def numbers(device: torch.device, **options: Any) -> torch.Tensor:
    return torch.linspace(-2, 2, 1000, device=device, **options)


def test_eager(square: Any, device: torch.device) -> None:
    x = numbers(device)
    assert torch.equal(square(x), x * x)
    assert torch.equal(torch.ops.squares.square(x), x * x)


def test_opcheck(square: Any, device: torch.device) -> None:
    torch.library.opcheck(square, (numbers(device, requires_grad=True),))


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_compile(square: Any, device: torch.device, backend: str) -> None:
    x = numbers(device)
    compiled = torch.compile(lambda x: square(x + 1) * 2, backend=backend, fullgraph=True)
    torch.testing.assert_close(compiled(x), (x + 1) ** 2 * 2)


def test_autograd(square: Any, device: torch.device) -> None:
    x = numbers(device, requires_grad=True)
    (square(x) * 3).sum().backward()
    torch.testing.assert_close(x.grad, 6 * x.detach())


def test_cuda_graph(square: Any, gpu: torch.device) -> None:
    x = numbers(gpu)
    square(x)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = square(x)
    x.fill_(3)
    graph.replay()
    assert torch.equal(result, torch.full_like(x, 9))


def test_vectors_are_elements_of_a_last_axis(tmp_path: Path, device: torch.device) -> None:
    build_file(exported_records.__file__, tmp_path, "--name", "records", "--targets", TARGETS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(tmp_path / "python"), *sys.path])
        package, operators = (importlib.import_module(n) for n in ("records", "records.torch"))
    name = f"records::shift_{device.type}"
    shift = operators.op(package.shift, name, grid=1, block=8, out={"out": "v"})
    v = torch.ones(5, 4, device=device)
    assert shift(v).tolist() == [[2, 1, 1, 1]] * 5
    assert shift(v[:, :2].contiguous()).tolist() == [[2, 1]] * 5
    forget_package("records")


def test_complex_numbers(tmp_path: Path, device: torch.device) -> None:
    build_file(exported_scalars.__file__, tmp_path, "--name", "scalars", "--targets", TARGETS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(tmp_path / "python"), *sys.path])
        package, operators = (importlib.import_module(n) for n in ("scalars", "scalars.torch"))
    scale = operators.op(package.scale, f"scalars::scale_{device.type}", grid=1, block=8)
    x = torch.tensor([2, 1j], device=device)
    scale(x, 1 - 2j)
    assert x.tolist() == [2 - 4j, 2 + 1j]
    compiled = torch.compile(lambda x: scale(x, 2j), backend="aot_eager", fullgraph=True)
    compiled(x)
    assert x.tolist() == [8 + 4j, -2 + 4j]
    forget_package("scalars")


def test_first_launch_in_a_cuda_graph(squares: Any, gpu: torch.device) -> None:
    """A kernel is loaded while its launch is captured."""
    package, operators = squares
    double = operators.op(package.double, "squares::captured", grid=4, block=256)
    x, graph = numbers(gpu), torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        double(x)
    x.fill_(3)
    graph.replay()
    assert torch.equal(x, torch.full_like(x, 6))


def test_current_stream(square: Any, gpu: torch.device) -> None:
    stream = torch.cuda.Stream(gpu)
    x = numbers(gpu)
    with torch.cuda.stream(stream):
        torch.cuda._sleep(10_000_000)
        x.fill_(2)
        result = square(x)
    stream.synchronize()
    assert torch.equal(result, torch.full_like(x, 4))


def test_operator_that_writes_in_place(squares: Any, device: torch.device) -> None:
    package, operators = squares
    double = operators.op(package.double, "squares::double", grid=4, block=256)
    x = numbers(device)
    expected = 2 * x
    assert double(x) is None
    assert torch.equal(x, expected)
    torch.library.opcheck(double, (x,))


def test_in_place_operator_has_no_gradient(squares: Any, device: torch.device) -> None:
    package, operators = squares
    double = operators.op(package.double, "squares::double", grid=4, block=256)
    with pytest.raises(RuntimeError, match="writes x in place, which records no gradient"):
        double(numbers(device, requires_grad=True))


def test_vmap(square: Any, device: torch.device) -> None:
    x = numbers(device).view(4, 250)
    assert torch.equal(torch.vmap(square)(x), x * x)


def test_a_function_gives_shape_and_dtype(squares: Any, device: torch.device) -> None:
    package, operators = squares
    first = operators.op(
        package.square,
        "squares::first",
        grid=lambda x: -(-x.numel() // 256),
        block=256,
        out={"result": lambda x: torch.zeros(2 * len(x), device=x.device)},
    )
    x = numbers(device)
    assert torch.equal(first(x), torch.cat([x * x, torch.zeros_like(x)]))
    assert first(x[:0]).shape == (0,)  # a grid of 0 blocks launches nothing


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no grid": ({"block": 256}, "square needs a grid and a block: pass grid= and block="),
    "an unknown output": ({"grid": 1, "block": 256, "out": {"y": "x"}}, "out names y, and"),
    "no kernel": ({"kernel": max, "grid": 1, "block": 1}, "op takes a kernel of squares, not"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_declarations(squares: Any, case: str) -> None:
    package, operators = squares
    options, message = WRONG[case]
    with pytest.raises((TypeError, ValueError), match=message):
        operators.op(**{"kernel": package.square, "name": "squares::wrong", **options})


def test_wrong_dtype(square: Any, device: torch.device) -> None:
    with pytest.raises(RuntimeError, match="x is float64 with 1 axis, and square takes float32"):
        square(numbers(device, dtype=torch.float64))


def test_same_results_as_in_process(tmp_path: Path, device: torch.device) -> None:
    build(tmp_path, "--targets", TARGETS)
    forget_package("finance")
    sys.path.insert(0, str(tmp_path / "python"))
    package = importlib.import_module("finance")
    operators = importlib.import_module("finance.torch")
    sys.path.pop(0)
    forget_package("finance")
    op = operators.op(
        package.stencil,
        f"finance::stencil_{device.type}",
        grid=(5, 9),
        block=(16, 8),
        out={"out": "a"},
    )
    image = torch.rand(70, 71)
    expected = image.clone()
    inner = image[1:-1, 1:-1]
    around = image[1:-1, :-2] + image[1:-1, 2:] + image[:-2, 1:-1] + image[2:, 1:-1]
    expected[1:-1, 1:-1] += 0.2 * (around - 4 * inner)
    np.testing.assert_allclose(op(image.to(device), 0.2).cpu(), expected, rtol=1e-5)


def test_example(tmp_path: Path) -> None:
    example = ROOT / "examples/ship"
    build_file(str(example / "kernels.py"), tmp_path, "--name", "heat", "--targets", TARGETS)
    script = f"import sys; sys.path[0] = {str(tmp_path / 'python')!r}; import runpy; "
    script += f"runpy.run_path({str(example / 'use_torch.py')!r})"
    assert run(sys.executable, "-c", script) == "43.038300\n"
