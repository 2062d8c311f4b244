"""Passes with their contracts, and the pass manager that runs and verifies them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from pycu2c.base.errors import environment_switch
from pycu2c.base.output.tracing import span
from pycu2c.base.records import dataclass
from pycu2c.base.recursion_limit import frames_for_calls
from pycu2c.ir import nodes as ir
from pycu2c.ir.forms import TYPED, IRForm, check_form
from pycu2c.ir.verifier import verified
from pycu2c.transforms.analyses import SUMMARY, Analyses, AnyAnalysis, Inputs

# pass name, old module, new module
Observer: TypeAlias = Callable[[str, ir.Module, ir.Module], None]


def always(_: Analyses) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Pass:
    """A transformation with its contract. ``produces`` is None if the IR form stays the same.

    ``function`` is called with the module and the results of ``uses``. ``preserves`` are analyses
    whose results still hold after the pass; ``when`` is the condition under which it applies.
    """

    name: str
    function: Callable[..., ir.Module]
    requires: tuple[IRForm, ...]
    produces: IRForm | None = None
    uses: tuple[AnyAnalysis, ...] = ()
    preserves: tuple[AnyAnalysis, ...] = ()
    when: Callable[[Analyses], bool] = always

    def applies(self, form: IRForm, analyses: Analyses) -> bool:
        return form in self.requires and self.when(analyses)

    def run(self, analyses: Analyses) -> ir.Module:
        return self.function(analyses.module, *map(analyses.get, self.uses))


def run_passes(
    module: ir.Module,
    passes: Iterable[Pass],
    inputs: Inputs,
    observe: Observer | None = None,
    created_by: str = "",
) -> ir.Module:
    """Run the passes that apply, in order, and verify the IR after the last.

    Where the environment variable PYCU2C_VERIFY is 1, as in the tests, the IR is verified after
    each pass. Raises InternalError if a pass returns invalid IR, CompileError if it rejects the
    program. ``observe`` is called after each pass with the module before and after it.
    ``created_by``: what has created the module, if that is not verified yet.
    """
    verifies_each = environment_switch("PYCU2C_VERIFY")
    form, analyses, changed_by = TYPED, Analyses(module, inputs), created_by
    if verifies_each and created_by:
        _verify(analyses, form, created_by)
    with frames_for_calls(len(module.device_functions)):  # some analyses follow calls
        for current_pass in passes:
            if not current_pass.applies(form, analyses):
                continue
            with span("compile.passes", current_pass.name):
                old_module, module = module, current_pass.run(analyses)
            form = current_pass.produces or form
            if module is not old_module:
                changed_by = current_pass.name
                analyses.replace_module(module, current_pass.preserves)
                if verifies_each:
                    _verify(analyses, form, changed_by)
            if observe:
                observe(current_pass.name, old_module, module)
        if changed_by and not verifies_each:
            _verify(analyses, form, changed_by)
    return module


def _verify(analyses: Analyses, form: IRForm, after: str) -> None:
    verified(analyses.module, after)
    check_form(analyses.get(SUMMARY), form, after)
