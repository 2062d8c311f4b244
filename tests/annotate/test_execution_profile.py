"""What an execution profile measures, against what the kernels do by construction."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from pycu2c import cuda, float32, float64, kernel
from pycu2c.annotate import execution_profile
from pycu2c.annotate.execution_profile import ExecutionProfile, profiling
from pycu2c.annotate.measured_lines import line_numbers, line_remarks
from pycu2c.cli.main import main


def profile_of(own, *arguments, grid=2, block=64) -> ExecutionProfile:
    """Launch a kernel on the CPU, and return what was measured."""
    fresh = kernel(backend="cpu")(own)
    with profiling(__file__, own.__name__) as profile:
        fresh[grid, block](*arguments)
    return profile


def per_request(profile: ExecutionProfile, array: str, what: str) -> float:
    sites = [(s, t) for s, t in profile.accesses.items() if (s.array, s.what) == (array, what)]
    ((_, totals),) = sites
    return totals.cost / totals.requests


def global_access(x, out, stride, offset):
    i = cuda.grid(1)
    out[i] = x[i * stride + offset]


@pytest.mark.parametrize(
    ("dtype", "stride", "offset", "sectors"),
    [
        (np.float32, 1, 0, 4),
        (np.float64, 1, 0, 8),
        (np.uint8, 1, 0, 1),
        (np.float32, 2, 0, 8),
        (np.float32, 8, 0, 32),
        (np.float32, 100, 0, 32),
        (np.float32, 0, 5, 1),
        (np.float32, 1, 1, 5),
    ],
)
def test_sectors_of_global_memory(dtype, stride, offset, sectors) -> None:
    memory = np.zeros(128 * max(stride, 1) + 300, dtype)
    aligned = memory[-memory.ctypes.data % 256 // memory.itemsize :]
    profile = profile_of(global_access, aligned, np.zeros(128, dtype), stride, offset)
    assert per_request(profile, "x", "load") == sectors
    assert profile.threads == 128
    assert profile.launches == 1
    assert not profile.stopped


def test_arrays_keep_their_strides() -> None:
    memory = np.zeros((128, 16), np.float32)
    profile = profile_of(global_access, memory[:, 3], np.zeros(128, np.float32), 1, 0)
    assert per_request(profile, "x", "load") == 32
    reversed_view = np.zeros(128, np.float32)[::-1]
    profile = profile_of(global_access, reversed_view, np.zeros(128, np.float32), 1, 0)
    assert per_request(profile, "x", "load") in (4, 5)  # by the alignment of the array


def shared_access(out, stride):
    tile = cuda.shared.array(2048, float32)
    t = cuda.threadIdx.x
    tile[t * stride] = t
    cuda.syncthreads()
    out[t] = tile[t * stride]


@pytest.mark.parametrize(
    ("stride", "passes"), [(0, 1), (1, 1), (2, 2), (3, 1), (4, 4), (16, 16), (32, 32), (33, 1)]
)
def test_bank_conflicts(stride: int, passes: int) -> None:
    profile = profile_of(shared_access, np.zeros(32, np.float32), stride, grid=1, block=32)
    assert per_request(profile, "tile", "store") == passes
    assert per_request(profile, "tile", "load") == passes


def test_elements_of_two_words_take_two_passes() -> None:
    def wide(out):
        tile = cuda.shared.array(64, float64)
        tile[cuda.threadIdx.x] = 1
        out[cuda.threadIdx.x] = tile[cuda.threadIdx.x]

    profile = profile_of(wide, np.zeros(64), grid=1)
    assert per_request(profile, "tile", "load") == 2
    assert not any("bank" in text for texts in line_remarks(profile).values() for text in texts)


def branches(out, limit):
    i = cuda.grid(1)
    if i < limit:
        for _ in range(3):
            out[i] += 1
    if cuda.threadIdx.x >= 32:
        cuda.atomic.add(out, 0, 1)


def test_branches_and_executions() -> None:
    profile = profile_of(branches, np.zeros(128, np.int32), 80)
    bound, whole_warps = profile.branches.values()
    assert (bound.evaluated, bound.taken, bound.warps, bound.divergent) == (128, 80, 4, 1)
    assert (whole_warps.taken, whole_warps.divergent) == (64, 0)
    numbers = {line: row for (_, line), row in line_numbers(profile).items()}
    source = Path(__file__).read_text().splitlines()
    executions = {
        text: numbers[source.index(text) + 1]["executions per thread"]
        for text in ("            out[i] += 1", "    if i < limit:")
    }
    assert executions == {"            out[i] += 1": 1.88, "    if i < limit:": 1}
    assert per_request(profile, "out", "atomic.add") == 1


def test_launches_are_as_without_measurement(capfd: pytest.CaptureFixture[str]) -> None:
    def counted(out):
        cuda.atomic.add(out, 0, 1)
        if cuda.grid(1) == 0:
            print("once")

    out = np.zeros(1, np.int32)
    profile_of(counted, out, grid=5)
    assert out[0] == 320
    assert capfd.readouterr().out.count("once") == 1


def test_only_samples_of_many_blocks() -> None:
    n = 64 * 1000
    arrays = np.zeros(n, np.float32), np.zeros(n, np.float32)
    assert profile_of(global_access, *arrays, 1, 0, grid=1000).threads == 3 * 64


def test_a_long_loop_is_not_finished(monkeypatch: pytest.MonkeyPatch) -> None:
    def long(out):
        for _ in range(10_000):
            out[cuda.grid(1)] += 1

    monkeypatch.setattr(execution_profile, "_LIMIT", 1000)
    out = np.zeros(128, np.int32)
    profile = profile_of(long, out)
    assert "limit" in profile.stopped
    assert out.tolist() == [10_000] * 128
    assert sum(profile.statements.values()) >= 300


def test_an_error_ends_the_measurement() -> None:
    def outside(x, out):
        if cuda.grid(1) == 3:
            out[0] = x[len(x) - 1 + int(x[0])]

    x = np.zeros(65)
    x[0] = 2
    profile = profile_of(outside, x[:64], np.zeros(1))
    assert profile.stopped.startswith("IndexError: ")


PROGRAM = """\
import sys
import numpy as np
from pycu2c import cuda, kernel

@kernel(block=32)
def add(out, x):
    i = cuda.grid(1)
    out[i] = x[8 * i] + 1

if __name__ == "__main__":
    if sys.argv[1:] == ["fail"]:
        raise ValueError("on purpose")
    if sys.argv[1:] != ["idle"]:
        add[2, 32](np.zeros(64, np.float32), np.zeros(512, np.float32))
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("program.py").write_text(PROGRAM)
    return tmp_path


def annotate(*arguments: str):
    return CliRunner().invoke(main, ["annotate", "program.py:add", *arguments])


def test_command_with_a_run(program: Path) -> None:
    for _ in range(2):  # the second kernel would come from the cache
        done = annotate("--run", "program.py", "-o", "page.html")
        assert done.exit_code == 0, done.output
        text = (program / "page.html").read_text()
        assert (
            "▸ load x: 32 sectors of 32 bytes per request; adjacent elements would take 4" in text
        )
        assert re.search("Measured</dt><dd>64 threads of 1 launch<", text)
        assert "executions per thread" in text


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("absent.py", "there is no file 'absent.py'"),
        ("program.py fail", "program.py has failed"),
        ("program.py idle", "does not launch add"),
        ("", "there is no file"),
    ],
)
@pytest.mark.usefixtures("program")
def test_wrong_runs(command: str, message: str) -> None:
    done = annotate("--run", command)
    assert done.exit_code != 0
    assert message in done.output
    assert isinstance(done.exception, SystemExit)
