"""Register kernels as operators of PyTorch, which its transformations support.

You may use, change and distribute this file freely, for any purpose and without conditions.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import torch
from torch.autograd import forward_ad

Launch = Callable[..., None]  # called with a list of arguments, the grid, the block, the stream
_LIBRARIES: dict[str, Any] = {}  # operators exist as long as these
_below_autograd: Any = torch._C._AutoDispatchBelowAutograd


@dataclass(frozen=True)
class TorchOperator:
    """The declaration of an operator.

    parameters: its inputs, with annotations as in ``torch.library.infer_schema``.
    kernel_parameters: the names of inputs and outputs, in the order of the kernel.
    outputs: the rule of each array that it allocates: the name of the input that the array is like,
    or a function of the inputs that returns a shape and a dtype, or a tensor.
    mutated: the names of the inputs that the kernel writes.
    grid, block: lengths, or functions of the inputs.
    """

    name: str
    parameters: Mapping[str, inspect.Parameter]
    kernel_parameters: Sequence[str]
    outputs: Mapping[str, Any]
    mutated: Sequence[str]
    grid: Any
    block: Any

    @property
    def inputs(self) -> list[str]:
        return list(self.parameters)

    @property
    def tensors(self) -> list[int]:
        """Return the positions of the inputs that are tensors."""
        return [i for i, p in enumerate(self.parameters.values()) if _is_tensor(p.annotation)]

    @property
    def schema(self) -> str:
        """Return its parameters and results in PyTorch's schema language. Raises ValueError."""
        results = (torch.Tensor,) * len(self.outputs)
        result = tuple[results] if len(results) > 1 else results[0] if results else None  # type: ignore[valid-type]

        def declare() -> None:
            pass

        declare.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            list(self.parameters.values()), return_annotation=result
        )
        try:
            schema: str = torch.library.infer_schema(declare, mutates_args=self.mutated)
        except ValueError as error:
            problem = str(error).removeprefix("infer_schema(func): ").partition(". ")[0]
            raise ValueError(
                f"{self.name}: {problem}: write torch.Tensor, int, float, bool, str, or one of "
                "these or None"
            ) from None
        return schema

    def fill_defaults(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Add the values that PyTorch leaves out because they are those of the defaults."""
        left_out = list(self.parameters.values())[len(inputs) :]
        return (*inputs, *(parameter.default for parameter in left_out))

    def allocators(self) -> list[Callable[[tuple[Any, ...]], Any]]:
        """Return a function of the inputs for each output, which returns a new tensor."""
        return [self._allocator(rule) for rule in self.outputs.values()]

    def _allocator(self, rule: Any) -> Callable[[tuple[Any, ...]], Any]:
        if isinstance(rule, str):
            position = self.inputs.index(rule)
            return lambda inputs: torch.empty_like(inputs[position])
        tensors = self.tensors

        def allocate(inputs: tuple[Any, ...]) -> Any:
            result = rule(*inputs)
            if any(result is value for value in inputs):
                raise ValueError(
                    f"{self.name}: a rule of out= returned an argument; it returns a new tensor, "
                    "or a shape and a dtype"
                )
            if isinstance(result, torch.Tensor):
                return result
            if not isinstance(result, tuple) or not isinstance(result[-1], torch.dtype):
                raise TypeError(
                    f"{self.name}: a rule of out= returned {result!r}; it returns a new tensor, or "
                    "a shape and a dtype, such as (x.shape, x.dtype)"
                )
            shape, dtype = result
            return torch.empty(shape, dtype=dtype, device=_first_tensor(tensors, inputs).device)

        return allocate


def check_outputs(name: str, outputs: Any, known: Sequence[str]) -> None:
    """Check the names of arrays that an operator allocates. Raises TypeError, ValueError."""
    if not isinstance(outputs, Mapping):
        raise TypeError(f"{name}: out is {outputs!r}; write a rule for each array: {{'y': 'x'}}")
    for unknown in [n for n in outputs if n not in known]:
        raise ValueError(f"{name}: out names {unknown}, and there are {', '.join(known)}")


def _is_tensor(annotation: object) -> bool:
    return annotation is torch.Tensor or torch.Tensor in get_args(annotation)


def _first_tensor(tensors: Sequence[int], inputs: tuple[Any, ...]) -> Any:
    """Return the first tensor of a call, which determines the device."""
    return next(inputs[i] for i in tensors if inputs[i] is not None)


def register(
    operator: TorchOperator,
    on_cpu: Launch,
    on_gpu: Launch,
    backward: Callable[..., Any] | None,
) -> Any:
    """Register an operator, and return its overload.

    Parameters
    ----------
    operator
        The operator. One of the same name is replaced.
    on_cpu, on_gpu
        Launch the kernel on tensors of the CPU and of a GPU.
    backward
        A function or an operator that returns the gradient of each tensor of the inputs, in order.
        Its parameters are named ``grad_y`` for the gradient of the output ``y``, or as those of the
        kernel.

    Returns
    -------
    torch._ops.OpOverload

    Raises
    ------
    TypeError, ValueError
        If the operator or ``backward`` is not valid.
    """
    _check(operator, has_gradient=backward is not None)
    name = operator.name
    namespace, short = name.split("::")
    if name in _LIBRARIES:
        _LIBRARIES.pop(name)._destroy()
    library = _LIBRARIES[name] = torch.library.Library(namespace, "FRAGMENT")
    library.define(short + operator.schema)
    overload = getattr(getattr(torch.ops, namespace), short).default
    library.impl(short, _implementation(operator, on_cpu), "CPU")
    library.impl(short, _in_current_stream(operator, on_gpu), "CUDA")
    library.impl(short, _with_autograd(overload, operator, backward), "Autograd")
    if operator.mutated:
        counting = _with_version_counters(overload, operator)
        library.impl(short, counting, "ADInplaceOrView", with_keyset=True)
    torch.library.register_fake(name, _fake(operator), lib=library)
    torch.library.register_vmap(name, _batched(overload, operator), lib=library)
    return overload


def _check(operator: TorchOperator, has_gradient: bool) -> None:
    """Check a declaration. Raises TypeError, ValueError."""
    name, tensors = operator.name, [operator.inputs[i] for i in operator.tensors]
    if name.count("::") != 1:
        raise ValueError(f"the name of an operator is 'library::name', not {name!r}")
    if not tensors:
        raise TypeError(f"{name}: an operator takes a tensor, which determines its device")
    for known, names, what in (
        (
            tensors,
            [r for r in operator.outputs.values() if isinstance(r, str)],
            "a rule in out names",
        ),
        (tensors, operator.mutated, "mutates_args names"),
    ):
        for unknown in [n for n in names if n not in known]:
            raise ValueError(f"{name}: {what} {unknown}, and there are {', '.join(known)}")
    if operator.mutated and has_gradient:
        raise ValueError(
            f"{name} writes {' and '.join(operator.mutated)} in place, which has no "
            "gradient: let it allocate what it writes with out="
        )


# ---- calls ----


def _implementation(operator: TorchOperator, launch: Launch) -> Callable[..., Any]:
    """Return a function of the inputs, and of the stream, that returns the outputs."""
    count, names = len(operator.parameters), [*operator.parameters, *operator.outputs]
    order = [names.index(name) for name in operator.kernel_parameters]
    allocators = operator.allocators()
    grid_of, block_of = map(_extent_function, (operator.grid, operator.block))

    def run(*inputs: Any, stream: int | None = None) -> Any:
        if len(inputs) < count:
            inputs = operator.fill_defaults(inputs)
        outputs = [allocate(inputs) for allocate in allocators]
        grid, block = grid_of(inputs), block_of(inputs)
        if not grid or 0 not in grid:  # a grid that is computed from an empty tensor
            values = [*inputs, *outputs]
            launch([values[i] for i in order], grid, block, stream)
        return _as_result(outputs)

    return run


def _in_current_stream(operator: TorchOperator, launch: Launch) -> Callable[..., Any]:
    """Return the implementation for tensors on a GPU: in the current stream of PyTorch."""
    run, tensors = _implementation(operator, launch), operator.tensors

    def run_in_stream(*inputs: Any) -> Any:
        index = _first_tensor(tensors, inputs).get_device()
        if index != torch._C._cuda_getDevice():
            with torch.cuda.device(index):
                return run_in_stream(*inputs)
        return run(*inputs, stream=torch._C._cuda_getCurrentRawStream(index) or None)

    return run_in_stream


def _extent_function(rule: Any) -> Callable[[tuple[Any, ...]], tuple[int, ...] | None]:
    """Return a function of the inputs for lengths or a function of the inputs."""
    if callable(rule):
        return lambda inputs: _as_tuple(rule(*inputs))
    fixed = None if rule is None else _as_tuple(rule)
    return lambda inputs: fixed


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def _as_result(outputs: list[Any]) -> Any:
    """Return outputs as an operator does: a tensor, a tuple of them, or None."""
    return outputs[0] if len(outputs) == 1 else tuple(outputs) or None


def _fake(operator: TorchOperator) -> Callable[..., Any]:
    """Return the implementation for tensors without memory, as torch.compile traces."""
    allocators = operator.allocators()

    def run(*inputs: Any) -> Any:
        inputs = operator.fill_defaults(inputs)
        return _as_result([allocate(inputs) for allocate in allocators])

    return run


# ---- transformations: autograd and torch.vmap ----


def _with_autograd(
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
            f"{operator.name} writes {' and '.join(operator.mutated)} in place, which "
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
                    f"{operator.name} has no gradient: pass backward= to op, or detach() "
                    "what it is called with"
                )
            inputs = iter([o if t is None else t for t, o in zip(ctx.saved_tensors, ctx.others)])
            arguments = {n: grads[gradients[n]] if n in gradients else next(inputs) for n in names}
            results = _as_tuple(backward(**arguments))
            return _in_order(results, operator)[: len(ctx.needs_input_grad)]

    apply: Callable[..., Any] = Recorded.apply
    return apply


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


def _with_version_counters(overload: Any, operator: TorchOperator) -> Callable[..., Any]:
    """Return the operator, which counts the changes of what it writes.

    Autograd compares the counts to find tensors that were changed after they were saved.
    """

    mutated = [operator.inputs.index(name) for name in operator.mutated]

    def run(keys: Any, *inputs: Any) -> Any:
        inputs = operator.fill_defaults(inputs)
        changed = [inputs[i] for i in mutated if inputs[i] is not None]
        torch.autograd.graph.increment_version(changed)
        with torch._C._AutoDispatchBelowADInplaceOrView():
            return overload.redispatch(keys & torch._C._after_ADInplaceOrView_keyset, *inputs)

    return run


def _batched(overload: Any, operator: TorchOperator) -> Callable[..., Any]:
    """Return the operator under ``torch.vmap``: a call for each item of the batch."""

    mutated, fake = [operator.inputs.index(name) for name in operator.mutated], _fake(operator)

    def run(info: Any, in_dims: tuple[int | None, ...], *inputs: Any) -> Any:
        written = [i for i in mutated if i < len(inputs) and inputs[i] is not None]
        if any(in_dims[i] is None for i in written):
            raise RuntimeError(
                f"{operator.name} writes {' and '.join(operator.mutated)} in place, and "
                "torch.vmap maps it over other arguments: map it over what it writes, too"
            )
        rows = [
            overload(*(v if d is None else v.select(d, i) for v, d in zip(inputs, in_dims)))
            for i in range(info.batch_size)
        ]
        if not operator.outputs:
            return None, None
        if rows:
            stacked = tuple(torch.stack(column) for column in zip(*map(_as_tuple, rows)))
        else:
            values = (
                v if d is None else v.new_empty(v.movedim(d, 0).shape[1:])
                for v, d in zip(inputs, in_dims)
            )
            stacked = tuple(r.new_empty((0, *r.shape)) for r in _as_tuple(fake(*values)))
        return (stacked[0], 0) if len(stacked) == 1 else (stacked, (0,) * len(stacked))

    return run
