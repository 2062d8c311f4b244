"""The table of passes: contracts hold, and analyses are computed once."""

from __future__ import annotations

import pytest

from pycu2c.base.records import replace
from pycu2c.compiler import lower
from pycu2c.ir.forms import C_SEMANTICS, TYPED, ModuleSummary, summarize_module
from pycu2c.ir.nodes import Module
from pycu2c.ir.printer import print_module
from pycu2c.ir.verifier import InternalError
from pycu2c.pipeline import FRONTEND, TARGETS, Target
from pycu2c.transforms.analyses import EFFECTFUL, Analyses, Analysis, Inputs, kernel_body
from pycu2c.transforms.pass_contract import Pass, run_passes
from support.golden_kernels import CASES, built_for_cpu

# conditions that choose between transformations; the others only skip passes with nothing to do
CHOICES = {"coroutines", "nontemporal_stores"}


@pytest.mark.parametrize("target", TARGETS.values(), ids=lambda t: t.name)
def test_a_pass_requires_a_form_that_an_earlier_pass_produces(target: Target) -> None:
    forms = {TYPED}
    for step in (*FRONTEND, *target.passes):
        assert forms.issuperset(step.requires), step.name
        forms |= {step.produces} if step.produces else set()


@pytest.mark.parametrize(("name", "variant"), CASES)
def test_a_pass_that_is_skipped_would_change_nothing(name: str, variant: str) -> None:
    module, target, assumptions = built_for_cpu(name, variant)
    form, analyses = TYPED, Analyses(module, Inputs(assumptions, narrow_ints=target.narrow_ints))
    for step in target.passes:
        if form not in step.requires:
            continue
        applies = step.when(analyses)
        if applies or step.name not in CHOICES:
            changed = step.run(analyses)
            if not applies:
                assert print_module(changed) == print_module(analyses.module), step.name
                continue
            form = step.produces or form
            analyses.replace_module(changed, step.preserves)


@pytest.mark.parametrize(("name", "variant"), CASES)
def test_preserved_analyses_are_still_right(name: str, variant: str) -> None:
    module, target, assumptions = built_for_cpu(name, variant)
    preserving = {p.name for p in target.passes if EFFECTFUL in p.preserves}
    seen: set[str] = set()

    def observe(step: str, before: Module, after: Module) -> None:
        if step in preserving:
            inputs = Inputs(assumptions)
            assert Analyses(before, inputs).get(EFFECTFUL) == Analyses(after, inputs).get(EFFECTFUL)
            seen.add(step)

    lower(module, target, assumptions, observe=observe)
    assert seen


def test_ir_that_is_not_in_the_form_is_an_internal_error() -> None:
    module, _, assumptions = built_for_cpu("floor_division", "i32")
    inactive = Pass("idle", lambda m: replace(m), (TYPED,), C_SEMANTICS)
    with pytest.raises(
        InternalError, match=r"idle has created IR that is not C_SEMANTICS: .*floordiv"
    ):
        run_passes(module, (inactive,), Inputs(assumptions))


def test_an_analysis_is_computed_again_only_where_its_part_has_changed() -> None:
    computed: list[Module] = []

    def run(analyses: Analyses) -> ModuleSummary:
        computed.append(analyses.module)
        return summarize_module(analyses.module)

    summary: Analysis[ModuleSummary] = Analysis("summary", run, kernel_body)
    module, _, assumptions = built_for_cpu("saxpy", "f32")
    analyses = Analyses(module, Inputs(assumptions))
    assert analyses.get(summary) is analyses.get(summary)
    renamed = replace(module, kernel=replace(module.kernel, name="other"))
    analyses.replace_module(renamed)
    analyses.get(summary)
    assert computed == [module]
    rebuilt = replace(module, kernel=replace(module.kernel, body=(*module.kernel.body,)[:-1]))
    analyses.replace_module(rebuilt)
    analyses.get(summary)
    assert computed == [module, rebuilt]
    again = replace(rebuilt, kernel=replace(rebuilt.kernel, body=module.kernel.body))
    analyses.replace_module(again, preserved=(summary,))
    analyses.get(summary)
    assert computed == [module, rebuilt]
