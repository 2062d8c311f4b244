"""Find the kernels of CUDA C texts, and the types of their parameters."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pycu2c.aot.exported_library import (
    ExportedArgument,
    ExportError,
    c_name,
    check_arguments,
)
from pycu2c.base import dtypes
from pycu2c.base.records import dataclass
from pycu2c.base.types import Array, ParameterType, Scalar, Signature
from pycu2c.compat.cuda_text.module import TextModule
from pycu2c.compat.cuda_text.parse.declarations import split_at_commas
from pycu2c.compat.cuda_text.parse.functions import FunctionDefinition, ParsedParameter
from pycu2c.compat.cuda_text.parse.macros import Macros
from pycu2c.compat.cuda_text.parse.tokens import Token
from pycu2c.compat.cuda_text.source_text import CudaSource
from pycu2c.compat.pycuda.c_types import VectorArg, parse_c_arg


@dataclass(frozen=True, slots=True)
class CudaTextKernel:
    """A kernel of a CUDA C text.

    expression: the name of the kernel, or of an instance of a template, such as ``add<int>``.
    """

    module: TextModule
    expression: str
    is_cooperative: bool = False

    @property
    def name(self) -> str:
        """Return the name of the kernel in C."""
        return re.sub(r"\W+", "_", self.expression).strip("_")

    @property
    def definition(self) -> FunctionDefinition:
        """Return the definition in the text. Raises ExportError."""
        name = self.expression.partition("<")[0].strip().lstrip("&:")
        found = [f for f in self.module.kernels if name in (f.path, f.name)]
        if len(found) == 1:
            return found[0]
        reason = "is defined more than once" if found else "is not defined, or a macro defines it"
        raise ExportError(f"{self.module.text.name}: {self.expression} {reason}")


def arguments_of(
    kernel: CudaTextKernel, signatures: Sequence[Signature]
) -> tuple[ExportedArgument, ...]:
    """Return the arguments of a kernel. Raises ExportError.

    Their types come from the signature if there is one, and from the text otherwise.
    """
    parameters = kernel.definition.parameters
    types = signatures[0].parameters if signatures else _types_in_text(kernel)
    if len(signatures) > 1 or len(types) != len(parameters):
        raise ExportError(
            f"{kernel.name} takes one signature, with a type for each of "
            f"({', '.join(p.name for p in parameters)})"
        )
    arguments = tuple(map(_argument, parameters, types, range(len(types))))
    check_arguments(kernel.name, arguments)
    return arguments


def _argument(parameter: ParsedParameter, kind: ParameterType, position: int) -> ExportedArgument:
    name = c_name(parameter.name or f"argument_{position}")
    if not isinstance(kind, Array):
        assert isinstance(kind, Scalar)
        return ExportedArgument(name, kind, False)
    array = Array(kind.dtype, 1, "C")
    return ExportedArgument(name, array, not parameter.is_read_only, has_any_axes=True)


def _types_in_text(kernel: CudaTextKernel) -> list[ParameterType]:
    """Return the types of the parameters in the text of a kernel. Raises ExportError."""
    text = kernel.module.text
    macros = Macros(text, kernel.module.options.macros)
    names = dict(_template_arguments(kernel))
    types: list[ParameterType] = []
    for parameter in kernel.definition.parameters:
        tokens = [Token("identifier", word, 0, 0) for word in parameter.text.split()]
        words = [names.get(t.text, t.text) for word in tokens for t in macros.expand(word)]
        kind = _type_of(" ".join(words))
        if kind is None:
            raise ExportError(
                f"`{parameter.text}` of {kernel.name} has an unknown type: pass --signature "
                f"'{kernel.name}=...', with a type for each parameter, "
                'such as "float32[:], int32"'
            )
        types.append(kind)
    return types


def _template_arguments(kernel: CudaTextKernel) -> Iterator[tuple[str, str]]:
    """Yield the names of the parameters of a template, with the arguments of its instance."""
    definition, tokens = kernel.definition, kernel.module.text.tokens
    if not definition.is_template:
        return
    head = tokens[definition.start : definition.body[0]]
    end = next(i for i, t in enumerate(head) if t.text in ("__global__", "extern", "static"))
    parameters = split_at_commas(head[2 : end - 1])
    arguments = CudaSource(kernel.expression.partition("<")[2].rstrip().removesuffix(">")).tokens
    for parameter, argument in zip(parameters, split_at_commas(arguments)):
        yield parameter[1].text, " ".join(t.text for t in argument)


def _type_of(declaration: str) -> ParameterType | None:
    """Return the type of a C parameter; None if a launch function does not support it."""
    is_array = re.search(r"[*\[]", declaration) is not None
    if len(re.findall(r"[*\[&(]", declaration)) > is_array:
        return None
    vector = next((dtypes.VECTORS[w] for w in declaration.split() if w in dtypes.VECTORS), None)
    if vector is not None:
        return Array(vector, 1, "C") if is_array else None
    try:
        argument = parse_c_arg(re.sub(r"(\w+ :: )*complex <", "pycuda::complex<", declaration))
    except ValueError:
        return None
    dtype = dtypes.from_numpy(argument.dtype)
    if dtype is None:
        return None
    return Array(dtype, 1, "C") if isinstance(argument, VectorArg) else Scalar(dtype)
