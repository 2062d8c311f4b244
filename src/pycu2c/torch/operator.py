"""Make an operator of PyTorch from a kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from pycu2c.kernels.kernel import Kernel
from pycu2c.torch import transforms
from pycu2c.torch.declaration import OutputRule, declared_operator
from pycu2c.torch.launch import ExtentRule, fake, on_cpu, on_cuda

_LIBRARIES: dict[str, Any] = {}  # keeps each operator registered


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
    kernel
        A kernel with a signature, or with annotations of its parameters: ``torch.Tensor``, ``int``,
        ``float``, ``bool``, ``str``, or one of these or None.
    name
        The name of the operator, ``"library::name"``. A name that exists is defined anew.
    out
        The parameters that the operator allocates and returns, in this order, each with its rule:
        the name of a tensor that it is like, or a function. The function gets the arguments of the
        operator, and returns a shape and a dtype of PyTorch, or a new tensor.
    grid, block
        The launch configuration: numbers, or functions of the arguments of the operator. By default
        those of the decorator; a missing grid is inferred, as in other launches. A grid of 0 blocks
        launches nothing.
    mutates_args
        The tensors that the kernel writes in place; by default those that its text assigns to.
        Launches raise LaunchError if the kernel writes others.
    backward
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
    if name.count("::") != 1:
        raise ValueError(f"the name of an operator is 'library::name', not {name!r}")
    operator = declared_operator(kernel, name, out or {}, mutates_args)
    if operator.mutated and backward is not None:
        raise ValueError(
            f"{name} writes {' and '.join(operator.mutated_names)} in place, which has no "
            "gradient: let it allocate what it writes with out="
        )
    grid, block = grid or kernel.grid, block or kernel.block
    if block is None:
        raise ValueError(f"{kernel.name} has no block: pass block=, such as block=256")
    namespace, short = name.split("::")
    if name in _LIBRARIES:
        _LIBRARIES.pop(name)._destroy()
    library = _LIBRARIES[name] = torch.library.Library(namespace, "FRAGMENT")
    library.define(short + operator.schema)
    overload = getattr(getattr(torch.ops, namespace), short).default
    library.impl(short, on_cpu(operator, grid, block), "CPU")
    library.impl(short, on_cuda(operator, grid, block), "CUDA")
    library.impl(short, transforms.with_autograd(overload, operator, backward), "Autograd")
    if operator.mutated:
        counting = transforms.with_version_counters(overload, operator)
        library.impl(short, counting, "ADInplaceOrView", with_keyset=True)
    torch.library.register_fake(name, fake(operator), lib=library)
    torch.library.register_vmap(name, transforms.batched(overload, operator), lib=library)
    return overload
