"""Convert the user's expressions of a reduction, text or Python functions, to text."""

from __future__ import annotations

import re
from typing import Any

from pycu2c.base import dtypes
from pycu2c.base.dtypes import DType
from pycu2c.compat.cupy.call_arguments import KernelDeclaration
from pycu2c.compat.cupy.parameter_declarations import (
    ArgumentTypeError,
    c_name,
    is_kernel_name,
    names_in,
)
from pycu2c.compat.cupy.python_functions import (
    PythonFunction,
    assignments,
    check_conversion,
    joined_texts,
    value_of,
)
from pycu2c.compat.cupy.reduction.source_parts import ReductionSpec, UserSource

_NUMBER = re.compile(r"[-+]?(\d|\.\d)[\w.+-]*")


class ReductionSource:
    """The expressions of a kernel, as text for the types of a call.

    An example in CuPy's documentation omits post_map_expr, so the identity is passed as
    post_map_expr, and the name as identity. If post_map_expr is a number and identity is a name,
    they are used as the identity and the name.
    """

    def __init__(
        self,
        declaration: KernelDeclaration,
        expressions: tuple[Any, Any, Any],
        identity: object,
        reduce_type: str | None,
        preamble: str,
        macros: tuple[str, ...],
    ) -> None:
        self._declaration, self._preamble, self._macros = declaration, preamble, macros
        self.map_expr, self.reduce_expr, self.post_map_expr = expressions
        self.name = declaration.name
        if self._omits_post_map(identity):
            identity, self.post_map_expr, self.name = self.post_map_expr, "", str(identity)
        self.identity = "" if identity is None else str(identity)
        if isinstance(self.post_map_expr, str) and not self.post_map_expr.strip():
            self.post_map_expr = f"{declaration.outputs[0].name} = a"
        self.reduce_type = _c_type(reduce_type or declaration.outputs[0].ctype)
        self._functions = {
            role: expression
            if isinstance(expression, PythonFunction)
            else PythonFunction(expression, f"{self.name}_{role}")
            for role, expression in self._by_role().items()
            if not isinstance(expression, str)
        }

    def _by_role(self) -> dict[str, Any]:
        """Return the expressions by their role, which is also the suffix of function names."""
        expressions = (self.map_expr, self.reduce_expr, self.post_map_expr)
        return dict(zip(("mapped", "reduced", "finished"), expressions))

    def _omits_post_map(self, identity: object) -> bool:
        """Return whether post_map_expr is omitted, as in CuPy's example."""
        is_number = isinstance(self.post_map_expr, (int, float)) or (
            isinstance(self.post_map_expr, str) and _NUMBER.fullmatch(self.post_map_expr.strip())
        )
        return bool(is_number) and is_kernel_name(identity)

    @property
    def names(self) -> frozenset[str]:
        """Return the names in the texts."""
        return names_in(*(t for t in (self.map_expr, self.post_map_expr) if isinstance(t, str)))

    def user_source(self, spec: ReductionSpec) -> UserSource:
        """Return the text for the types of a call. Raises CompileError, ArgumentTypeError."""
        texts: dict[str, str] = self._by_role()
        definitions: list[str] = []
        for role, function in self._functions.items():
            texts[role], definition = self._call_text(role, function, spec)
            definitions.append(definition)
        preamble = joined_texts([self._preamble, *definitions]) if definitions else self._preamble
        return UserSource(
            self.name,
            texts["mapped"],
            texts["reduced"],
            texts["finished"],
            self.identity,
            self.reduce_type,
            preamble,
            self._macros,
        )

    def _call_text(
        self, role: str, function: PythonFunction, spec: ReductionSpec
    ) -> tuple[str, str]:
        """Return the call that replaces a text of the user, and the definition of the function."""
        reduced_dtype = self._reduced_dtype(spec)
        if role == "mapped":
            values = [value_of(b.name, b.dtype) for b in spec.bound_parameters[: spec.input_count]]
        else:
            names = ("a", "b") if role == "reduced" else ("a",)
            values = [value_of(name, reduced_dtype) for name in names]
        if len(function.parameters) != len(values):
            raise ArgumentTypeError(
                f"{function.name} takes ({', '.join(function.parameters)}): it is called "
                f"with {len(values)} values"
            )
        call = function.call_with(values)
        outputs = spec.bound_parameters[spec.input_count :]
        targets = [b.dtype for b in outputs] if role == "finished" else [reduced_dtype]
        if len(call.results) != len(targets):
            raise ArgumentTypeError(
                f"{function.name} returns {len(call.results)} values, not {len(targets)}"
            )
        for result, target in zip(call.results, targets):
            check_conversion(result, target, role)
        if role != "finished":
            return call.expression, call.text
        return assignments(call, [b.name for b in outputs]), call.text

    def _reduced_dtype(self, spec: ReductionSpec) -> DType:
        """Return the type of the reduced values."""
        by_name = dict(spec.type_placeholders) | {c_name(dtype): dtype for dtype in dtypes.DTYPES}
        dtype = by_name.get(self.reduce_type)
        if dtype is None:
            raise ArgumentTypeError(
                f"{self.name}: reduce_type is {self.reduce_type}, and Python functions support "
                f"only {', '.join(c_name(d) for d in dtypes.DTYPES)}: use C text"
            )
        return dtype


def _c_type(name: str) -> str:
    """Return a C type name; numpy's dtype names are accepted."""
    dtype = dtypes.BY_NAME.get(name)
    return c_name(dtype) if dtype and not dtype.is_vector else name
