"""Register the kernels of the library as operators of PyTorch.

You may use, change and distribute this file freely, for any purpose and without conditions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch.utils.dlpack import to_dlpack

_TYPES = {"r": "Tensor", "d": "float", "q": "int", "?": "bool"}
_LIBRARIES: dict[str, torch.library.Library] = {}  # operators exist as long as these


def op(
    kernel: Callable[..., None],
    name: str,
    *,
    grid: Any = None,
    block: Any = None,
    out: Mapping[str, str] | None = None,
    backward: Callable[..., Any] | None = None,
    setup_context: Callable[..., Any] | None = None,
) -> Any:
    """Register a kernel of this package as the operator ``library::name``, and return it.

    A name that exists is defined anew.

    Parameters
    ----------
    kernel
        A function of this package.
    grid, block
        The launch configuration: numbers, or functions of the arguments of the operator.
    out
        The arrays that the operator allocates and returns, each like the argument that is named. It
        writes others in place, and then has no gradient.
    backward, setup_context
        As in ``torch.library.register_autograd``.
    """
    outputs = dict(out or {})
    parameters: list[tuple[str, str]] = kernel.parameters  # type: ignore[attr-defined]
    inputs = [parameter for parameter in parameters if parameter[0] not in outputs]
    positions = {parameter: i for i, (parameter, _) in enumerate(inputs)}
    templates = [positions[template] for template in outputs.values()]
    order = [n for n, _ in inputs] + list(outputs)
    places = [order.index(parameter) for parameter, _ in parameters]
    first_tensor = next(i for i, (_, kind) in enumerate(inputs) if kind in "rwu")

    def allocate(*values: Any) -> Any:
        results = tuple(torch.empty_like(values[i]) for i in templates)
        return results[0] if len(results) == 1 else results or None

    def run(*values: Any) -> Any:
        results = [torch.empty_like(values[i]) for i in templates]
        every = [*values, *results]
        device = values[first_tensor].device
        stream = torch._C._cuda_getCurrentRawStream(device.index) if device.type == "cuda" else 0
        passed = [to_dlpack(v) if isinstance(v, torch.Tensor) else v for v in every]
        arguments = [passed[place] for place in places]
        configuration = {
            key: extent(*values) if callable(extent) else extent
            for key, extent in (("grid", grid), ("block", block))
            if extent is not None
        }
        kernel(*arguments, stream=stream, **configuration)
        return results[0] if len(results) == 1 else tuple(results) or None

    library, short = name.split("::")
    if name in _LIBRARIES:
        _LIBRARIES.pop(name)._destroy()
    registered = _LIBRARIES[name] = torch.library.Library(library, "FRAGMENT")
    registered.define(short + _schema(inputs, len(outputs)))
    registered.impl(short, run, "CPU")
    registered.impl(short, run, "CUDA")
    torch.library.register_fake(name, allocate, lib=registered)
    if backward is not None:
        torch.library.register_autograd(name, backward, setup_context=setup_context, lib=registered)
    return getattr(getattr(torch.ops, library), short).default


def _schema(inputs: list[tuple[str, str]], output_count: int) -> str:
    types = [
        f"Tensor(a{i}!) {name}" if kind in "wu" else f"{_TYPES[kind]} {name}"
        for i, (name, kind) in enumerate(inputs)
    ]
    results = ", ".join(["Tensor"] * output_count)
    return f"({', '.join(types)}) -> {results if output_count == 1 else f'({results})'}"
