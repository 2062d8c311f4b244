"""Describe tensors of PyTorch, which is never imported here."""

from __future__ import annotations

import sys
from typing import Any, NoReturn

from pycu2c.base import dtypes
from pycu2c.base.diagnostics import LaunchError
from pycu2c.base.dtypes import DType
from pycu2c.runtime.arguments.array_argument import ArrayArgument
from pycu2c.runtime.arguments.array_checks import check_layout
from pycu2c.runtime.arguments.strides import array_over, is_contiguous


def is_tensor(obj: object) -> bool:
    """Return whether an object is a tensor of PyTorch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(obj, getattr(torch, "Tensor", ()))


def describe(tensor: Any, name: str) -> ArrayArgument:
    """Describe a tensor in memory of the host or of a GPU. Raises LaunchError."""
    tensor = _without_grad(tensor, name)
    _check_storage(tensor, name)
    dtype, address = _dtype_of(tensor, name), _address_of(tensor, name)
    shape, strides = tuple(tensor.shape), tuple(n * dtype.size for n in tensor.stride())
    on_host = tensor.device.type == "cpu"
    described = ArrayArgument(
        dtype,
        shape,
        strides,
        address,
        False,
        is_contiguous(shape, strides, dtype.size),
        "host" if on_host else "device",
        array_over(address, (shape, strides, dtype.numpy), memory=tensor) if on_host else tensor,
    )
    check_layout(described, name)
    return described


def _without_grad(tensor: Any, name: str) -> Any:
    """Return the tensor without its place in the autograd graph, if none is recorded now."""
    if not tensor.requires_grad:
        return tensor
    if sys.modules["torch"].is_grad_enabled():
        raise LaunchError(
            f"{name} requires grad, and a launch records no gradient: make an operator of the "
            "kernel with pycu2c.torch.op(…, backward=…), or pass .detach(), or launch in "
            "`with torch.no_grad():`"
        )
    return tensor.detach()


def _check_storage(tensor: Any, name: str) -> None:
    """Check that the elements are in memory that kernels access. Raises LaunchError."""
    torch: Any = sys.modules["torch"]
    if type(tensor).__torch_dispatch__ is not torch.Tensor.__torch_dispatch__:
        _reject_traced(tensor, name)
    if tensor.device.type not in ("cpu", "cuda"):
        raise LaunchError(
            f"{name} is on the device {tensor.device}, which is neither the CPU nor an NVIDIA GPU"
        )
    if tensor.layout is not torch.strided or tensor.is_nested:
        raise LaunchError(
            f"{name} is a sparse or nested tensor: pass the tensors of its values and indices, or "
            "what .to_dense() or .to_padded_tensor(…) gives"
        )
    if tensor.is_conj():
        raise LaunchError(f"{name} is a lazy conjugate: pass what .resolve_conj() gives")
    if tensor.is_neg():
        raise LaunchError(f"{name} is a lazy negative: pass what .resolve_neg() gives")


def _dtype_of(tensor: Any, name: str) -> DType:
    dtype = dtypes.BY_NAME.get(str(tensor.dtype).removeprefix("torch."))
    if dtype is None or tensor.is_quantized:
        raise LaunchError(
            f"{name} has dtype {tensor.dtype}, which kernels do not support: pass "
            ".view(torch.uint8), or what .to(torch.float32) gives"
        )
    return dtype


def _address_of(tensor: Any, name: str) -> int:
    try:
        address: int = tensor.data_ptr()
    except RuntimeError:  # a tensor of torch.func.grad or torch.vmap
        address = 0
    if not address and tensor.numel():
        _reject_traced(tensor, name)
    return address


def _reject_traced(tensor: object, name: str) -> NoReturn:
    kind = type(tensor).__name__
    raise LaunchError(
        f"{name} is a {kind} without memory of its own, as a transformation of torch.func or "
        "torch.compile passes: make an operator of the kernel with pycu2c.torch.op(…)"
    )
