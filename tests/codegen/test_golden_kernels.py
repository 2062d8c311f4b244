"""Golden kernels: the generated texts, that they compile, and that their results are right."""

from __future__ import annotations

import functools
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pycu2c import CompileWarning, pipeline
from pycu2c.analysis.suspension_points import coroutine_loop
from pycu2c.compiler import lower
from pycu2c.declarations.signatures import parse_signature
from pycu2c.ir.parallel_regions import regions_of
from pycu2c.ir.printer import print_module
from pycu2c.kernels import assumption_checks
from pycu2c.kernels.specialization import generate_text
from pycu2c.toolchain.nvrtc import nvrtc
from support.c_compilers import check_warnings
from support.golden_kernels import (
    CASES,
    GOLDEN,
    NAMES,
    block_of,
    built_for_cpu,
    kernel_of,
    module_of,
)
from support.launching import NARROWED, run
from support.paths import ROOT
from support.targets import TARGETS

SUFFIXES = {"ir": ".ir", "cuda": ".cu", "c": ".c"}


def generated(name: str, variant: str, what: str) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompileWarning)
        block = block_of(name, variant)
        return kernel_of(name).inspect(what, module_of(name).SIGNATURES[variant], block)


def cut_text(name: str, variant: str) -> str | None:
    """The IR after the CPU's passes, if they cut the kernel: into several loops over threads, or
    into steps."""
    lowered = lower(*built_for_cpu(name, variant))
    body = lowered.kernel.body
    is_cut = coroutine_loop(body) is not None or len(list(regions_of(body))) > 1
    return print_module(lowered) if is_cut else None


@functools.cache
def cut(name: str) -> tuple[Path, str] | None:
    """Of the first variant that is cut: the others differ little."""
    for variant in module_of(name).SIGNATURES:
        text = cut_text(name, variant)
        if text is not None:
            return GOLDEN / name / f"{variant}.cpu.ir", text
    return None


def test_the_collection_is_not_empty() -> None:
    assert len(NAMES) >= 25


@pytest.mark.golden
@pytest.mark.parametrize("what", SUFFIXES)
@pytest.mark.parametrize(("name", "variant"), CASES)
def test_text(name: str, variant: str, what: str, request: pytest.FixtureRequest) -> None:
    path = GOLDEN / name / f"{variant}{SUFFIXES[what]}"
    compare(path, generated(name, variant, what), request)


@pytest.mark.golden
@pytest.mark.parametrize("name", NAMES)
def test_the_cpu_ir_text(name: str, request: pytest.FixtureRequest) -> None:
    result = cut(name)
    if result is not None:  # else test_no_file_is_left_over looks that there is no file
        compare(*result, request)


def compare(path: Path, text: str, request: pytest.FixtureRequest) -> None:
    old = path.read_text() if path.exists() else None
    if request.config.getoption("--update-golden") and old != text:
        path.write_text(text)
        pytest.fail(f"rewrote {path.relative_to(ROOT)}: read the change, then run again")
    assert text == old, f"{path.name} differs; make golden rewrites it"


def test_no_file_is_left_over() -> None:
    known = {
        GOLDEN / name / f"{variant}{suffix}"
        for name, variant in CASES
        for suffix in SUFFIXES.values()
    }
    known |= {GOLDEN / name / "kernel.py" for name in NAMES}
    known |= {result[0] for result in map(cut, NAMES) if result is not None}
    # transforms/test_pass_goldens.py compares those of passes, aot/test_golden_library.py libraries
    result = {p for p in GOLDEN.rglob("*") if p.is_file() and "__pycache__" not in p.parts}
    others = GOLDEN / "passes", GOLDEN / "libraries"
    assert {p for p in result if not any(o in p.parents for o in others)} == known


@pytest.mark.parametrize(("name", "variant"), CASES)
def test_gcc_compiles_without_a_warning(name: str, variant: str) -> None:
    assert check_warnings(generated(name, variant, "c")) == ""


@pytest.mark.filterwarnings("ignore::pycu2c.CompileWarning")
@pytest.mark.parametrize(("name", "variant"), CASES)
def test_nvrtc_compiles_without_a_warning(name: str, variant: str) -> None:
    built = kernel_of(name).launcher.compiler.build(
        parse_signature(module_of(name).SIGNATURES[variant])
    )
    made = generate_text(built, "cuda")
    binary = nvrtc.compile(made.text, made.entry, "sm_90", cache=False)
    assert binary.data
    assert binary.log.strip("\0\n ") == ""


@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize(("name", "variant"), CASES)
def test_same_as_the_oracle(name: str, variant: str, backend: str) -> None:
    same_as_the_oracle(name, variant, backend)


@pytest.mark.parametrize(("name", "variant"), CASES)
def test_in_32_bits_the_same_as_the_oracle(
    name: str, variant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(pipeline.TARGETS, "cpu", NARROWED)
    same_as_the_oracle(name, variant, "cpu")


@pytest.mark.parametrize(("name", "variant"), CASES)
def test_nontemporal_stores_give_the_same_results(
    name: str, variant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        assumption_checks, "CACHE_EXCEEDING_BYTES", 1
    )  # of those that may, every launch does
    same_as_the_oracle(name, variant, "cpu")


def computed_by(backend: str, name: str, variant: str) -> list[Any]:
    grid, block, arguments = module_of(name).case(np.random.default_rng(1), variant)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompileWarning)
        return run(kernel_of(name), (grid, block), arguments, backend)


expected_of = functools.cache(functools.partial(computed_by, "oracle"))


def same_as_the_oracle(name: str, variant: str, backend: str) -> None:
    arguments = module_of(name).case(np.random.default_rng(1), variant)[2]
    expected, result = expected_of(name, variant), computed_by(backend, name, variant)
    rounding = any(getattr(a, "dtype", None) == np.float32 for a in arguments)
    changed = False
    for inputs, right, computed in zip(arguments, expected, result, strict=True):
        if isinstance(inputs, np.ndarray):
            assert_close(computed, right, 2e-5 if rounding else 1e-12)
            changed = changed or not np.array_equal(inputs, right)
    assert changed, "a case whose kernel changes nothing tests nothing"


def assert_close(computed: np.ndarray, right: np.ndarray, tolerance: float) -> None:
    if computed.dtype.kind == "f":
        np.testing.assert_allclose(computed, right, rtol=tolerance, atol=tolerance)
    else:
        np.testing.assert_array_equal(computed, right)
