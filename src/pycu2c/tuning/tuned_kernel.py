"""Kernels with a space of configurations, which launch with the fastest known one."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any

from pycu2c.base.diagnostics import CompileError, LaunchError
from pycu2c.base.errors import Error, environment_switch
from pycu2c.base.output import tracing
from pycu2c.base.records import replace
from pycu2c.base.types import Signature
from pycu2c.declarations.options import OptionError
from pycu2c.kernels.configured_kernel import Configured, Launches, P, untraced
from pycu2c.kernels.kernel import Kernel
from pycu2c.kernels.launcher import Launcher
from pycu2c.kernels.tuning_report import TrialResult, TuningReport
from pycu2c.native.extension import TunedBase
from pycu2c.runtime.arguments.arguments import describe
from pycu2c.runtime.arguments.array_argument import ArrayArgument
from pycu2c.runtime.launch_configuration import LaunchRequest
from pycu2c.toolchain.cache import cache_directory
from pycu2c.tuning import records
from pycu2c.tuning.records import TuningRecord
from pycu2c.tuning.space import (
    LAUNCH_NAMES,
    Configuration,
    Space,
    named_arguments,
    space_of,
    text_of,
)
from pycu2c.tuning.strategies import strategy_of
from pycu2c.tuning.tuner import MeasuringOptions, Tuner, device_name

_MAX_LAUNCHES = 256  # sizes for which a kernel keeps its launch


class TunedKernel(Kernel[P]):
    """A kernel that ``@kernel(tune=…)`` decorates.

    ``k(arguments)`` launches with the configuration of the nearest tuning record, or else with the
    declared constants and options. ``k[grid, block](arguments)`` never uses records.
    """

    def __init__(
        self,
        function: FunctionType,
        *,
        tune: Mapping[str, Sequence[Any]],
        tune_for: Sequence[str] = (),
        restrictions: object = (),
        tune_file: str | os.PathLike[str] | None = None,
        **parameters: Any,
    ) -> None:
        launch = {name: parameters.get(name) for name in LAUNCH_NAMES}
        launch["shared_memory"] = launch["shared_memory"] or 0
        static = {n: value for n, value in parameters.items() if not callable(value)}
        super().__init__(function, **static)
        space = space_of(self.launcher, tune, restrictions, launch)
        file = file_of(self.launcher, tune_file)
        self._own = TunedLaunch(self._launches, Tuning(space, tuple(tune_for), file))

    def _pickled_state(self) -> dict[str, Any]:
        tuning, space = self._own.tuning, self._own.tuning.space
        return {
            **super()._pickled_state(),
            **space.launch,
            "tune": space.values,
            "tune_for": tuning.tune_for,
            "restrictions": space.restrictions,
            "tune_file": tuning.file,
        }

    def recompile(self) -> None:
        """Read globals, closures and tuning records again."""
        super().recompile()
        self._own.invalidate()


def tune(
    kernel: Kernel[Any],
    arguments: Sequence[object],
    values: Mapping[str, Sequence[Any]] | None,
    restrictions: object,
    **options: Any,
) -> TuningReport:
    """Tune a kernel: in the space that it declares, or in one of these values."""
    if not isinstance(kernel, TunedKernel):
        return _undeclared(kernel, values, restrictions, options).tune(arguments, **options)
    tuning = kernel._own.tuning
    if values is not None or restrictions:
        space = tuning.space
        values = space.values if values is None else values
        rules = restrictions or space.restrictions
        tuning = tuning.with_space(space_of(space.untuned, values, rules, space.launch))
    report: TuningReport = tuning.tune(arguments, **options)
    kernel._own.invalidate()
    return report


def _undeclared(
    kernel: Kernel[Any],
    values: Mapping[str, Sequence[Any]] | None,
    restrictions: object,
    options: dict[str, Any],
) -> Tuning:
    """Return the tuning of a kernel without ``tune=``; take its parameters out of the options."""
    if values is None:
        raise OptionError(f"{kernel.name} has no values to tune: write @kernel(tune=…)")
    launch = {n: options.pop(n, None) or getattr(kernel, n) for n in LAUNCH_NAMES}
    space = space_of(kernel.launcher, values, restrictions, launch)
    file = file_of(kernel.launcher, options.pop("tune_file", None))
    return Tuning(space, tuple(options.pop("tune_for", ())), file)


def file_of(launcher: Launcher, path: str | os.PathLike[str] | None) -> str:
    """Return the file of records: beside the module by default, or with the cache."""
    if path is not None:
        return os.path.abspath(path)
    source = launcher.source.file
    if os.path.isfile(source) and os.access(os.path.dirname(os.path.abspath(source)), os.W_OK):
        return os.path.splitext(os.path.abspath(source))[0] + records.SUFFIX
    folder = cache_directory.sibling_folder("tuning")
    return os.path.join(folder, f"{launcher.source.python.__module__}{records.SUFFIX}")


class Tuning:
    """A space, the parameters that select a record, and the file of the records."""

    def __init__(self, space: Space, tune_for: tuple[str, ...], file: str) -> None:
        names = space.untuned.parameters
        for name in tune_for:
            if name not in names:
                raise OptionError(
                    f"tune_for names parameters of {space.untuned.name}, not {name!r}: it has "
                    f"{', '.join(names)}"
                )
        self.space, self.tune_for, self.file = space, tune_for, file

    def with_space(self, space: Space) -> Tuning:
        """Return the same tuning of another space."""
        return Tuning(space, self.tune_for, self.file)

    def sizing_names(self, arguments: Mapping[str, object]) -> tuple[str, ...]:
        """Return the parameters that select a record; by default all arrays."""
        arrays = (n for n, value in arguments.items() if _is_array(value))
        return self.tune_for or tuple(arrays)

    def record(self, arguments: Mapping[str, object], signature: Signature) -> TuningRecord:
        """Return a record of the default configuration for a launch."""
        source = self.space.untuned.source
        return TuningRecord(
            source.python.__qualname__,
            device_name(self.space),
            str(signature),
            {n: records.size_of(arguments[n]) for n in self.sizing_names(arguments)},
            self.space.default,
            0.0,
            None,
            records.source_digest(source),
        )

    def tune(
        self, arguments: Sequence[object], strategy: object = "local", **options: Any
    ) -> TuningReport:
        """Search, and store each new best configuration."""
        launcher = self.space.untuned
        values = launcher.bind(tuple(arguments), {})
        record = self.record(named_arguments(launcher, values), launcher.signature_of(values))

        def store(result: TrialResult, default: float | None) -> None:
            assert result.seconds is not None
            found = replace(record, configuration=result.configuration, seconds=result.seconds)
            records.store(self.file, replace(found, default_seconds=default))

        try:
            measuring = MeasuringOptions(**options)
        except TypeError as error:
            raise OptionError(f"{launcher.name}.tune: {error}") from None
        return Tuner(self.space, arguments, measuring).search(strategy_of(strategy), store)


def _is_array(value: object) -> bool:
    return not isinstance(value, (int, float)) and isinstance(describe(value), ArrayArgument)


class TunedLaunch(TunedBase):
    """The launch of a tuned kernel without a grid and block.

    C looks the launch up by the arguments on which it depends: integers, and shapes of arrays. It
    calls ``_launch_slow`` for others.
    """

    def __init__(self, untuned: Launches, tuning: Tuning) -> None:
        self._untuned, self.tuning = untuned, tuning
        self.invalidate()

    def invalidate(self) -> None:
        """Drop cached launches and records, so that the next launch reads the records again."""
        self._names: tuple[str, ...] = ()
        self._positions, self._configured = (), {}
        self._records: list[TuningRecord] | None = None
        self._variants: dict[tuple[str, Signature], Launches] = {}

    @property
    def _launch_slow(self) -> Callable[..., None]:
        """Select a configuration and launch."""
        return untraced(self._launch, self.tuning.space.untuned.name)

    def _launch(self, *arguments: object, **named: object) -> None:
        launcher = self.tuning.space.untuned
        try:
            values = launcher.bind(arguments, named)
            self._select(values)(*values)
        except (CompileError, LaunchError) as error:
            __tracebackhide__ = True  # pytest and IPython show the caller's line only
            raise error.with_traceback(None) from error.__cause__

    def _select(self, values: tuple[object, ...]) -> Configured[Any]:
        """Return the launch for these arguments, and keep it for the fast path."""
        tuning, launcher = self.tuning, self.tuning.space.untuned
        arguments = dict(zip(launcher.parameters, values))
        signature = launcher.signature_of(values)
        configuration = self._configuration(values, arguments, signature)
        try:
            launches, request, read = self._variant(configuration, signature, values)
        except Error:  # a record of another device may not fit; the untuned kernel raises others
            configuration = tuning.space.default
            launches, request, read = self._variant(configuration, signature, values)
        configured: Configured[Any] = Configured(launches, request)
        names = {*self._names, *read, *tuning.sizing_names(arguments)}
        if names != {*self._names} or len(self._configured) >= _MAX_LAUNCHES:
            self._configured = {}
            self._names = tuple(n for n in launcher.parameters if n in names)
            self._positions = tuple(launcher.parameters.index(n) for n in self._names)
        key = self._key(values)
        if key is not None:
            earlier = self._configured.get(key, ())
            others = [c for c in earlier if c._launches is not configured._launches]
            self._configured[key] = (configured, *others[:3])  # of other signatures
        return configured

    def _configuration(
        self, values: tuple[object, ...], arguments: Mapping[str, object], signature: Signature
    ) -> Configuration:
        tuning = self.tuning
        wanted = tuning.record(arguments, signature)
        if self._records is None:
            self._records = records.load(tuning.file)
        found = records.nearest(self._records, wanted)
        is_exact = found is not None and (found.key, found.source) == (wanted.key, wanted.source)
        if not is_exact and environment_switch("PYCU2C_TUNE"):
            configuration = tuning.tune(values).best
            self._records = None
            return configuration
        how = "no record" if found is None else "its record" if is_exact else "the nearest record"
        tracing.log("tune", "%s uses %s", tuning.space.untuned.name, how)
        return tuning.space.default if found is None else found.configuration

    def _variant(
        self, configuration: Configuration, signature: Signature, values: tuple[object, ...]
    ) -> tuple[Launches, LaunchRequest, set[str]]:
        """Return a variant of the kernel, its launch, and the arguments on which that depends."""
        space = self.tuning.space
        request, read = space.request(configuration, dict(zip(space.untuned.parameters, values)))
        if text_of(configuration) == text_of(space.default):
            return self._untuned, request, read
        key = text_of(configuration), signature
        if key not in self._variants:
            launcher = space.launcher(configuration)
            launcher.resolve(request, values)  # raises errors of the compiler
            self._variants[key] = Launches(launcher)
        return self._variants[key], request, read

    def _key(self, values: tuple[object, ...]) -> object:
        """Return the key by which C looks a launch up; None if there is none."""
        parts = [values[p] for p in self._positions]
        key = tuple(p if type(p) is int else getattr(p, "shape", None) or p for p in parts)
        try:
            hash(key)
        except TypeError:
            return None
        return key
