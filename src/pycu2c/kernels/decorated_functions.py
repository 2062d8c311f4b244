"""Read a decorated function: its source and declared signatures; check its syntax."""

from __future__ import annotations

from types import FunctionType

from pycu2c.base.diagnostics import CompileError, Diagnostic
from pycu2c.base.source import Source, SourceUnavailable
from pycu2c.base.source import source_of as readable_source_of
from pycu2c.base.types import NONE, Signature
from pycu2c.declarations.signatures import SignatureError, annotated_signature, parse_signatures
from pycu2c.frontend.subset.subset_check import early_diagnostics


def parse_declared(
    source: Source, declared: object, *, is_kernel: bool = False
) -> tuple[Signature, ...]:
    """Return the declared signatures of a function, or else that of its annotations."""
    try:
        if declared is not None:
            signatures = parse_signatures(declared)
        else:
            annotated = annotated_signature(source.python)
            signatures = () if annotated is None else (annotated,)
        for signature in signatures:
            if is_kernel and signature.result not in (None, NONE):
                raise SignatureError(
                    f"a kernel returns nothing: write void{signature}, "
                    f"and give the results in an array"
                )
        return signatures
    except SignatureError as error:
        label = source.span(source.tree)
        raise SignatureError(f"{label}: {source.name}: {error}") from None


def check_subset(source: Source, *, may_return_value: bool) -> None:
    """Raise CompileError for syntax that kernels do not support."""
    diagnostics = early_diagnostics(source, may_return_value=may_return_value)
    if diagnostics:
        __tracebackhide__ = True
        raise CompileError(diagnostics)


def source_of(function: object) -> Source:
    """Return the source of a function. Raises TypeError, CompileError."""
    if not isinstance(function, FunctionType):
        raise TypeError(f"a kernel is a Python function, not {function!r}{_hint(function)}")
    try:
        return readable_source_of(function)
    except SourceUnavailable as error:
        raise CompileError([Diagnostic("no-source", (), str(error))]) from None


def _hint(function: object) -> str:
    if isinstance(function, staticmethod | classmethod):
        return ": write @staticmethod above"
    is_decorated = hasattr(function, "__wrapped__")
    return ": remove the other decorator, or pass its __wrapped__" if is_decorated else ""
