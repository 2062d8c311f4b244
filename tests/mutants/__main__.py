"""``make mutants``: plant faults in copies of the checkout, and see whether the tests find them.

Each fault of ``mutants.toml`` is planted alone. It is found if a test that the table names for it
fails, or else if a kernel of the fuzzer does. Tests that take too long have not found it. Before
that, the named tests must pass without a fault.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

ROOT = Path(__file__).resolve().parent.parent.parent
TABLE = Path(__file__).with_name("mutants.toml")
UNCOPIED = ("build", "dist", "out")
UNUSED = shutil.ignore_patterns("__pycache__", "*.egg-info")
TESTS_FAILED = 1  # the exit code of pytest; greater ones mean that it could not run the tests
TIMED_OUT = 124


@dataclass(frozen=True)
class Mutant:
    """A fault: a fragment of a file, what replaces it, the effect, and the tests to run."""

    name: str
    file: str  # below src/pycu2c
    before: str
    after: str
    effect: str
    tests: tuple[str, ...]


def read_mutants() -> list[Mutant]:
    """Return the faults of the table."""
    entries = tomllib.loads(TABLE.read_text())["mutant"]
    return [Mutant(**{**entry, "tests": tuple(entry["tests"])}) for entry in entries]


class Checkout:
    """A copy of the checkout in which one fault at a time is planted."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        for source in ROOT.iterdir():
            if source.name[0] == "." or source.name in UNCOPIED:
                continue
            if source.is_dir():
                shutil.copytree(source, directory / source.name, ignore=UNUSED)
            else:
                directory.mkdir(exist_ok=True)
                shutil.copy2(source, directory)

    def test(self, tests: tuple[str, ...], limit: float, jobs: int = 0) -> int:
        """Run tests, in ``jobs`` processes if not 0, until one fails; return the exit code."""
        command = ["pytest", "-q", "-x", "-p", "no:cacheprovider", "-n", str(jobs), *tests]
        return self._run(command, limit)

    def fuzz(self, count: int, limit: float) -> int:
        """Compare random kernels with the reference; return the exit code."""
        command = ["fuzzing", "-n", str(count), "--stop", "--shrink", "0", "-j", "1"]
        return self._run(command, limit)

    def plant(self, mutant: Mutant) -> None:
        """Replace the fragment of a mutant."""
        path = self._path(mutant)
        text = path.read_text()
        assert text.count(mutant.before) == 1, f"{mutant.name}: the fragment must occur once"
        path.write_text(text.replace(mutant.before, mutant.after))
        self._build_extension(mutant)

    def restore(self, mutant: Mutant) -> None:
        """Take back the fault."""
        path = self._path(mutant)
        shutil.copyfile(ROOT / path.relative_to(self.directory), path)
        self._build_extension(mutant)

    def _path(self, mutant: Mutant) -> Path:
        return self.directory / "src" / "pycu2c" / mutant.file

    def _build_extension(self, mutant: Mutant) -> None:
        if mutant.file.startswith("native/"):
            command = ["setup.py", "-q", "build_ext", "--inplace"]
            subprocess.run([sys.executable, *command], cwd=self.directory, check=True)

    def _run(self, command: list[str], limit: float) -> int:
        """Run a module with an empty cache; return its exit code, or that of a failure."""
        with tempfile.TemporaryDirectory() as cache:
            ours = [str(self.directory / part) for part in ("src", "tests")]
            search_path = os.pathsep.join([*ours, os.environ.get("PYTHONPATH", "")])
            environment = {**os.environ, "PYTHONPATH": search_path, "PYCU2C_CACHE_DIR": cache}
            environment.pop("PYTHONDONTWRITEBYTECODE", None)
            process = subprocess.Popen(
                [sys.executable, "-m", *command],
                cwd=self.directory,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                start_new_session=True,
            )
            try:
                self.output, _ = process.communicate(timeout=limit)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, 9)
                self.output, _ = process.communicate()
                return TIMED_OUT
            return process.returncode


def judge(checkout: Checkout, mutant: Mutant, options: argparse.Namespace) -> str:
    """Return how a fault was found: by tests, by the fuzzer, or an empty text."""
    checkout.plant(mutant)
    try:
        code = checkout.test(mutant.tests, options.limit)
        if code < 0 or code == TESTS_FAILED:  # below 0, a signal
            return "tests"
        if code == TIMED_OUT:
            return ""
        if code:
            raise RuntimeError(f"{mutant.name}: pytest ended with {code}\n{checkout.output}")
        return "fuzzer" if options.kernels and checkout.fuzz(options.kernels, 3600) == 1 else ""
    finally:
        checkout.restore(mutant)


def main() -> int:
    options = _options()
    mutants = [m for m in read_mutants() if not options.names or m.name in options.names]
    with tempfile.TemporaryDirectory() as folder:
        free: SimpleQueue[Checkout] = SimpleQueue()
        for number in range(options.jobs):
            free.put(Checkout(Path(folder) / str(number)))
        tests = tuple(dict.fromkeys(test for m in mutants for test in m.tests))
        checkout = free.get()
        if not options.skip_baseline and checkout.test(tests, 3600, options.jobs):
            print(f"these tests fail without a fault:\n{checkout.output[-3000:]}")
            return 2
        free.put(checkout)

        def found_by(mutant: Mutant) -> str:
            checkout, start = free.get(), time.monotonic()
            try:
                found = judge(checkout, mutant, options)
            finally:
                free.put(checkout)
            took = time.monotonic() - start
            print(f"{mutant.name:36} {found or 'NOT FOUND':10} {took:4.0f} s", flush=True)
            return found

        with ThreadPoolExecutor(options.jobs) as pool:
            found = list(pool.map(found_by, mutants))
    missed = [m for m, how in zip(mutants, found) if not how]
    print(f"{len(mutants) - len(missed)} of {len(mutants)} faults are found")
    for mutant in missed:
        print(f"not found: {mutant.name} in {mutant.file}: {mutant.effect}")
    return 1 if missed else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="mutants", description=__doc__)
    parser.add_argument("names", nargs="*", help="of faults; all if there is none")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--kernels", type=int, default=3000, help="for the fuzzer, 0 for none")
    parser.add_argument("--limit", type=float, default=600, help="seconds for the tests of a fault")
    parser.add_argument("--skip-baseline", action="store_true", help="trust that the tests pass")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
