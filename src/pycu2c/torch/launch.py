"""Run an operator: allocate its outputs and launch its kernel."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import torch

from pycu2c.base.diagnostics import LaunchError
from pycu2c.base.types import Signature
from pycu2c.kernels.configured_kernel import Configured, Launches
from pycu2c.kernels.kernel import Dims
from pycu2c.kernels.launcher import Launcher, TypedKernel
from pycu2c.torch.declaration import TorchOperator, written_parameters

ExtentRule: TypeAlias = "Dims | Callable[..., Dims] | None"
_Extents: TypeAlias = "tuple[int, ...] | None"


class _OperatorLauncher(Launcher):
    """Reject a kernel that writes an input which the operator declares to be only read."""

    def __init__(self, operator: TorchOperator, backend: str) -> None:
        own = operator.kernel.launcher
        super().__init__(own.source, own.declared, backend, own.cache, own.options)
        self._operator = operator

    def typed_kernel(self, signature: Signature) -> TypedKernel:
        typed, operator = super().typed_kernel(signature), self._operator
        declared = [*operator.outputs, *operator.mutated_names]
        written = written_parameters(self.parameters, signature.parameters, typed.metadata.written)
        undeclared = [name for name in written if name not in declared]
        if undeclared:
            raise LaunchError(
                f"{self.name} writes {' and '.join(undeclared)}, and the operator {operator.name} "
                "is declared without that: name it in mutates_args= or out= of pycu2c.torch.op"
            )
        return typed


def implementation(
    operator: TorchOperator, backend: str, grid: ExtentRule, block: ExtentRule
) -> Callable[..., Any]:
    """Return a function of the inputs, and of the stream, that returns the outputs."""
    kernel, count = operator.kernel, len(operator.inputs)
    launches = Launches(_OperatorLauncher(operator, backend))
    names = [*operator.inputs, *operator.outputs]
    order = [names.index(name) for name in kernel.launcher.parameters]
    allocators = operator.allocators()
    grid_of, block_of = _extent_function(grid), _extent_function(block)

    @functools.lru_cache(maxsize=256, typed=True)
    def configured(grid: _Extents, block: _Extents, stream: int | None) -> Configured[Any]:
        request = kernel.launch_request(grid, block, stream, kernel.shared_memory)
        return Configured(launches, request)

    def run(*inputs: Any, stream: int | None = None) -> Any:
        if len(inputs) < count:
            inputs = operator.fill_defaults(inputs)
        outputs = [allocate(inputs) for allocate in allocators]
        blocks, threads = grid_of(inputs), block_of(inputs)
        if not blocks or 0 not in blocks:  # a grid that is computed from an empty tensor
            values = [*inputs, *outputs]
            configured(blocks, threads, stream)(*[values[i] for i in order])
        return _as_result(outputs)

    return run


def fake(operator: TorchOperator) -> Callable[..., Any]:
    """Return the implementation for tensors without memory, as torch.compile traces."""
    allocators = operator.allocators()

    def run(*inputs: Any) -> Any:
        inputs = operator.fill_defaults(inputs)
        return _as_result([allocate(inputs) for allocate in allocators])

    return run


def _as_result(outputs: list[Any]) -> Any:
    """Return outputs as an operator does: a tensor, a tuple of them, or None."""
    return outputs[0] if len(outputs) == 1 else tuple(outputs) or None


def _extent_function(rule: ExtentRule) -> Callable[[tuple[Any, ...]], _Extents]:
    """Return a function of the inputs for numbers or a function of the inputs."""
    if callable(rule):
        return lambda inputs: _as_tuple(rule(*inputs))
    fixed = _as_tuple(rule)
    return lambda inputs: fixed


def _as_tuple(extents: Dims | None) -> _Extents:
    if extents is None:
        return None
    return tuple(extents) if isinstance(extents, Sequence) else (extents,)


def on_cpu(operator: TorchOperator, grid: ExtentRule, block: ExtentRule) -> Callable[..., Any]:
    """Return the implementation for tensors in memory of the host."""
    backend = operator.kernel.backend
    return implementation(operator, "cpu" if backend == "auto" else backend, grid, block)


def on_cuda(operator: TorchOperator, grid: ExtentRule, block: ExtentRule) -> Callable[..., Any]:
    """Return the implementation for tensors on a GPU: in the current stream of PyTorch."""
    run = implementation(operator, operator.kernel.backend, grid, block)

    def run_in_stream(*inputs: Any) -> Any:
        index = operator.first_tensor(inputs).get_device()
        if index != torch._C._cuda_getDevice():
            with torch.cuda.device(index):
                return run_in_stream(*inputs)
        return run(*inputs, stream=torch._C._cuda_getCurrentRawStream(index) or None)

    return run_in_stream
