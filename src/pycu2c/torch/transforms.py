"""What PyTorch's transformations do with an operator: autograd and ``torch.vmap``."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import torch
from torch.autograd import forward_ad

from pycu2c.torch.declaration import TorchOperator

_below_autograd: Any = torch._C._AutoDispatchBelowAutograd


def with_autograd(
    overload: Any, operator: TorchOperator, backward: Callable[..., Any] | None
) -> Callable[..., Any]:
    """Return the operator with its gradients, or with errors where it has none."""
    record = _recorded(overload, operator, backward)

    def run(*inputs: Any) -> Any:
        if torch.is_grad_enabled() and torch._C._any_requires_grad(*inputs):
            if operator.mutated or torch._C._are_functorch_transforms_active():
                _reject_gradient(operator)
            return record(*inputs)
        if forward_ad._current_level >= 0:
            _check_tangents(operator, inputs)
        with _below_autograd():
            return overload(*inputs)

    return run


def _reject_gradient(operator: TorchOperator) -> None:
    if operator.mutated:
        raise RuntimeError(
            f"{operator.name} writes {' and '.join(operator.mutated_names)} in place, which "
            "records no gradient, and an argument requires grad: call it in `with "
            "torch.no_grad():`, or let it allocate what it writes with out="
        )
    raise NotImplementedError(
        f"{operator.name} has no gradient in torch.func: use torch.autograd.grad or backward()"
    )


def _check_tangents(operator: TorchOperator, inputs: tuple[Any, ...]) -> None:
    tensors = [value for value in inputs if isinstance(value, torch.Tensor)]
    if any(forward_ad.unpack_dual(tensor).tangent is not None for tensor in tensors):
        raise NotImplementedError(f"{operator.name} has no forward-mode derivative (jvp)")


def _recorded(
    overload: Any, operator: TorchOperator, backward: Callable[..., Any] | None
) -> Callable[..., Any]:
    """Return the operator as a function that autograd records."""
    gradients = {f"grad_{name}": i for i, name in enumerate(operator.outputs)}
    values = {name: i for i, name in enumerate([*operator.inputs, *operator.outputs])}
    names = _parameters_of(backward, operator, [*gradients, *values])
    saved = [values[name] for name in names if name in values]

    class Recorded(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, *inputs: Any) -> Any:
            with _below_autograd():
                result = overload(*inputs)
            found = (*operator.fill_defaults(inputs), *_as_tuple(result))
            ctx.others = [None if isinstance(found[i], torch.Tensor) else found[i] for i in saved]
            tensors = (found[i] if isinstance(found[i], torch.Tensor) else None for i in saved)
            ctx.save_for_backward(*tensors)
            return result

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            if backward is None:
                raise NotImplementedError(
                    f"{operator.name} has no gradient: pass backward= to pycu2c.torch.op, or "
                    "detach() what it is called with"
                )
            kept = (o if t is None else t for t, o in zip(ctx.saved_tensors, ctx.others))
            arguments = {n: grads[gradients[n]] if n in gradients else next(kept) for n in names}
            results = _as_tuple(backward(**arguments))
            return _in_order(results, operator)[: len(ctx.needs_input_grad)]

    apply: Callable[..., Any] = Recorded.apply
    return apply


def _as_tuple(result: Any) -> tuple[Any, ...]:
    return tuple(result) if isinstance(result, (tuple, list)) else (result,)


def _parameters_of(backward: Any, operator: TorchOperator, known: list[str]) -> list[str]:
    """Return the parameters of ``backward``. Raises TypeError for an unknown one."""
    if backward is None:
        return []
    schema = getattr(backward, "_schema", None)
    names = [a.name for a in schema.arguments] if schema else inspect.signature(backward).parameters
    for name in names:
        if name not in known:
            raise TypeError(
                f"{operator.name}: backward has the parameter {name}, and its parameters are some "
                f"of {', '.join(known)}"
            )
    return list(names)


def _in_order(results: tuple[Any, ...], operator: TorchOperator) -> tuple[Any, ...]:
    """Return a gradient for each input: those of ``backward`` for tensors, None for the others."""
    if len(results) != len(operator.tensors):
        names = ", ".join(operator.inputs[i] for i in operator.tensors)
        raise RuntimeError(
            f"{operator.name}: backward returned {len(results)} gradients: return one for each "
            f"tensor ({names}), or None"
        )
    by_position = dict(zip(operator.tensors, results))
    return tuple(by_position.get(i) for i in range(len(operator.inputs)))


def with_version_counters(overload: Any, operator: TorchOperator) -> Callable[..., Any]:
    """Return the operator, which counts the changes of what it writes.

    Autograd compares the counts to find tensors that were changed after they were saved.
    """

    def run(keys: Any, *inputs: Any) -> Any:
        inputs = operator.fill_defaults(inputs)
        changed = [inputs[i] for i in operator.mutated if inputs[i] is not None]
        torch.autograd.graph.increment_version(changed)
        with torch._C._AutoDispatchBelowADInplaceOrView():
            return overload.redispatch(keys & torch._C._after_ADInplaceOrView_keyset, *inputs)

    return run


def batched(overload: Any, operator: TorchOperator) -> Callable[..., Any]:
    """Return the operator under ``torch.vmap``: a call for each item of the batch."""

    def run(info: Any, in_dims: tuple[int | None, ...], *inputs: Any) -> Any:
        written = [i for i in operator.mutated if i < len(inputs) and inputs[i] is not None]
        if any(in_dims[i] is None for i in written):
            raise RuntimeError(
                f"{operator.name} writes {' and '.join(operator.mutated_names)} in place, and "
                "torch.vmap maps it over other arguments: map it over what it writes, too"
            )
        rows = [
            overload(*(v if d is None else v.select(d, i) for v, d in zip(inputs, in_dims)))
            for i in range(info.batch_size)
        ]
        if not operator.outputs:
            return None, None
        stacked = tuple(torch.stack(column) for column in zip(*map(_as_tuple, rows)))
        return (stacked[0], 0) if len(stacked) == 1 else (stacked, (0,) * len(stacked))

    return run
