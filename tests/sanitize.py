"""Run the tests that use the GPU under compute-sanitizer: what `make sanitize` does.

usage: python tests/sanitize.py [--tools NAME,…] [--workers N] [TEST …]

Left out are tests whose kernels fail on purpose (marked ``faulty``), those that look at time or
memory, which a tool that watches changes (``undisturbed``), and the kernels and tests below; for
racecheck and synccheck also files that speak of nothing that threads of a block do together. What
the driver refuses in a test is refused on purpose: errors of its functions are not counted.

Each worker is a compute-sanitizer of its own with every N-th test, which
``support/sanitizer_plugin.py`` chooses, so that what a tool writes is known to be about the test
that runs. A test that takes a minute ends its process; another goes on with the rest. Logs and the
output of the tests are kept in build/sanitize.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path
from typing import NoReturn

from support import sanitizer_plugin as plugin

# kernels that are right, and in which a tool sees a mistake
LEFT_OUT: dict[str, tuple[str, ...]] = {
    "memcheck": (),
    # it knows barriers, and not that a flag says when data in shared memory is ready
    "racecheck": ("a_warp_waits_for_another", "warps_as_maker_and_user"),
    # it wants one barrier for all warps of a block, where the hardware counts those that arrive
    # (and of a warp with divergent threads those that have left)
    "synccheck": (
        "both_arms",
        "counted_at_two_barriers",
        "leave_apart",
        "returns_between_barriers",
        "warps_take_turns",
    ),
    "initcheck": (),
}
# of several threads that launch at once it loses launches ("a failure to track a kernel launch"),
# and then waits for them
LEFT_OUT_TESTS = {
    "racecheck": (
        "compat/cupy/test_raw_kernel.py::test_threads_launch_one_kernel[cuda]",
        "devices/test_device_arrays.py::test_threads_without_a_context",
        "runtime/cuda/test_dispatch_on_device.py::test_many_threads_at_once",
        "runtime/cuda/test_dispatch_on_device.py::test_numpy_arrays_from_many_threads",
    )
}
TOGETHER = re.compile("shared|sync|golden")
HERE, FOLDER = Path(__file__).parent, Path("build", "sanitize")
FOUND = 9  # the status of compute-sanitizer that has found something
PRINTED = 1000


def tests_for(tool: str) -> list[str]:
    files = sorted(HERE.rglob("test_*.py"))
    if tool in ("memcheck", "initcheck"):
        return list(map(str, files))
    return [str(file) for file in files if TOGETHER.search(file.read_text(encoding="utf-8"))]


def command(tool: str, log: Path, tests: list[str]) -> list[str]:
    words = ["compute-sanitizer", "--tool", tool, "--target-processes", "all"]
    words += ["--error-exitcode", str(FOUND), "--report-api-errors", "no"]
    words += ["--destroy-on-device-error", "kernel", "--print-limit", str(PRINTED)]
    for kernel in LEFT_OUT[tool]:
        words += ["--kernel-name-exclude", f"kernel_name={kernel}"]
    words += ["--log-file", str(log), sys.executable, "-m", "pytest", "-v"]
    words += ["-p", "no:benchmark", "-p", "no:cacheprovider", "--durations=5"]
    words += ["-p", "support.sanitizer_plugin"]
    words += ["-m", "gpu and not faulty and not undisturbed"]
    for test in LEFT_OUT_TESTS.get(tool, ()):
        words += ["--deselect", f"tests/{test}"]
    return [*words, *tests]


def findings(log: str) -> Counter[str]:
    """How often a tool says what of which kernel."""
    result: Counter[str] = Counter()
    message = ""
    for line in log.splitlines():
        text = line.removeprefix("========= ")
        if not text.startswith(" "):
            message = re.sub(r" at \S+$", "", text)
        place = re.search(r" at ([\w<>, :]+)\+0x", text)
        if place and message:
            result[f"{message}: {place[1]}"] += 1
            message = ""
    return result


class Worker(threading.Thread):
    """A part of the tests under a tool: as many processes, one after another, as it takes."""

    def __init__(self, tool: str, part: str, tests: list[str]) -> None:
        super().__init__(daemon=True)
        self.tool, self.tests = tool, tests
        self.name = f"{tool}-{part.partition('/')[0]}"
        self.notes = FOLDER / f"{self.name}.tests"
        self.environment = {
            **os.environ,
            "PYCU2C_KEEP_MEMORY": "0",  # each array is memory of its own
            "PYTHONPATH": os.pathsep.join((str(HERE), os.environ.get("PYTHONPATH", ""))),
            plugin.PART: part,
            plugin.NOTES: str(self.notes),
        }
        self.logs: list[Path] = []
        self.statuses: list[int] = []
        self.process: subprocess.Popen[bytes] | None = None

    def run(self) -> None:
        self.notes.unlink(missing_ok=True)
        started = -1
        while not self.has_ended() and len(self.recorded(plugin.STARTED)) > started:
            started = len(self.recorded(plugin.STARTED))
            self._run_the_rest()

    def _run_the_rest(self) -> None:
        log = FOLDER / f"{self.name}.{len(self.logs)}.log"
        log.unlink(missing_ok=True)
        self.logs.append(log)
        environment = {**self.environment, plugin.LOG: str(log)}
        words = command(self.tool, log, self.tests)
        with log.with_suffix(".txt").open("wb") as output:
            self.process = subprocess.Popen(
                words, env=environment, stdout=output, stderr=output, start_new_session=True
            )
            self.statuses.append(self.process.wait())

    def stop(self) -> None:
        """End its processes."""
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)

    # ---- what it has to tell ----

    def has_ended(self) -> bool:
        """Whether all tests have run."""
        return bool(self.recorded(plugin.ENDED))

    def recorded(self, what: str) -> list[str]:
        """Tests, as ``support/sanitizer_plugin.py`` has recorded them."""
        return plugin.recorded(self.notes, what)

    def hanging(self) -> list[str]:
        """Tests that have ended their process, or would have."""
        done = {test for outcome in plugin.OUTCOMES for test in self.recorded(outcome)}
        return [test for test in self.recorded(plugin.STARTED) if test not in done]

    def log(self) -> str:
        return "".join(log.read_text(errors="replace") for log in self.logs if log.exists())

    def is_clean(self) -> bool:
        return self.has_ended() and not any(self.statuses)


def run(tool: str, workers: int, tests: list[str]) -> bool:
    """Whether a tool has found nothing, and no test has failed."""
    parts = [Worker(tool, f"{k}/{workers}", tests) for k in range(workers)]
    for part in parts:
        part.start()
    try:
        for part in parts:
            part.join()
    finally:  # also where it was stopped
        for part in parts:
            part.stop()
        print(report(tool, parts))
    return all(part.is_clean() for part in parts)


def report(tool: str, parts: list[Worker]) -> str:
    """What the tool has found in which tests, and what came of the tests."""
    counts = {what: sum(len(part.recorded(what)) for part in parts) for what in plugin.OUTCOMES}
    lines = [f"{tool}: " + ", ".join(f"{count} {what}" for what, count in counts.items() if count)]
    for part in parts:
        if not part.has_ended():
            lines.append(f"{part.name} did not come to its end: see {part.logs[-1]} and beside it")
        lines += [f"a test ended its process: {test}" for test in part.hanging()]
        lines += [f"failed: {test_and_why}" for test_and_why in part.recorded(plugin.WHY)]
        lines += [f"the tool wrote in {test}" for test in part.recorded(plugin.WRITTEN)]
    result = sum((findings(part.log()) for part in parts), Counter[str]())
    lines += [f"{count} × {what}" for what, count in result.most_common()]
    said = (line for part in parts for line in part.log().splitlines() if _reports(line))
    return "\n  ".join([*lines, *(f"{count} × {line}" for line, count in Counter(said).items())])


def _reports(line: str) -> bool:
    return "SUMMARY" in line or "Sanitizer Error" in line


def _stop(*_: object) -> NoReturn:
    raise SystemExit("stopped")


def main() -> int:
    signal.signal(signal.SIGTERM, _stop)
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tools", default=",".join(LEFT_OUT), help=", ".join(LEFT_OUT))
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("tests", nargs="*")
    options = parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    tools = options.tools.split(",")
    clean = [run(tool, options.workers, options.tests or tests_for(tool)) for tool in tools]
    return 0 if all(clean) else 1


if __name__ == "__main__":
    sys.exit(main())
