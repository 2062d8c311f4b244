"""Generate CUDA C's functions of numbers from the declarations of intrinsics.

Each pure intrinsic of ``cuda`` declares a CUDA expression and a C expression. ``__brev(x)`` and
``brev_u32(x)`` give a C++ function ``__brev`` that calls the C helper ``brev_u32``.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Set
from typing import NamedTuple

from pycu2c.base.dtypes import BFLOAT16, FLOAT16, INT32, DType
from pycu2c.codegen.helpers.catalog import helper_called, texts_of
from pycu2c.codegen.helpers.directed_rounding_helpers import ROUNDING_HELPERS
from pycu2c.csyntax import nodes as c
from pycu2c.csyntax.expression_printer import print_expr
from pycu2c.ops.intrinsics.kinds import FIXED
from pycu2c.ops.intrinsics.registry import REGISTRY, Intrinsic, import_all

# defined by the C library, as overloads in functions.h, or for halves in half.h
_DEFINED_ELSEWHERE = frozenset(
    name + suffix
    for name in ("j0", "j1", "y0", "y1", "jn", "yn", "exp10", "rsqrt", "rcbrt", "__hadd")
    for suffix in ("", "f")
)
_PARAMETER_KINDS = frozenset(("T", "F", "int", *FIXED))
_FAST_MATH = "cuda.fast_"  # the C library may declare functions of their CUDA names


class ScalarFunction(NamedTuple):
    """A function of CUDA C, as an intrinsic for one dtype."""

    intrinsic: Intrinsic
    dtype: DType

    def arguments(self) -> dict[str, c.Expr]:
        return {name: c.Name(name) for name, _ in self.intrinsic.parameters}

    def c_expression(self) -> c.Expr:
        assert self.intrinsic.c is not None
        return self.intrinsic.c(self.arguments(), self.dtype)

    def types(self) -> Iterator[DType]:
        """Yield the types of the parameters."""
        for _, kind in self.intrinsic.parameters:
            yield INT32 if kind == "int" else FIXED.get(kind, self.dtype)


def scalar_functions(words: Set[str] | None) -> tuple[str, ...]:
    """Return the definitions of the functions among ``words``, or of all."""
    functions = {
        name: function
        for name, function in _available_functions().items()
        if words is None or name in words
    }
    if not functions:
        return ()
    helpers = dict.fromkeys(
        text for function in functions.values() for text in _helper_texts(function)
    )
    typed_definitions = (_typed_definition(name, function) for name, function in functions.items())
    wrappers = (_wrapper(name, function) for name, function in functions.items())
    return ("namespace pycu2c {", *helpers, *typed_definitions, "} // namespace pycu2c", *wrappers)


@functools.cache
def _available_functions() -> Mapping[str, ScalarFunction]:
    """Return the functions by their CUDA names; of several integer types, the unsigned one."""
    import_all()
    functions = (
        ScalarFunction(intrinsic, dtype)
        for intrinsic in REGISTRY.values()
        if intrinsic.is_pure and intrinsic.name.startswith("cuda.")
        if intrinsic.c and intrinsic.cuda and intrinsic.parameters
        if all(kind in _PARAMETER_KINDS for _, kind in intrinsic.parameters)
        for dtype in intrinsic.dtypes or (FIXED[intrinsic.parameters[0][1]],)
    )
    pairs = ((_cuda_name(function), function) for function in functions)
    return {name: function for name, function in pairs if name}


def _cuda_name(function: ScalarFunction) -> str:
    """Return the name in CUDA C, or "" if the function is not to be generated."""
    intrinsic, dtype = function
    assert intrinsic.cuda is not None
    assert intrinsic.c is not None
    arguments = function.arguments()
    call = intrinsic.cuda(arguments, dtype)
    if not isinstance(call, c.CallExpr) or call.arguments != tuple(arguments.values()):
        return ""
    if call == intrinsic.c(arguments, dtype) or call.function in _DEFINED_ELSEWHERE:
        return ""
    if helper_called(call):
        return ""
    has_halves = {FLOAT16, BFLOAT16} & {*function.types(), FIXED.get(intrinsic.result)}
    return "" if has_halves else call.function


def _helper_texts(function: ScalarFunction) -> list[str]:
    helper = helper_called(function.c_expression())
    texts = texts_of([helper], "c") if helper else []
    if not helper or helper[0] not in ROUNDING_HELPERS:
        return texts
    # if inlined, the compiler may move the addition before the change of the rounding mode
    return [
        text.replace("static inline", "static __attribute__((noinline, noipa))") for text in texts
    ]


def _typed_definition(name: str, function: ScalarFunction) -> str:
    pairs = zip(function.types(), function.arguments())
    parameters = ", ".join(f"{dtype.cuda} {parameter}" for dtype, parameter in pairs)
    result = print_expr(function.c_expression())
    return f"static inline auto cuda_{name}({parameters}) {{ return {result}; }}"


def _wrapper(name: str, function: ScalarFunction) -> str:
    """Return a template, to which C++ prefers a function of the text with the same name.

    Names that the C library may declare become macros.
    """
    typed_name = f"::pycu2c::cuda_{name}"
    if function.intrinsic.name.startswith(_FAST_MATH):
        return f"#define {name} {typed_name}"
    return (
        f"template <class... A> static inline auto {name}(A... a) -> decltype({typed_name}(a...)) "
        f"{{ return {typed_name}(a...); }}"
    )
