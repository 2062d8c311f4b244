"""Every pass: the IR that it takes and the IR that it returns, for a small kernel.

``golden/passes/<pass>/kernel.py`` has a kernel; ``before.ir`` and ``after.ir`` are its IR around
the pass on the kernel's target. ``pytest --update-golden`` rewrites them.
"""

from __future__ import annotations

import importlib.util
import warnings
from types import ModuleType

import pytest

from pycu2c import CompileWarning
from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.compiler import build_module, lower
from pycu2c.declarations.signatures import parse_signature
from pycu2c.ir.nodes import Module
from pycu2c.ir.printer import print_module
from pycu2c.kernels.kernel import Kernel
from pycu2c.pipeline import FRONTEND, TARGETS
from support.paths import ROOT

GOLDEN = ROOT / "golden" / "passes"
PASSES = sorted({p.name for t in TARGETS.values() for p in (*FRONTEND, *t.passes)})


def module_of(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"pass_{name}", GOLDEN / name / "kernel.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def around_pass(name: str) -> tuple[str, str]:
    """The IR of the pass's kernel before and after the pass, which changes it."""
    module = module_of(name)
    (kernel,) = (v for v in vars(module).values() if isinstance(v, Kernel))
    result: list[tuple[str, str]] = []

    def observe(step: str, before: Module, after: Module) -> None:
        if step == name:
            result.append((print_module(before), print_module(after)))

    assumptions = LaunchAssumptions(
        index32_safe=True,
        block=kernel.block if module.TARGET == "cpu" else None,
        unaliased_accumulators=vars(module).get("ACCUMULATORS", ()),
        exceeds_last_level_cache=vars(module).get("EXCEEDS_LAST_LEVEL_CACHE", False),
        distinct_arrays=vars(module).get("DISTINCT_ARRAYS", False),
        short_axes=vars(module).get("SHORT_AXES", ()),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompileWarning)
        signature = parse_signature(module.SIGNATURE)
        built = build_module(kernel.source, signature, kernel.options, observe)
    lower(built.module, TARGETS[module.TARGET], assumptions, kernel.options, observe)
    (texts,) = result
    return texts


@pytest.mark.parametrize("name", PASSES)
def test_pass(name: str, request: pytest.FixtureRequest) -> None:
    before, after = around_pass(name)
    assert before != after, "a kernel that the pass does not change tests nothing"
    paths = GOLDEN / name / "before.ir", GOLDEN / name / "after.ir"
    texts = before, after
    if request.config.getoption("--update-golden"):
        changed = [p for p, t in zip(paths, texts) if not p.exists() or p.read_text() != t]
        for path, text in zip(paths, texts):
            path.write_text(text)
        if changed:
            pytest.fail(f"rewrote golden/passes/{name}: read the change, then run again")
    for path, text in zip(paths, texts):
        assert text == path.read_text(), f"{path.name} differs; make golden rewrites it"


def test_no_file_is_left_over() -> None:
    files = ("kernel.py", "before.ir", "after.ir")
    result = {p for p in GOLDEN.rglob("*") if p.is_file() and "__pycache__" not in p.parts}
    assert result == {GOLDEN / name / file for name in PASSES for file in files}
