"""The declaration of an operator: its parameters and what it writes, derived from a kernel."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import torch

from pycu2c.base.dtypes import DTypeKind
from pycu2c.base.records import dataclass
from pycu2c.base.types import Array, ParameterType, Scalar, leaf_types
from pycu2c.declarations.signatures import SignatureError, evaluate_annotation, parse_type
from pycu2c.kernels.kernel import Kernel
from pycu2c.runtime.arguments import record_references

OutputRule: TypeAlias = "str | Callable[..., Any]"


@dataclass(frozen=True, slots=True)
class TorchOperator:
    """The declaration of an operator.

    parameters: its inputs, with annotations as in ``torch.library.infer_schema``.
    tensors: the positions of those that are tensors.
    outputs: the rule of each parameter of the kernel that the operator allocates.
    mutated: the positions of the inputs that the kernel writes.
    """

    name: str
    kernel: Kernel[Any]
    parameters: Mapping[str, inspect.Parameter]
    tensors: tuple[int, ...]
    outputs: Mapping[str, OutputRule]
    mutated: tuple[int, ...]

    @property
    def inputs(self) -> tuple[str, ...]:
        return tuple(self.parameters)

    @property
    def mutated_names(self) -> list[str]:
        return [self.inputs[i] for i in self.mutated]

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
        schema: str = torch.library.infer_schema(declare, mutates_args=self.mutated_names)
        return schema

    def fill_defaults(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Add the values that PyTorch leaves out because they are those of the defaults."""
        left_out = list(self.parameters.values())[len(inputs) :]
        return (*inputs, *(parameter.default for parameter in left_out))

    def first_tensor(self, inputs: tuple[Any, ...]) -> Any:
        """Return the first tensor of a call, which determines the device."""
        return next(inputs[i] for i in self.tensors if inputs[i] is not None)

    def allocators(self) -> list[Callable[[tuple[Any, ...]], Any]]:
        """Return a function of the inputs for each output, which returns a new tensor."""
        return [self._allocator(rule) for rule in self.outputs.values()]

    def _allocator(self, rule: OutputRule) -> Callable[[tuple[Any, ...]], Any]:
        if isinstance(rule, str):
            position = self.inputs.index(rule)
            return lambda inputs: torch.empty_like(inputs[position])

        def allocate(inputs: tuple[Any, ...]) -> Any:
            result = rule(*inputs)
            if any(result is value for value in inputs):
                raise ValueError(
                    f"{self.name}: a rule of out= returned an argument; it returns a new tensor, "
                    "or a shape and a dtype"
                )
            if isinstance(result, torch.Tensor):
                return result
            shape, dtype = result
            return torch.empty(shape, dtype=dtype, device=self.first_tensor(inputs).device)

        return allocate


def declared_operator(
    kernel: Any,
    name: str,
    outputs: Mapping[str, OutputRule],
    mutates_args: Sequence[str] | None,
) -> TorchOperator:
    """Return the declaration of an operator. Raises TypeError or ValueError."""
    if not isinstance(kernel, Kernel):
        raise TypeError(f"pycu2c.torch.op takes a kernel, as @kernel makes one, not {kernel!r}")
    parameters = _inputs(kernel, outputs)
    tensors = [n for n, p in parameters.items() if _is_tensor(p.annotation)]
    if not tensors:
        raise TypeError(f"{kernel.name}: an operator takes a tensor, which determines its device")
    for known, names, what in (
        (kernel.launcher.parameters, outputs, "out names"),
        (tensors, [r for r in outputs.values() if isinstance(r, str)], "a rule in out names"),
        (tensors, mutates_args or (), "mutates_args names"),
    ):
        for unknown in [n for n in names if n not in known]:
            raise ValueError(f"{kernel.name}: {what} {unknown}, and there are {', '.join(known)}")
    written = _written_names(kernel) if mutates_args is None else mutates_args
    positions = {n: i for i, n in enumerate(parameters)}
    mutated = tuple(positions[n] for n in tensors if n in written)
    return TorchOperator(
        name, kernel, parameters, tuple(positions[n] for n in tensors), outputs, mutated
    )


# ---- types ---------------------------------------------------------------------------------


def _inputs(kernel: Kernel[Any], outputs: Mapping[str, object]) -> dict[str, inspect.Parameter]:
    """Return the parameters of a kernel that the operator does not allocate.

    Their types are those of the declared signature, or of the annotations. Raises TypeError.
    """
    parameters = inspect.signature(kernel.python).parameters
    if any(p.kind is not p.POSITIONAL_OR_KEYWORD for p in parameters.values()):
        raise TypeError(f"{kernel.name}: all parameters of an operator are positional, without *")
    declared = kernel.declared[0].parameters if kernel.declared else ()
    notes = dict(zip(parameters, declared)) or inspect.get_annotations(kernel.python)
    inputs = {name: p for name, p in parameters.items() if name not in outputs}
    missing = [name for name in inputs if name not in notes]
    if missing:
        raise TypeError(
            f"{kernel.name}: an operator needs the types of its parameters, and "
            f"{', '.join(missing)} has none: annotate it, as in `{missing[0]}: torch.Tensor`"
        )
    names = kernel.python.__globals__
    return {
        name: p.replace(annotation=_python_type(evaluate_annotation(notes[name], names)))
        for name, p in inputs.items()
    }


_PYTHON_TYPES = {
    DTypeKind.BOOL: bool,
    DTypeKind.SIGNED: int,
    DTypeKind.UNSIGNED: int,
    DTypeKind.FLOAT: float,
}


def _python_type(note: object) -> object:
    """Return the annotation of an operator for one of a kernel; others are returned unchanged."""
    origin = typing.get_origin(note) or note
    if isinstance(origin, type) and hasattr(origin, "__dlpack__"):
        return torch.Tensor
    try:
        declared = parse_type(note)
    except SignatureError:
        return note
    if isinstance(declared, Array):
        return torch.Tensor
    return _PYTHON_TYPES.get(declared.dtype.kind, note) if isinstance(declared, Scalar) else note


def _is_tensor(note: object) -> bool:
    return note is torch.Tensor or torch.Tensor in typing.get_args(note)


# ---- what a kernel writes ------------------------------------------------------------------


def _written_names(kernel: Kernel[Any]) -> set[str]:
    """Return the parameters that a kernel writes.

    Without a declared signature these are the targets of assignments, which each launch checks.
    """
    if not kernel.declared:
        return record_references.written_names(kernel.source.tree)
    typed = [(s.parameters, kernel.launcher.typed_kernel(s).metadata) for s in kernel.declared]
    names = kernel.launcher.parameters
    return {n for types, m in typed for n in written_parameters(names, types, m.written)}


def written_parameters(
    names: Sequence[str], types: Sequence[ParameterType], written: frozenset[int]
) -> list[str]:
    """Return the parameters that have the written leaves."""
    owners = [name for name, kind in zip(names, types) for _ in leaf_types(kind)]
    return [owners[leaf] for leaf in sorted(written)]
