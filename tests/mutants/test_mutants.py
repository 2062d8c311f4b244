"""The table of planted faults fits the checkout."""

from __future__ import annotations

import pytest

from mutants.__main__ import ROOT, Mutant, read_mutants

MUTANTS = read_mutants()


@pytest.mark.golden
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda m: m.name)
def test_a_fragment_occurs_once_and_its_tests_exist(mutant: Mutant) -> None:
    text = (ROOT / "src" / "pycu2c" / mutant.file).read_text()
    assert text.count(mutant.before) == 1
    assert mutant.after != mutant.before
    assert mutant.tests
    assert all((ROOT / test.partition("::")[0]).exists() for test in mutant.tests)


def test_names_differ() -> None:
    assert len({m.name for m in MUTANTS}) == len(MUTANTS)
