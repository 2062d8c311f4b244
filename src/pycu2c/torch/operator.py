"""Make an operator of PyTorch from a kernel."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from pycu2c.aot.python_package import torch_operators
from pycu2c.aot.python_package.torch_operators import TorchOperator
from pycu2c.base.diagnostics import LaunchError
from pycu2c.base.types import Signature
from pycu2c.kernels.configured_kernel import Configured, Launches
from pycu2c.kernels.kernel import Dims, Kernel
from pycu2c.kernels.launcher import Launcher, TypedKernel
from pycu2c.torch.declaration import input_parameters, written_names, written_parameters

OutputRule: TypeAlias = "str | Callable[..., Any]"
ExtentRule: TypeAlias = "Dims | Callable[..., Dims] | None"
_Extents: TypeAlias = "tuple[int, ...] | None"


def op(
    kernel: Kernel[Any],
    name: str,
    *,
    out: Mapping[str, OutputRule] | None = None,
    grid: ExtentRule = None,
    block: ExtentRule = None,
    mutates_args: Sequence[str] | None = None,
    backward: Callable[..., Any] | None = None,
) -> Any:
    """Register a kernel as an operator of PyTorch.

    The operator works with `torch.compile`, autograd, `torch.vmap`, streams and CUDA graphs. It
    runs on the device of its tensors: on the CPU, or on a GPU in the current stream of PyTorch.

    Parameters
    ----------
    kernel : Kernel
        A kernel with a signature, or with annotations of its parameters: ``torch.Tensor``, ``int``,
        ``float``, ``bool``, ``str``, or one of these or None.
    name : str
        The name of the operator, ``"library::name"``. An operator of this name is replaced.
    out : dict, optional
        The parameters that the operator allocates and returns, in this order, each with its rule:
        the name of a tensor that it is like, or a function. The function gets the arguments of the
        operator, and returns a shape and a dtype of PyTorch, or a new tensor.
    grid, block : int, tuple of int or callable, optional
        The launch configuration: numbers, or functions of the arguments of the operator. By default
        those of the decorator; a missing grid is inferred, as in other launches. A grid of 0 blocks
        launches nothing.
    mutates_args : sequence of str, optional
        The tensors that the kernel writes in place; by default those that its text assigns to.
        Launches raise LaunchError if the kernel writes others.
    backward : callable, optional
        A function or an operator that returns the gradient of each tensor that is an argument, in
        order. Its parameters are named ``grad_y`` for the gradient of the output ``y``, or as the
        parameters of the kernel.

    Returns
    -------
    torch._ops.OpOverload
        The operator. Its parameters are those of the kernel without the ones that it allocates.

    Raises
    ------
    TypeError, ValueError
        If the operator cannot be declared.
    """
    if not isinstance(kernel, Kernel):
        raise TypeError(f"pycu2c.torch.op takes a kernel, as @kernel makes one, not {kernel!r}")
    grid = kernel.grid if grid is None else grid
    block = kernel.block if block is None else block
    if block is None:
        raise ValueError(f"{kernel.name} has no block: pass block=, such as block=256")
    outputs, names = {} if out is None else out, kernel.launcher.parameters
    torch_operators.check_outputs(name, outputs, names)
    inputs = input_parameters(kernel, outputs)
    if mutates_args is None:
        written = written_names(kernel)
        mutates_args = [n for n in inputs if n in written]
    operator = TorchOperator(name, inputs, names, outputs, mutates_args, grid, block)
    backend = "cpu" if kernel.backend == "auto" else kernel.backend
    on_cpu = _launch_function(kernel, operator, backend)
    on_gpu = _launch_function(kernel, operator, kernel.backend)
    return torch_operators.register(operator, on_cpu, on_gpu, backward)


class _OperatorLauncher(Launcher):
    """Reject a kernel that writes an input which the operator declares to be only read."""

    def __init__(self, kernel: Kernel[Any], operator: TorchOperator, backend: str) -> None:
        own = kernel.launcher
        super().__init__(own.source, own.declared, backend, own.cache, own.options)
        self._operator = operator

    def typed_kernel(self, signature: Signature) -> TypedKernel:
        typed, operator = super().typed_kernel(signature), self._operator
        declared = [*operator.outputs, *operator.mutated]
        written = written_parameters(self.parameters, signature.parameters, typed.metadata.written)
        undeclared = [name for name in written if name not in declared]
        if undeclared:
            raise LaunchError(
                f"{self.name} writes {' and '.join(undeclared)}, and the operator {operator.name} "
                "is declared without that: name it in mutates_args= or out= of pycu2c.torch.op"
            )
        return typed


def _launch_function(
    kernel: Kernel[Any], operator: TorchOperator, backend: str
) -> torch_operators.Launch:
    launches = Launches(_OperatorLauncher(kernel, operator, backend))

    @functools.lru_cache(maxsize=256, typed=True)
    def configured(grid: _Extents, block: _Extents, stream: int | None) -> Configured[Any]:
        request = kernel._launch_request(grid, block, stream, kernel.shared_memory)
        return Configured(launches, request)

    def launch(arguments: list[Any], grid: _Extents, block: _Extents, stream: int | None) -> None:
        configured(grid, block, stream)(*arguments)

    return launch
