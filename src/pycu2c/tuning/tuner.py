"""Search the fastest configuration of a kernel: compile in threads, measure one at a time."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from pycu2c.base.diagnostics import LaunchError
from pycu2c.base.errors import Error
from pycu2c.base.output import progress
from pycu2c.base.records import dataclass
from pycu2c.cuda_driver import driver
from pycu2c.devices.cpu_device import Cpu
from pycu2c.kernels.cache_key import FingerprintWriter
from pycu2c.kernels.tuning_report import TrialResult, TuningReport, short_text, time_text
from pycu2c.runtime.arguments.array_argument import Argument, ArrayArgument, HandleArgument
from pycu2c.runtime.cpu.thread_count import thread_count
from pycu2c.toolchain.cache import cache_directory
from pycu2c.tuning import worker
from pycu2c.tuning.measurement import CompiledCandidate, FaultyCandidate, Measurer
from pycu2c.tuning.records import Journal
from pycu2c.tuning.space import LAUNCH_NAMES, Configuration, Space, named_arguments, text_of
from pycu2c.tuning.strategies import Strategy

_FINALISTS, _FINAL_RATIO = 16, 1.2  # at most so many, at most so many times as slow as the best
_SEARCH_SHARE = 0.9  # of the time; the finalists are compared in the rest


@dataclass(frozen=True, slots=True)
class MeasuringOptions:
    """How candidates are measured: the parameters of ``Kernel.tune`` of the same names."""

    seconds: float = 60.0
    timeout: float = 5.0
    tolerance: float | None = None
    cold_cache: bool = True
    resume: bool = True


def device_name(space: Space) -> str:
    """Return the name of the device that launches use; for a CPU with its threads."""
    if runs_on_gpu(space):
        return driver.device().name
    return f"{Cpu().name}, {thread_count()} threads"


def runs_on_gpu(space: Space) -> bool:
    """Return whether launches use a GPU."""
    return space.untuned.backend in ("auto", "cuda") and driver.available()


class Tuner:
    """One search: a space, and the arguments of its launches."""

    def __init__(self, space: Space, values: Sequence[object], options: MeasuringOptions) -> None:
        launcher = space.untuned
        if launcher.backend == "python":
            raise LaunchError(f"{launcher.name} runs in the interpreter, and cannot be tuned")
        if launcher.options.check:
            raise LaunchError(f"{launcher.name} is checked (check=…), and cannot be tuned")
        self._space, self._options = space, options
        self._values = launcher.bind(tuple(values), {})
        self._named = named_arguments(launcher, self._values)
        self._leaves = launcher.flatten(self._values).leaves
        if any(isinstance(leaf, HandleArgument) for leaf in self._leaves):
            raise LaunchError(f"{launcher.name} takes textures, and cannot be tuned")
        self._candidates = list(space.configurations(self._named))
        if not self._candidates:
            raise LaunchError(f"{launcher.name}: the restrictions permit no candidate")
        self._journal = Journal(*self._identity())
        if not options.resume:
            self._journal.clear()
        measured = [space.default, *self._candidates]
        self._count = len({text_of(configuration) for configuration in measured})
        self._journal.keep(measured)  # others are of another space
        self._best = math.inf

    def _identity(self) -> Iterator[str]:
        """Yield texts of all that the measured times depend on."""
        writer = FingerprintWriter()
        writer.add_kernel(self._space.untuned.source)
        yield "\n".join(writer.lines)
        yield repr((self._space.untuned.options, device_name(self._space)))
        launch = [_text_of_code(self._space.launch[name]) for name in LAUNCH_NAMES]
        yield repr((launch, self._options.cold_cache))
        yield repr([_size_and_type(leaf) for leaf in self._leaves])

    def search(
        self, strategy: Strategy, found_better: Callable[[TrialResult, float | None], None]
    ) -> TuningReport:
        """Measure candidates until the time is over; report the fastest.

        found_better: receives each candidate that is faster than the earlier ones, and the time of
        the untuned kernel.
        """
        started = time.monotonic()
        deadline = started + _SEARCH_SHARE * self._options.seconds
        strategy.start(self._space.values, self._candidates)
        with self._measurer() as measurer, progress.progress_line() as show:
            compiled = self._trial(measurer, self._compile_all([self._space.default]), strategy)
            default = self._journal.results[text_of(self._space.default)].seconds
            for result in list(self._journal.results.values()):
                if text_of(result.configuration) != text_of(self._space.default):
                    strategy.tell(result.configuration, result.seconds)
            while time.monotonic() < deadline:
                asked = list(strategy.ask(2 * thread_count()))
                if not asked:
                    break
                for candidate in self._compile_all(asked):
                    if time.monotonic() > deadline:
                        break
                    best = self._best
                    compiled |= self._trial(measurer, [candidate], strategy)
                    if self._best < best:
                        found_better(self._ranked()[0], default)
                    show(self._progress(default, time.monotonic() - started))
            rest = (1 - _SEARCH_SHARE) * self._options.seconds
            report = self._finals(measurer, compiled, time.monotonic() + rest)
        best_result = report.results[0]
        found_better(best_result, report.default_seconds)
        return report

    def _progress(self, default: float | None, seconds: float) -> str:
        done = self._journal.results.values()
        gain = f" ({default / self._best:.2f} x)" if default and self._best < math.inf else ""
        return (
            f"tune {self._space.untuned.name}: {len(done)} of {self._count}, "
            f"best {time_text(self._best)}{gain}, "
            f"{sum(r.seconds is None for r in done)} skipped, {seconds:.0f} s"
        )

    # ---- candidates ----

    def _compile_all(
        self, configurations: Sequence[Configuration]
    ) -> list[CompiledCandidate | TrialResult]:
        """Compile candidates in threads; none is measured meanwhile."""
        with warnings.catch_warnings(), ThreadPoolExecutor(thread_count()) as executor:
            warnings.simplefilter("ignore")  # each candidate would repeat those of the kernel
            return list(executor.map(self._compile, configurations))

    def _compile(self, configuration: Configuration) -> CompiledCandidate | TrialResult:
        try:
            request, _ = self._space.request(configuration, self._named)
            resolved = self._space.launcher(configuration).resolve(request, self._values)
        except (Error, AssertionError) as error:
            return TrialResult(configuration, None, f"{error}".partition("\n")[0])
        written = resolved.typed.metadata.written
        arrays = (p for p in sorted(written) if isinstance(self._leaves[p], ArrayArgument))
        return CompiledCandidate(configuration, resolved.runner, resolved.launch, tuple(arrays))

    def _trial(
        self,
        measurer: Measurer,
        candidates: Sequence[CompiledCandidate | TrialResult],
        strategy: Strategy,
    ) -> dict[str, CompiledCandidate]:
        """Measure candidates, and record the results; return those that succeeded."""
        succeeded = {}
        for candidate in candidates:
            configuration = candidate.configuration
            if isinstance(candidate, TrialResult):
                result = candidate
            else:
                try:
                    seconds = measurer.measure(candidate, self._best)
                    result = TrialResult(configuration, seconds)
                    succeeded[text_of(configuration)] = candidate
                    self._best = min(self._best, seconds)
                except FaultyCandidate as fault:
                    result = TrialResult(configuration, None, str(fault))
            self._journal.add(result)
            strategy.tell(configuration, result.seconds)
        return succeeded

    def _ranked(self) -> list[TrialResult]:
        results = self._journal.results.values()
        return sorted(results, key=lambda r: math.inf if r.seconds is None else r.seconds)

    def _finals(
        self, measurer: Measurer, compiled: dict[str, CompiledCandidate], deadline: float
    ) -> TuningReport:
        """Measure the fastest candidates and the untuned kernel again, in alternating runs."""
        ranked = self._ranked()
        default = text_of(self._space.default)
        limit = _FINAL_RATIO * (ranked[0].seconds or 0.0)
        finalists = [r for r in ranked[:_FINALISTS] if r.seconds is not None and r.seconds <= limit]
        if not finalists:
            problems = "\n".join(f"{short_text(r)}: {r.problem}" for r in ranked)
            raise LaunchError(f"{self._space.untuned.name}: all candidates fail\n{problems}")
        if default not in [text_of(r.configuration) for r in finalists] and default in compiled:
            finalists.append(self._journal.results[default])
        texts = [text_of(r.configuration) for r in finalists]
        earlier = [r.configuration for r, t in zip(finalists, texts) if t not in compiled]
        for candidate in self._compile_all(earlier):
            if isinstance(candidate, CompiledCandidate):
                compiled[text_of(candidate.configuration)] = candidate
        candidates = [compiled[text] for text in texts if text in compiled]
        for candidate, seconds in zip(candidates, measurer.compare(candidates, deadline)):
            self._journal.add(TrialResult(candidate.configuration, seconds))
        final = [self._journal.results[text_of(c.configuration)] for c in candidates]
        final.sort(key=lambda r: r.seconds or math.inf)
        others = [r for r in self._ranked() if r not in final]
        best = final[0]
        assert best.seconds is not None
        return TuningReport(
            self._space.untuned.name,
            best.configuration,
            best.seconds,
            self._journal.results[default].seconds,
            (*final, *others),
            self._count,
        )

    @contextmanager
    def _measurer(self) -> Iterator[Measurer]:
        device = driver.current_ordinal() if runs_on_gpu(self._space) else None
        folder = cache_directory.new_private_folder()
        options = self._options
        measurer = Measurer(
            folder,
            worker.image_of(self._leaves, device),
            options.timeout,
            options.tolerance,
            options.cold_cache,
        )
        try:
            yield measurer
        finally:
            measurer.close()
            cache_directory.remove_tree(folder)


def _text_of_code(value: object) -> str:
    """Return a text that differs for functions that differ."""
    code = getattr(value, "__code__", None)
    return repr((code.co_code, code.co_consts, code.co_names) if code else value)


def _size_and_type(leaf: Argument) -> object:
    if isinstance(leaf, ArrayArgument):
        return str(leaf.type), leaf.shape, leaf.strides
    return leaf
