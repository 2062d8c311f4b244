"""Instrumented kernels for a GPU with ``#line`` directives: each has a line of a file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pycu2c import kernel
from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.checks.coverage_flags import with_coverage_flags
from pycu2c.checks.instrumentation import LaunchFacts, instrument
from pycu2c.checks.memory_regions import memory_regions
from pycu2c.compiler import build_module, generate
from pycu2c.declarations.options import CHECK_GROUPS, Options
from pycu2c.pipeline import TARGETS
from pycu2c.runtime.arguments.array_argument import ArrayArgument
from pycu2c.runtime.launch_configuration import extent
from support.defects import Seeded, imported, kernels_of

DEFECTS = sorted((Path(__file__).parent / "defects").glob("[!t]*.py"))
KERNELS = [k for path in DEFECTS for k in kernels_of(imported(path))]
CASES = [pytest.param(k, id=k.name) for k in KERNELS[::5]]
OPTIONS = Options(check=CHECK_GROUPS, lineinfo=True)


@pytest.mark.filterwarnings("ignore::pycu2c.CompileWarning")
@pytest.mark.parametrize("seeded", CASES)
def test_each_directive_has_a_line(seeded: Seeded) -> None:
    text = instrumented_text(seeded)
    directives = re.findall(r'^ *#line (\d+) "(.*)"$', text, re.MULTILINE)
    assert len(directives) > 10
    assert not [(line, file) for line, file in directives if line == "0" or not file]


def instrumented_text(seeded: Seeded) -> str:
    """Return the text for a GPU of a kernel with all checks, which records its lines."""
    launcher = kernel(seeded.function, check=True).launcher
    flattened = launcher.flatten(seeded.arguments())
    module = build_module(
        launcher.source, launcher.signature(flattened), OPTIONS, line_marks=True
    ).module
    grid, block = (extent(e, "grid", seeded.name) for e in seeded.configuration[:2])
    assumptions = LaunchAssumptions(grid=grid, block=block)
    arrays = {n: a for n, a in enumerate(flattened.leaves) if isinstance(a, ArrayArgument)}
    facts = LaunchFacts(assumptions, None, tuple(memory_regions(arrays)), bounds_waiting=True)
    instrumented = instrument(module, frozenset(CHECK_GROUPS), facts)
    marked, _ = with_coverage_flags(instrumented.module)
    return generate(marked, TARGETS["cuda"], LaunchAssumptions(), OPTIONS, "lines").text
