"""Check that integer constants fit in 64 bits after constant folding, which is exact."""

from __future__ import annotations

from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.types import WEAK_INT
from pycu2c.frontend.expressions.arithmetic import fits_64_bits
from pycu2c.frontend.subset.unsupported_syntax import TOO_WIDE
from pycu2c.ir.nodes import Const, Module
from pycu2c.ir.walk import all_expressions


def check_numbers(module: Module) -> None:
    """Check that each integer constant fits in 64 bits. Raises CompileError."""
    for function in (module.kernel, *module.devices):
        for e in all_expressions(function.body):
            if isinstance(e, Const) and e.type == WEAK_INT and not fits_64_bits(int(e.value)):
                fail(TOO_WIDE.code, Label(e.span, TOO_WIDE.text), hint=TOO_WIDE.hint)
