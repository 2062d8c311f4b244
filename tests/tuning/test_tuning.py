"""Tuning: variants of kernels, faulty candidates, records, interrupted searches, launches."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pycu2c import LaunchError, LaunchWarning, OptionError, cuda, device, kernel
from pycu2c.cuda_driver import driver
from pycu2c.runtime.arguments.array_argument import ArrayArgument
from pycu2c.tuning import measurement, records
from pycu2c.tuning.space import text_of
from pycu2c.tuning.strategies import ExhaustiveSearch, LocalSearch, OptunaSearch
from pycu2c.tuning.worker import MeasuringSession, image_of

ROOT = Path(__file__).parent.parent.parent
ITEMS, BROKEN = 1, 0


@device
def product(x, i):
    return x[i] * ITEMS


def scale(y, x, n):
    start = cuda.grid(1) * ITEMS
    for k in range(ITEMS):
        i = start + k
        if i < n:
            y[i] = product(x, i) / ITEMS


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYCU2C_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(measurement, "_MAX_ROUNDS", 4)


@pytest.fixture(
    params=["cpu", pytest.param("cuda", marks=pytest.mark.gpu)],
)
def backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def tuned(tmp_path: Path, backend: str = "cpu", **options: Any) -> Any:
    declared: dict[str, Any] = {
        "tune": {"block": [32, 64], "ITEMS": [1, 3]},
        "tune_for": ("n",),
        "grid": lambda c: -(-c.n // (c.block * c.ITEMS)),
        "tune_file": tmp_path / "records.json",
        "backend": backend,
    }
    return kernel(**(declared | options))(scale)


def arguments(n: int = 1000, dtype: Any = np.float32) -> tuple[Any, ...]:
    return np.zeros(n, dtype), np.arange(n).astype(dtype), n


def records_of(tmp_path: Path) -> list[dict[str, Any]]:
    content = json.loads((tmp_path / "records.json").read_text())
    found: list[dict[str, Any]] = content["records"]
    return found


def test_each_candidate_is_measured_and_the_best_is_launched(tmp_path: Path, backend: str) -> None:
    k = tuned(tmp_path, backend)
    given = arguments()
    k(*given)
    assert np.array_equal(given[0], given[1])
    given[0][:] = 0
    report = k.tune(given)
    assert not given[0].any()  # the arguments are copied
    assert len(report.results) == report.candidates == 4
    assert all(r.seconds for r in report.results)
    assert report.best in [r.configuration for r in report.results]
    (record,) = records_of(tmp_path)
    assert record["configuration"] == report.best
    assert record["sizes"] == {"n": 1024}
    for n in (1000, 999, 50):  # the grid depends on n
        given = arguments(n)
        for _ in range(4):
            given[0][:] = 0
            k(*given)
            assert np.array_equal(given[0], given[1])


def test_launches_take_the_fast_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    k = tuned(tmp_path)
    given = [arguments(1000), arguments(1000, np.float64), arguments(70)]
    for _ in range(3):
        for each in given:
            k(*each)
    monkeypatch.setattr(type(k._own), "_launch_slow", None)
    for each in given:
        each[0][:] = 0
        k(*each)
        assert np.array_equal(each[0], each[1])


def test_parameters_that_the_grid_reads_select_the_launch(tmp_path: Path) -> None:
    k = tuned(tmp_path, tune_for=(), grid=lambda c: -(-len(c.x) // (c.block * c.ITEMS)))
    for n in (64, 1000, 30):
        y, x = np.zeros(n), np.ones(n)
        for _ in range(3):
            y[:] = 0
            k(y, x, n)
            assert y.sum() == n


def test_names_and_numpy_integers(tmp_path: Path) -> None:
    k = tuned(tmp_path)
    for n in (40, 2000, 10):
        y, x, _ = arguments(n)
        k(x=x, y=y, n=np.int64(n))
        assert np.array_equal(x, y)


def test_constants_of_closures(tmp_path: Path) -> None:
    width = 2

    @device
    def widened(x):
        return x * width

    @kernel(block=8, grid=1, backend="cpu", tune={"width": [2, 3]}, tune_file=tmp_path / "r.json")
    def fill(out):
        out[cuda.grid(1)] = widened(1) * 10 + width

    out = np.zeros(8, np.int32)
    space = fill._own.tuning.space
    for value in (2, 3):
        launcher = space.launcher({"width": value})
        request, _ = space.request({"width": value}, {})
        resolved = launcher.resolve(request, (out,))
        resolved.runner.run(resolved.launch, resolved.leaves)
        assert set(out) == {value * 11}
    fill(out)
    assert set(out) == {22}


def broken(out, n):
    i = cuda.grid(1)
    if BROKEN == 1:
        out[i] = 7
    elif BROKEN == 2:
        while out[n - 1] >= 0:
            out[i] = 1
    elif BROKEN == 3:
        out[i + (n << 40)] = 1
    else:
        out[i] = i


def shared_too_large(out, n):
    tile = cuda.shared.array(64 << BROKEN, np.float64)
    tile[cuda.threadIdx.x] = 1.0
    cuda.syncthreads()
    out[cuda.grid(1)] = tile[cuda.threadIdx.x]


def test_faulty_candidates_are_skipped(tmp_path: Path, backend: str) -> None:
    values = {"BROKEN": [0, 1, 2, 3]}
    file = tmp_path / "r.json"
    k = kernel(grid=2, block=32, backend=backend, tune=values, tune_file=file)(broken)
    out = np.zeros(64, np.int64)
    report = k.tune((out, 64), timeout=1.0)
    problems = {r.configuration["BROKEN"]: r.problem for r in report.results}
    assert report.best == {"BROKEN": 0}
    assert "wrong result in argument 1: element (0,) is 7, not 0" in problems[1]
    assert "did not end within 1 s" in problems[2]
    assert problems[3]
    assert "skipped  BROKEN=2: did not end within 1 s" in str(report)
    k(out, 64)
    assert np.array_equal(out, np.arange(64))


def test_candidates_that_do_not_compile_are_skipped(tmp_path: Path, backend: str) -> None:
    options: dict[str, Any] = {"tune": {"BROKEN": [0, 30]}, "tune_file": tmp_path / "r.json"}
    k = kernel(grid=1, block=32, backend=backend, **options)(shared_too_large)
    report = k.tune((np.zeros(32), 32))
    assert [r.seconds is None for r in report.results] == [False, True]


def test_all_candidates_are_faulty(tmp_path: Path) -> None:
    with pytest.raises(LaunchError, match=r"all candidates fail\nblock=2000: .*at most 1024"):
        tuned(tmp_path, tune={"block": [2000]}, grid=1).tune(arguments())


def test_restrictions_and_launch_options(tmp_path: Path) -> None:
    k = tuned(tmp_path, restrictions=lambda c: c.block * c.ITEMS <= 64 < c.n)
    assert k.tune(arguments()).candidates == 2
    space = {"ITEMS": [2], "launch_bounds": [64, 128], "max_registers": [32], "block": [64]}
    report = k.tune(arguments(), space, lambda c: c.launch_bounds == 64)
    assert report.candidates == len(report.results) == 2  # and the untuned kernel
    assert "2 of 2 candidates" in str(report)
    with pytest.raises(LaunchError, match="the restrictions permit no candidate"):
        k.tune(arguments(), None, lambda c: False)


def test_a_kernel_without_a_space(tmp_path: Path) -> None:
    k = kernel(backend="cpu", block=32)(scale)
    with pytest.raises(OptionError, match=r"write @kernel\(tune"):
        k.tune(arguments())
    report = k.tune(
        arguments(),
        {"ITEMS": [1, 2]},
        grid=lambda c: -(-c.n // (32 * c.ITEMS)),
        tune_file=tmp_path / "records.json",
    )
    assert report.candidates == 2
    assert records_of(tmp_path)[0]["configuration"] == report.best


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tune": {"ITEM": [1]}}, "no constant or option ITEM to tune.*did you mean ITEMS"),
        ({"tune": ["ITEMS"]}, r"such as {'block': \[64, 128\]}, not list"),
        ({"tune": {"ITEMS": 4}}, "a list of values for ITEMS, not 4"),
        ({"tune": {"ITEMS": [object()]}}, "are numbers, strings and tuples"),
        ({"tune_for": ("m",)}, "tune_for names parameters of scale, not 'm'"),
    ],
)
def test_wrong_declarations(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        tuned(tmp_path, **options)


def test_wrong_options(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="no values to tune"):
        kernel(tune_for=("n",))(scale)
    with pytest.raises(OptionError, match="unexpected keyword argument 'second'"):
        tuned(tmp_path).tune(arguments(), second=3)
    with pytest.raises(OptionError, match=r"the values to tune are a list.*not ndarray"):
        tuned(tmp_path).tune(*arguments()[:2])
    with pytest.raises(OptionError, match="one of exhaustive, local, optuna"):
        tuned(tmp_path).tune(arguments(), strategy="genetic")


# ---- records -----------------------------------------------------------------------------------


def of_record(**changes: Any) -> records.TuningRecord:
    values = {
        "kernel": "k",
        "device": "A",
        "signature": "(int)",
        "sizes": {"n": 1024},
        "configuration": {"block": 32},
        "seconds": 1.0,
        "default_seconds": 2.0,
        "source": "s",
    }
    return records.TuningRecord(**(values | changes))


def test_the_nearest_record() -> None:
    wanted = of_record()
    other_device = of_record(device="B")
    old = of_record(source="t")
    far, near = of_record(sizes={"n": 1 << 20}), of_record(sizes={"n": 256})
    unusable = [of_record(signature="(float)"), of_record(configuration={"TILE": 4})]
    order = [of_record(), near, far, old, other_device]
    while order:
        assert records.nearest([*unusable, *reversed(order)], wanted) is order.pop(0)
    assert records.nearest(unusable, wanted) is None


def test_the_file_of_records(tmp_path: Path) -> None:
    path = str(tmp_path / "r.json")
    assert records.load(path) == []
    records.store(path, of_record(sizes={"n": 8}, configuration={"block": (8, 4)}))
    records.store(path, of_record())
    records.store(path, of_record(seconds=0.5))
    first, second = records.load(path)
    assert (first.seconds, second.configuration) == (0.5, {"block": (8, 4)})
    assert len(Path(path).read_text().splitlines()) == 4  # a record is a line
    Path(path).write_text('{"version": 99, "records": []}')
    with pytest.warns(LaunchWarning, match="it has version 99"):
        assert records.load(path) == []


def test_a_record_that_does_not_fit_is_not_used(tmp_path: Path) -> None:
    k = tuned(tmp_path)
    k.tune(arguments(), {"block": [32], "ITEMS": [1]})
    (record,) = records_of(tmp_path)
    record["configuration"] = {"block": 4096, "ITEMS": 1}
    (tmp_path / "records.json").write_text(json.dumps({"version": 1, "records": [record]}))
    k.recompile()
    given = arguments()
    k(*given)
    assert np.array_equal(given[0], given[1])


def test_tuning_at_the_first_launch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    k = tuned(tmp_path)
    k(*arguments())
    assert not (tmp_path / "records.json").exists()
    monkeypatch.setenv("PYCU2C_TUNE", "1")
    k.recompile()
    given = arguments()
    k(*given)
    assert np.array_equal(given[0], given[1])
    assert len(records_of(tmp_path)) == 1


def test_results_are_kept_for_a_later_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    k, asked = tuned(tmp_path), []

    class Recorded(ExhaustiveSearch):
        def ask(self, count: int) -> Any:
            found = super().ask(count)
            asked.extend(found)
            return found

    k.tune(arguments(), strategy=Recorded())
    assert len(asked) == 3  # the untuned kernel is measured first
    k.tune(arguments(), strategy=Recorded())
    assert len(asked) == 3
    k.tune(arguments(), strategy=Recorded(), resume=False)
    assert len(asked) == 6


def test_results_of_other_launches_and_spaces_are_not_used(tmp_path: Path) -> None:
    with pytest.raises(LaunchError, match="a grid takes integers"):
        tuned(tmp_path, grid=lambda c: c.n / c.block).tune(arguments())
    report = tuned(tmp_path, grid=lambda c: c.n).tune(arguments())
    assert all(result.seconds for result in report.results)
    report = tuned(tmp_path, grid=lambda c: c.n, tune={"block": [64], "ITEMS": [1]}).tune(
        arguments()
    )
    assert [result.configuration["block"] for result in report.results] == [64]


KILLED = """
import sys
sys.path.insert(0, sys.argv[1])
import test_tuning
from pathlib import Path
k = test_tuning.tuned(Path(sys.argv[2]), tune={"ITEMS": list(range(1, 100))}, block=32,
                      grid=lambda c: -(-c.n // (32 * c.ITEMS)))
k.tune(test_tuning.arguments(), strategy="exhaustive")
"""


@pytest.mark.parametrize("lines", [1, 3, 6])
def test_a_killed_search_loses_nothing(tmp_path: Path, lines: int) -> None:
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT / "tests"), *filter(None, sys.path)])
    command = (sys.executable, "-c", KILLED, str(Path(__file__).parent), str(tmp_path))
    process = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": path})
    folder = tmp_path / "cache" / "tuning"

    def results() -> list[dict[str, Any]]:
        text = "".join(file.read_text() for file in folder.glob("*.jsonl"))
        return [json.loads(line) for line in text.splitlines() if line.endswith("}")]

    while len(results()) < lines:
        assert process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.wait()
    kept = results()
    assert len(kept) >= lines
    (journal,) = folder.glob("*.jsonl")
    with journal.open("a") as file:
        file.write('{"configuration": {"IT')  # as if it was killed while it wrote
    k = tuned(
        tmp_path,
        tune={"ITEMS": list(range(1, 100))},
        block=32,
        grid=lambda c: -(-c.n // (32 * c.ITEMS)),
    )
    report = k.tune(arguments(), seconds=0)
    known = [r.configuration for r in report.results]
    assert all(each["configuration"] in known for each in kept)
    if (tmp_path / "records.json").exists():
        assert records_of(tmp_path)


# ---- strategies --------------------------------------------------------------------------------

VALUES = {"a": list(range(8)), "b": list(range(8)), "c": [1, 2]}
CANDIDATES = [
    {"a": a, "b": b, "c": c} for a in range(8) for b in range(8) for c in (1, 2) if a != b
]


@pytest.mark.parametrize("strategy", [ExhaustiveSearch, LocalSearch, OptunaSearch])
def test_strategies_measure_each_candidate_once(strategy: Any) -> None:
    if strategy is OptunaSearch and "CI" not in os.environ:
        pytest.importorskip("optuna")
    search, seen = strategy(), []
    search.start(VALUES, CANDIDATES)
    search.tell(CANDIDATES[0], 1.0)
    while asked := search.ask(5):
        for c in asked:
            seen.append(text_of(c))
            search.tell(c, None if c["a"] == 3 else 1.0 + c["a"])
    assert sorted(seen) == sorted(map(text_of, CANDIDATES[1:]))


def test_a_local_search_finds_the_best_of_a_smooth_space_early() -> None:
    search, measured = LocalSearch(), 0
    search.start(VALUES, CANDIDATES)
    while asked := search.ask(4):
        measured += len(asked)
        for c in asked:
            search.tell(c, 1.0 + (c["a"] - 5) ** 2 + (c["b"] - 2) ** 2 + c["c"])
        if {"a": 5, "b": 2, "c": 1} in asked:
            break
    assert measured < len(CANDIDATES) / 2


# ---- the worker --------------------------------------------------------------------------------


def test_arguments_in_another_process_keep_their_layout() -> None:
    base = np.arange(100, dtype=np.int16)
    k = kernel(backend="cpu")(scale)
    flattened = k.launcher.flatten((base[10:50:3], base[::-1], 5))
    session = MeasuringSession(image_of(flattened.leaves, None), timeout=5, cold_cache=False)
    first, second, number = session._leaves
    assert isinstance(first, ArrayArgument)
    assert isinstance(second, ArrayArgument)
    for copy, initial in zip(session._copies, session._originals):
        session._copy_within(copy, initial)
    assert np.array_equal(session._fetched(first), base[10:50:3])
    assert np.array_equal(session._fetched(second), base[::-1])
    assert number == 5
    original = [leaf.address for leaf in flattened.leaves[:2]]
    assert first.address - second.address == original[0] - original[1]


@pytest.mark.gpu
def test_device_arrays_are_tuned(tmp_path: Path) -> None:
    k = tuned(tmp_path, "cuda")
    x = cuda.to_device(np.arange(5000, dtype=np.float32))
    y = cuda.device_array_like(x)
    report = k.tune((y, x, 5000))
    assert all(r.seconds for r in report.results)
    k(y, x, 5000)
    assert np.array_equal(y.copy_to_host(), x.copy_to_host())
    assert records_of(tmp_path)[0]["device"] == driver.device().name
