"""Derive the declaration of an operator from a kernel: its parameters, and what it writes."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Container, Sequence
from typing import Any

import torch

from pycu2c.base.dtypes import DTypeKind
from pycu2c.base.types import Array, ParameterType, Scalar, leaf_types
from pycu2c.declarations.signatures import SignatureError, evaluate_annotation, parse_type
from pycu2c.kernels.kernel import Kernel
from pycu2c.runtime.arguments import record_references


def input_parameters(kernel: Kernel[Any], outputs: Container[str]) -> dict[str, inspect.Parameter]:
    """Return the parameters of a kernel that its operator does not allocate.

    Their annotations are as in ``torch.library.infer_schema``. They come from the declared
    signature or from the annotations of the kernel. Raises TypeError.
    """
    parameters = inspect.signature(kernel.python).parameters
    if any(p.kind is not p.POSITIONAL_OR_KEYWORD for p in parameters.values()):
        raise TypeError(f"{kernel.name}: all parameters of an operator are positional, without *")
    declared = kernel.declared[0].parameters if kernel.declared else ()
    annotations = dict(zip(parameters, declared)) or inspect.get_annotations(kernel.python)
    inputs = {name: p for name, p in parameters.items() if name not in outputs}
    missing = [name for name in inputs if name not in annotations]
    if missing:
        raise TypeError(
            f"{kernel.name}: an operator needs the types of its parameters, and "
            f"{' and '.join(missing)} {'have' if missing[1:] else 'has'} none: annotate "
            f"{'them' if missing[1:] else 'it'}, as in `{missing[0]}: torch.Tensor`"
        )
    names = kernel.python.__globals__
    return {
        name: p.replace(annotation=_python_type(evaluate_annotation(annotations[name], names)))
        for name, p in inputs.items()
    }


_PYTHON_TYPES = {
    DTypeKind.BOOL: bool,
    DTypeKind.SIGNED: int,
    DTypeKind.UNSIGNED: int,
    DTypeKind.FLOAT: float,
}


def _python_type(annotation: object) -> object:
    """Return the annotation of an operator for one of a kernel; others are returned unchanged."""
    origin = typing.get_origin(annotation) or annotation
    if isinstance(origin, type) and hasattr(origin, "__dlpack__"):
        return torch.Tensor
    try:
        declared = parse_type(annotation)
    except SignatureError:
        return annotation
    if isinstance(declared, Array):
        return torch.Tensor
    if isinstance(declared, Scalar):
        return _PYTHON_TYPES.get(declared.dtype.kind, annotation)
    return annotation


def written_names(kernel: Kernel[Any]) -> set[str]:
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
