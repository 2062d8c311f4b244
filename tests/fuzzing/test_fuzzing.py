"""Random kernels, a few hundred with fixed seeds, and every kernel that once failed."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from fuzzing import parallel, running
from fuzzing.cases import text_of
from fuzzing.planted import run_planted
from fuzzing.planting import planted_text, wrong_text
from fuzzing.running import MARKS, run_seeds, run_texts
from fuzzing.variants import variant_of
from pycu2c.cuda_driver import driver
from pycu2c.kernels.launcher import Launcher

REGRESSIONS = sorted((Path(__file__).parent / "regressions").glob("*.py"))
ON_GPU = pytest.param("cuda", marks=pytest.mark.gpu)
TARGETS = ["cpu", ON_GPU if driver.available() else "nvrtc"]
CHUNK = 10


@pytest.mark.parametrize("first", range(0, 200, CHUNK))
def test_random_kernels_on_the_cpu(first: int) -> None:
    failed = [o for o in run_seeds(range(first, first + CHUNK), "cpu") if o.failed]
    assert not failed, "\n\n".join(f"seed {o.seed}: {o.kind}\n{o.detail}" for o in failed)


@pytest.mark.parametrize("first", range(5000, 5040, CHUNK))
def test_random_kernels_in_the_interpreter(first: int) -> None:
    failed = [o for o in run_seeds(range(first, first + CHUNK), "python") if o.failed]
    assert not failed, "\n\n".join(f"seed {o.seed}: {o.kind}\n{o.detail}" for o in failed)


@pytest.mark.parametrize("first", range(3000, 3040, CHUNK))
def test_random_kernels_thread_by_thread(first: int) -> None:
    failed = [o for o in run_seeds(range(first, first + CHUNK), "cpu-resumable") if o.failed]
    assert not failed, "\n\n".join(f"seed {o.seed}: {o.kind}\n{o.detail}" for o in failed)


@pytest.mark.parametrize("first", range(4000, 4060, CHUNK))
def test_random_kernels_with_strip_mining(first: int) -> None:
    """Every loop that threads may leave at different times, whether strips pay or not."""
    failed = [o for o in run_seeds(range(first, first + CHUNK), "strips") if o.failed]
    assert not failed, "\n\n".join(f"seed {o.seed}: {o.kind}\n{o.detail}" for o in failed)


@pytest.mark.parametrize("first", range(6000, 6024, 12))
def test_planted_defects_are_found(first: int) -> None:
    """And the kernels without them have no findings, and the results of an unchecked launch."""
    seeds = range(first, first + 12)
    outcomes = list(run_planted([planted_text(seed) for seed in seeds], seeds))
    failed = [o for o in outcomes if o.failed]
    assert not failed, "\n\n".join(f"seed {o.seed}: {o.kind}\n{o.detail}" for o in failed)
    assert any(o.status == "same" for o in outcomes)


def test_each_planted_text_has_a_defect_and_a_mark() -> None:
    kinds = set()
    for seed in range(40):
        text = planted_text(seed)
        assert "# finding" in text
        assert wrong_text(text) != text
        kinds.add(text.partition("PLANTED = ")[2].partition("\n")[0])
    assert len(kinds) >= 5


@pytest.mark.slow
@pytest.mark.parametrize("first", range(2000, 2040, 2 * CHUNK))
def test_random_kernels_in_32_bits(first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What CUDA's proofs say fits 32 bits, on the CPU; an overflow kills its process."""
    monkeypatch.setitem(parallel.LIMITS, "narrowed", 60.0)
    seeds = range(first, first + 2 * CHUNK)
    outcomes = parallel.run_all(seeds, "narrowed", jobs=1, chunk=len(seeds), stop=lambda: False)
    failed = [o for o in outcomes if o.failed]
    assert not failed, "\n\n".join(f"seed {o.seed}: {o.kind}\n{o.detail}" for o in failed)


@pytest.mark.parametrize("target", TARGETS[1:])
@pytest.mark.parametrize("first", range(1000, 1040, CHUNK))
def test_random_kernels_on_the_gpu(first: int, target: str) -> None:
    """Without a GPU, NVRTC compiles them."""
    failed = [o for o in run_seeds(range(first, first + CHUNK), target) if o.failed]
    assert not failed, "\n\n".join(f"seed {o.seed}: {o.kind}\n{o.detail}" for o in failed)


@pytest.mark.parametrize("target", ["python", *TARGETS, "narrowed", "strips"])
@pytest.mark.parametrize("path", REGRESSIONS, ids=lambda p: str(p.stem))
def test_kernels_that_once_failed(path: Path, target: str) -> None:
    (outcome,) = [o for o in run_texts([path.read_text()], target) if o.status not in MARKS]
    assert outcome.status == "same", f"{outcome.kind}\n{outcome.detail}"


NO_LANE = """
import numpy as np
from pycu2c import cuda, kernel

@kernel
def fuzzed(out):
    out[0] = cuda.shfl_sync(0xFFFFFFFF, 5, 1)

GRID, BLOCK = (1, 1, 1), (1, 1, 1)
APPROXIMATE = []

def arguments():
    return (np.zeros(1, np.int32),)
"""


def test_undefined_programs_are_no_failure() -> None:
    """Such as what a lane has that is not there."""
    (outcome,) = [o for o in run_texts([NO_LANE], "cpu") if o.status not in MARKS]
    assert outcome.status == "undefined"


def test_a_seed_always_draws_the_same_kernel() -> None:
    assert text_of(7) == text_of(7) != text_of(8)


NO_END = """
import numpy as np
from pycu2c import cuda, kernel

@kernel
def fuzzed(out):
    while out[0] == 0:
        out[1] += 1

GRID, BLOCK = (1, 1, 1), (1, 1, 1)
APPROXIMATE = []

def arguments():
    return (np.zeros(2, np.int32),)
"""
SLOW = NO_END.replace("while out[0] == 0:", "for _ in range(20000):")


def test_a_launch_that_does_not_end_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """A launch has a limit of processor time, not of time on a busy machine."""
    monkeypatch.setattr("fuzzing.running.run_reference", lambda *_: None)
    monkeypatch.setitem(parallel.LIMITS, "cpu", 0.2)
    assert parallel.run_alone(NO_END, "cpu").status == "hung"


def test_a_public_launch_runs_on_both_paths_and_from_the_cache(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls: Counter[str] = Counter()

    def count(owner: Any, name: str) -> None:
        function = getattr(owner, name)

        def counted(*arguments: Any) -> None:
            calls[name] += 1
            function(*arguments)

        monkeypatch.setattr(owner, name, counted)

    count(running, "_launch_publicly")
    count(Launcher, "launch")
    monkeypatch.setattr("fuzzing.running.CACHED", 1)
    text = NO_END.replace("while", "if").replace("BLOCK =", "BLOCK, PUBLIC =")
    text = text.replace("(1, 1, 1)\nAPP", "(1, 1, 1), True\nAPP")
    (outcome,) = [o for o in run_texts([text], "cpu") if o.status not in MARKS]
    assert outcome.status == "same"
    # its text, the launches that compile, that fill the dispatch table, that use it; the cache
    assert calls == {"_launch_publicly": 5, "launch": 4}


def test_only_launches_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reference may take long after another kernel was found to be undefined."""
    monkeypatch.setattr("fuzzing.parallel.text_of", [NO_LANE, SLOW].__getitem__)
    monkeypatch.setitem(parallel.LIMITS, "cpu", 0.2)
    outcomes = parallel.run_all([0, 1], "cpu", jobs=1, chunk=2, stop=lambda: False)
    assert [o.status for o in outcomes] == ["undefined", "same"]


def test_a_variant_is_compiled_in_place_of_the_kernel() -> None:
    """So that what the compiler and the reference have in common is tested, too."""
    loop = "n = out[0] + 1\n    while n < out[0] + out[0] + 5:\n        n += 1"
    text = NO_END.replace("while out[0] == 0:", loop).replace(
        "cuda, kernel", "cuda, device, kernel"
    )
    variant = variant_of(text)
    assert "while True" in variant
    assert "operation0(" in variant.partition("def fuzzed")[2]
    assert "n += 1" not in variant  # variables have other names
    for kernel in (text, variant):
        marked = kernel + "\nVARIANT = True\n"
        (outcome,) = [o for o in run_texts([marked], "cpu") if o.status not in MARKS]
        assert outcome.status == "same", outcome.detail
