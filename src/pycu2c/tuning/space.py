"""Define the candidates of a kernel: values of constants and options, and their launches."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import CellType, FunctionType
from typing import Any, TypeAlias

from pycu2c.base import spelling_suggestions
from pycu2c.base.diagnostics import LaunchError
from pycu2c.base.records import dataclass, replace
from pycu2c.base.source import Source
from pycu2c.declarations.options import OPTION_NAMES, OptionError, Options, parse_options
from pycu2c.kernels.cache_key import FingerprintWriter
from pycu2c.kernels.configured_kernel import checked_request
from pycu2c.kernels.launcher import Launcher
from pycu2c.runtime.launch_configuration import LaunchRequest, shared_size

Configuration: TypeAlias = dict[str, Any]  # a value for each name of a space
LAUNCH_NAMES = ("block", "shared_memory", "grid")  # in the order in which they are computed
_NOT_TUNABLE = {"check", "link", "lineinfo"}


def text_of(configuration: Configuration) -> str:
    """Return the text that identifies a configuration in files."""
    return json.dumps(configuration, sort_keys=True)


class LaunchNames:
    """The names that functions of the grid and restrictions read: ``c.TILE``, ``c.n``.

    Values of the configuration precede arguments. ``_read`` has the arguments that were read.
    """

    def __init__(self, configuration: Configuration, arguments: Mapping[str, object]) -> None:
        self._configuration, self._arguments = dict(configuration), arguments
        self._read: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        if name in self._configuration:
            return self._configuration[name]
        if name in self._arguments:
            self._read.add(name)
            return self._arguments[name]
        names = ", ".join((*self._configuration, *self._arguments))
        raise AttributeError(f"the configuration has no {name}: it has {names}", name=name)


@dataclass(frozen=True, slots=True, eq=False)
class Space:
    """The values of each name, and how a configuration is launched.

    untuned: the launcher of the kernel as it is declared.
    values: of constants of the kernel, of options of ``@kernel``, and of ``LAUNCH_NAMES``.
    default: the values of an untuned kernel.
    launch: the declared value of each of ``LAUNCH_NAMES``, or a function of ``LaunchNames``.
    """

    untuned: Launcher
    values: Mapping[str, tuple[Any, ...]]
    default: Configuration
    restrictions: tuple[Callable[[Any], Any], ...]
    launch: Mapping[str, Any]

    def configurations(self, arguments: Mapping[str, object]) -> Iterator[Configuration]:
        """Yield the configurations that the restrictions permit for these arguments."""
        for values in itertools.product(*self.values.values()):
            configuration = dict(zip(self.values, values))
            names = LaunchNames(configuration, arguments)
            if all(permits(names) for permits in self.restrictions):
                yield configuration

    def request(
        self, configuration: Configuration, arguments: Mapping[str, object]
    ) -> tuple[LaunchRequest, set[str]]:
        """Return the launch of a configuration, and the arguments on which it depends."""
        names = LaunchNames(configuration, arguments)
        for name in LAUNCH_NAMES:
            value = configuration.get(name, self.launch[name])
            names._configuration[name] = value(names) if callable(value) else value
        grid, block, size = (names._configuration[n] for n in ("grid", "block", "shared_memory"))
        options = self.options_of(configuration)
        kernel = self.untuned.name
        shared = shared_size(size, kernel)
        return checked_request(kernel, options, grid, block, None, shared), names._read

    def options_of(self, configuration: Configuration) -> Options:
        """Return the options of a configuration."""
        chosen = {n: value for n, value in configuration.items() if n in OPTION_NAMES}
        parsed = parse_options(chosen)
        return replace(self.untuned.options, **{n: getattr(parsed, n) for n in chosen})

    def launcher(self, configuration: Configuration) -> Launcher:
        """Return a launcher of the kernel with the constants and options of a configuration."""
        others = {*OPTION_NAMES, *LAUNCH_NAMES}
        constants = {n: value for n, value in configuration.items() if n not in others}
        untuned = self.untuned
        python = untuned.source.python
        rebound = _Rebinding(constants, python.__globals__).function(python)
        source, options = replace(untuned.source, python=rebound), self.options_of(configuration)
        return Launcher(source, untuned.declared, untuned.backend, untuned.cache, options)


def space_of(
    launcher: Launcher,
    values: Mapping[str, Sequence[Any]],
    restrictions: object,
    launch: Mapping[str, Any],
) -> Space:
    """Return the space of a kernel. Raises OptionError."""
    constants = _constants(launcher.source)
    valid = [*LAUNCH_NAMES, *(n for n in OPTION_NAMES if n not in _NOT_TUNABLE), *constants]
    default = {}
    if not isinstance(values, Mapping):
        raise OptionError(
            "the values to tune are a list for each name, such as {'block': [64, 128]}, not "
            f"{type(values).__name__}"
        )
    for name, choices in values.items():
        if name not in valid:
            closest = spelling_suggestions.closest_name(name, valid, cutoff=0.5)
            hint = f": did you mean {closest}?" if closest else ""
            raise OptionError(
                f"{launcher.name} has no constant or option {name} to tune: a constant is a global "
                f"or closure variable that the kernel or its device functions read{hint}"
            )
        if not isinstance(choices, (list, tuple, range)) or not choices:
            raise OptionError(f"tune has a list of values for {name}, not {choices!r}")
        declared = launch[name] if name in LAUNCH_NAMES else None
        if name in OPTION_NAMES:
            declared = getattr(launcher.options, name)
        has_default = declared not in (None, ()) and not callable(declared)
        has_default = has_default or name in OPTION_NAMES
        if name == "shared_memory" and not declared:
            has_default = False
        default[name] = constants.get(name, declared if has_default else choices[0])
        try:
            json.dumps([default[name], *choices])
        except TypeError:
            raise OptionError(f"the values of {name} are numbers, strings and tuples") from None
    rules: Any = (restrictions,) if callable(restrictions) else restrictions
    return Space(
        launcher,
        {name: tuple(choices) for name, choices in values.items()},
        default,
        tuple(rules),
        launch,
    )


def _constants(source: Source) -> dict[str, Any]:
    """Return the constants of a kernel's module and closure that the kernel and its functions read.

    Constants of other modules have other globals, so they are excluded.
    """
    writer = FingerprintWriter()
    writer.add_kernel(source)
    own = source.python.__globals__
    return {
        b.text: b.value
        for b in writer.bindings
        if (b.owner is own or isinstance(b.owner, CellType)) and not callable(b.value)
    }


class _Rebinding:
    """Copies of a kernel and of the functions of its module, with other values of constants."""

    def __init__(self, constants: Mapping[str, Any], own: dict[str, Any]) -> None:
        self._constants, self._own = constants, own
        self._copies: dict[int, Any] = {}
        self._globals = {**own, **{n: v for n, v in constants.items() if n in own}}
        for name, value in own.items():
            self._globals[name] = self._globals[name] if name in constants else self._copy(value)

    def function(self, function: FunctionType) -> FunctionType:
        """Return a function that reads the new values; other modules' functions are unchanged."""
        if function.__globals__ is not self._own:
            return function
        if id(function) not in self._copies:
            names, cells = function.__code__.co_freevars, function.__closure__ or ()
            closure = tuple(CellType() for _ in cells)
            copied = FunctionType(
                function.__code__, self._globals, function.__name__, function.__defaults__, closure
            )
            self._copies[id(function)] = copied
            copied.__kwdefaults__, copied.__annotations__ = (
                function.__kwdefaults__,
                function.__annotations__,
            )
            copied.__module__, copied.__qualname__ = function.__module__, function.__qualname__
            for name, old, new in zip(names, cells, closure):
                try:
                    value = old.cell_contents
                except ValueError:  # not assigned
                    continue
                new.cell_contents = (
                    self._constants[name] if name in self._constants else self._copy(value)
                )
        copy: FunctionType = self._copies[id(function)]
        return copy

    def _copy(self, value: Any) -> Any:
        """Return a copy of a function or device function; other objects are shared."""
        if isinstance(value, FunctionType):
            return self.function(value)
        source = getattr(value, "__dict__", {}).get("__pycu2c_device__")
        if not isinstance(source, Source) or source.python.__globals__ is not self._own:
            return value
        if id(value) not in self._copies:
            copy = self._copies[id(value)] = object.__new__(type(value))
            rebound = self.function(source.python)
            copy.__dict__.update(value.__dict__)
            copy.__dict__.update(python=rebound, __pycu2c_device__=replace(source, python=rebound))
        return self._copies[id(value)]


def named_arguments(launcher: Launcher, values: Sequence[object]) -> dict[str, object]:
    """Return the arguments of a launch by name. Raises LaunchError."""
    if len(values) != len(launcher.parameters):
        raise LaunchError(f"{launcher.name} takes {len(launcher.parameters)} arguments to tune")
    return dict(zip(launcher.parameters, values))
