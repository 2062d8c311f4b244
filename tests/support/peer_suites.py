"""Run the test files of another package with pytest, each in a process of its own.

The output is a table with one line per file:

- "passed": counted tests that pass.
- "counted": all tests that run, without those of the next column.
- "uncounted": tests whose result says nothing about pycu2c, passed or failed. They look into the
  other package, or need hardware, tools or packages that are absent.
- "skipped": tests that skip themselves, or that the other package expects to fail.

The known failures of a suite are counted tests that fail for a stated reason. The names of other
failed tests follow the line of their file. With ``--failures``, so do their errors; with
``--reasons``, the known failures and the uncounted tests.

The test of a peer compares the numbers of passed tests with a table that was printed earlier.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn, TypeAlias

import pytest

SECONDS_PER_TEST = 300

Outcome: TypeAlias = tuple[str, str]  # passed, failed, known, uncounted, skipped; error or reason
Outcomes: TypeAlias = dict[str, Outcome]  # by the name of the test
COLUMNS = {
    "passed": ("passed",),
    "counted": ("passed", "failed", "known"),
    "uncounted": ("uncounted",),
    "skipped": ("skipped",),
}


@dataclass(frozen=True)
class Suite:
    """The tests of a package.

    script: the script that runs them. variable: the environment variable with the suite's folder.
    files: the files that run by default. root: their folder in the suite.
    uncounted, known_failures: reasons by patterns of "folder/file::test".
    arguments: further arguments of pytest.
    """

    script: Path
    variable: str
    root: str
    files: tuple[str, ...]
    uncounted: dict[str, str]
    known_failures: dict[str, str]
    arguments: tuple[str, ...] = ()

    def recorded(self) -> dict[str, int]:
        """Return the number of passed tests by file, from the table beside the script."""
        rows = map(str.split, self.script.with_suffix(".txt").read_text().splitlines())
        return {row[0]: int(row[1]) for row in rows if row and row[0] in self.files}

    def fixed_failures(self, file: str, outcomes: Outcomes) -> list[str]:
        """Return the patterns of known failures of a file that no failed test matches."""
        known = [_name(file, test) for test, (kind, _) in outcomes.items() if kind == "known"]
        of_file = [p for p in self.known_failures if p.startswith(_name(file, ""))]
        return [p for p in of_file if not fnmatch.filter(known, p)]


def _name(file: str, test: str) -> str:
    return f"{'/'.join(Path(file).parts[-2:])}::{test}"


def _reason(reasons: dict[str, str], name: str) -> str | None:
    return next((r for p, r in reasons.items() if fnmatch.fnmatchcase(name, p)), None)


class Recorder:
    """A pytest plugin that writes the outcome of each test to a file, and ends tests that hang."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.outcomes: Outcomes = {}

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        signal.alarm(SECONDS_PER_TEST)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        name = report.nodeid.partition("::")[2]
        if report.when == "call" or report.outcome != "passed":
            error = "" if report.passed else report.longreprtext
            self.outcomes.setdefault(name, ("passed", ""))
            if report.outcome != "passed":
                self.outcomes[name] = (report.outcome, error)

    def pytest_runtest_logfinish(self) -> None:
        signal.alarm(0)
        self.file.write_text(json.dumps(self.outcomes))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.outcome != "passed":
            self.outcomes["import"] = (report.outcome, report.longreprtext)
            self.file.write_text(json.dumps(self.outcomes))


def run_file(suite: Suite, folder: Path, file: str, options: Sequence[str], outcomes: Path) -> None:
    """Run a file in this process, and write its outcomes to a file."""
    signal.signal(signal.SIGALRM, _raise_timeout)
    root = folder / suite.root
    pytest.main(
        [
            *("-q", "--no-header", "--no-summary", "--tb=short", "-p", "no:cacheprovider"),
            *(f"--rootdir={root}", f"--confcutdir={root}", "-c", os.devnull),
            *suite.arguments,
            *options,
            str(root / file),
        ],
        plugins=[Recorder(outcomes)],
    )


def _raise_timeout(*_: object) -> NoReturn:
    raise TimeoutError(f"the test ran for {SECONDS_PER_TEST} seconds")


def run_in_process(suite: Suite, folder: Path, file: str, options: Sequence[str] = ()) -> Outcomes:
    """Run a file in a process of its own; return its outcomes.

    If a test ends the process, there is a failure with the name "process".
    """
    with tempfile.TemporaryDirectory() as scratch:
        record = Path(scratch) / "outcomes.json"
        arguments = [str(folder), file, f"--outcomes={record}", "--", *options]
        paths = [str(suite.script.parent), *map(os.path.abspath, filter(None, sys.path))]
        environment = {
            **os.environ,
            suite.variable: str(folder),
            "PYTHONPATH": os.pathsep.join(paths),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYCU2C_BACKEND": "cpu",
        }
        ran = subprocess.run(
            [sys.executable, str(suite.script), *arguments],
            capture_output=True,
            text=True,
            env=environment,
            cwd=scratch,
        )
        outcomes = json.loads(record.read_text()) if record.exists() else {}
        if ran.returncode != 0 or not outcomes:
            end = f"{ran.stdout[-4000:]}\n{ran.stderr[-4000:]}\nexit status {ran.returncode}"
            outcomes["process"] = ["failed", end]
    return {test: judge(suite, file, test, outcome) for test, outcome in outcomes.items()}


def judge(suite: Suite, file: str, test: str, outcome: list[str]) -> Outcome:
    """Return the outcome of a test, with the reasons of the suite."""
    kind, error = outcome
    name = _name(file, test)
    if kind != "skipped" and (reason := _reason(suite.uncounted, name)):
        return "uncounted", reason
    if kind == "failed" and (reason := _reason(suite.known_failures, name)):
        return "known", reason
    return kind, error


def failures(outcomes: Outcomes) -> Iterator[tuple[str, str]]:
    """Yield the name and the error of each test that failed."""
    for test, (kind, error) in outcomes.items():
        if kind == "failed":
            yield test, error


def main(suite: Suite, prepare: Callable[[Path], None] = lambda _: None) -> int:
    """Implement the command line of a script; ``prepare`` puts the names in place."""
    parser = argparse.ArgumentParser()
    parser.add_argument("suite", type=Path, help="a checkout of the package")
    parser.add_argument("files", nargs="*", help="test files, relative to the folder of the tests")
    parser.add_argument("--failures", action="store_true", help="print the errors of failed tests")
    parser.add_argument(
        "--reasons", action="store_true", help="print known failures and uncounted tests"
    )
    parser.add_argument("-k", default="", help="run tests that match, as in pytest")
    parser.add_argument("--outcomes", type=Path, help=argparse.SUPPRESS)
    own, _, for_pytest = _split(sys.argv[1:])
    options = parser.parse_intermixed_args(own)
    folder = options.suite.resolve()
    if options.outcomes:
        prepare(folder)
        run_file(suite, folder, options.files[0], for_pytest, options.outcomes)
        return 0
    totals = [0] * len(COLUMNS)
    files = options.files or suite.files
    print(f"{'file':56}" + "".join(f"{column:>10}" for column in COLUMNS))
    for file in files:
        outcomes = run_in_process(suite, folder, file, ["-k", options.k] if options.k else [])
        counts = [sum(kind in kinds for kind, _ in outcomes.values()) for kinds in COLUMNS.values()]
        totals = [total + count for total, count in zip(totals, counts, strict=True)]
        print(f"{file:56}" + "".join(f"{count:10}" for count in counts), flush=True)
        for test, error in failures(outcomes):
            print(f"    {test}" + ("\n" + _indented(error) if options.failures else ""))
        if options.reasons:
            for test, (kind, reason) in outcomes.items():
                if kind in ("known", "uncounted"):
                    print(f"    {kind}: {test}: {reason}")
    print(f"{'all':56}" + "".join(f"{total:10}" for total in totals))
    return 0


def _split(arguments: Sequence[str]) -> tuple[list[str], str, list[str]]:
    words = list(arguments)
    if "--" not in words:
        return words, "", []
    k = words.index("--")
    return words[:k], "--", words[k + 1 :]


def _indented(text: str) -> str:
    return "".join(f"        {line}\n" for line in text.strip().splitlines())
