"""Run the tests that use the GPU under compute-sanitizer: what `make sanitize` does.

usage: python tests/sanitize.py [--tools NAME,…] [--workers N] [--part K/N] [TEST …]

Left out are tests whose kernels fail on purpose (marked ``faulty``), those that look at time or
memory, which a tool that watches changes (``undisturbed``), and the kernels below; for racecheck
and synccheck also files that speak of nothing that threads of a block do together. What the driver
refuses in a test is refused on purpose: errors of its functions are not counted. A test that takes
a minute ends its process, and pytest says which it was. Logs and the output of the tests are kept
in build/sanitize.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn, TextIO

import pytest

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
TOGETHER = re.compile("shared|sync|battery|golden")
HERE, FOLDER = Path(__file__).parent, Path("build", "sanitize")
FOUND = 9  # the status of compute-sanitizer that has found something
PRINTED = 1000
SECONDS = 60.0  # for a test


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Iterator[None]:
    faulthandler.dump_traceback_later(SECONDS, exit=True)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()


def tests_for(tool: str) -> list[str]:
    files = sorted(HERE.glob("test_*.py"))
    if tool in ("memcheck", "initcheck"):
        return list(map(str, files))
    return [str(file) for file in files if TOGETHER.search(file.read_text(encoding="utf-8"))]


def command(tool: str, workers: int, tests: list[str]) -> list[str]:
    words = ["compute-sanitizer", "--tool", tool, "--target-processes", "all"]
    words += ["--error-exitcode", str(FOUND), "--report-api-errors", "no"]
    words += ["--destroy-on-device-error", "kernel", "--print-limit", str(PRINTED)]
    for kernel in LEFT_OUT[tool]:
        words += ["--kernel-name-exclude", f"kernel_name={kernel}"]
    words += ["--log-file", str(FOLDER / f"{tool}.log"), sys.executable, "-m", "pytest", "-v"]
    words += ["-p", "no:benchmark", "-p", "no:cacheprovider", "-p", "sanitize", "--durations=20"]
    words += ["-m", "gpu and not faulty and not undisturbed"]
    if find_spec("xdist"):
        words += ["-n", str(workers)]
    return [*words, *tests]


def findings(log: str) -> Counter[str]:
    """How often a tool says what of which kernel."""
    found: Counter[str] = Counter()
    message = ""
    for line in log.splitlines():
        text = line.removeprefix("========= ")
        if not text.startswith(" "):
            message = re.sub(r" at \S+$", "", text)
        place = re.search(r" at ([\w<>, :]+)\+0x", text)
        if place and message:
            found[f"{message}: {place[1]}"] += 1
            message = ""
    return found


def run(tool: str, workers: int, tests: list[str]) -> bool:
    """Whether a tool has found nothing, and no test has failed."""
    log, output = FOLDER / f"{tool}.log", FOLDER / f"{tool}.txt"
    os.environ["PYCU2C_KEEP_MEMORY"] = "0"  # each array is memory of its own
    os.environ["PYTHONPATH"] = os.pathsep.join((str(HERE), os.environ.get("PYTHONPATH", "")))
    log.unlink(missing_ok=True)
    status = None
    try:
        with output.open("w") as file:
            status = _ended(command(tool, workers, tests), file)
    finally:  # also where it was stopped
        _report(tool, status, output, log)
    return status == 0


def _report(tool: str, status: int | None, output: Path, log: Path) -> None:
    lines = output.read_text().splitlines()
    ended = "stopped" if status is None else f"status {status}"
    print(f"{tool}: {ended}: {lines[-1].strip('= ') if lines else 'no output'}")
    print("".join(f"  {line}\n" for line in lines if line.startswith(("FAILED", "ERROR"))), end="")
    text = log.read_text() if log.exists() else "it has written no log"
    for what, count in findings(text).most_common():
        print(f"  {count} × {what}")
    print("".join(f"  {x}\n" for x in text.splitlines() if "SUMMARY" in x or "no log" in x), end="")


def _ended(words: list[str], output: TextIO) -> int:
    """The status of a command, whose processes end with this one at the latest."""
    process = subprocess.Popen(words, stdout=output, stderr=output, start_new_session=True)
    try:
        return process.wait()
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def _stop(*_: object) -> NoReturn:
    raise SystemExit("stopped")


def main() -> int:
    signal.signal(signal.SIGTERM, _stop)
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tools", default=",".join(LEFT_OUT), help=", ".join(LEFT_OUT))
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--part", default="1/1", help="2/3: the second third of the files")
    parser.add_argument("tests", nargs="*")
    options = parser.parse_args()
    part, parts = map(int, options.part.split("/"))
    FOLDER.mkdir(parents=True, exist_ok=True)
    tools = options.tools.split(",")
    clean = [
        run(tool, options.workers, options.tests or tests_for(tool)[part - 1 :: parts])
        for tool in tools
    ]
    return 0 if all(clean) else 1


if __name__ == "__main__":
    sys.exit(main())
