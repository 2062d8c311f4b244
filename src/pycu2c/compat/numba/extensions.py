"""Implement numba's ``extensions``: objects that replace the arguments of each launch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pycu2c.base.diagnostics import LaunchError
from pycu2c.base.types import ParameterType
from pycu2c.compat.numba.typeof import typeof
from pycu2c.kernels.launcher import Launcher
from pycu2c.native.extension import LaunchConfiguration
from pycu2c.runtime.launch_configuration import LaunchRequest


class ExtendedLauncher(Launcher):
    """A launcher that passes each argument through the ``prepare_args`` of its extensions.

    ``prepare_args(type, value, stream=…, retr=…)`` returns a type and a value, from which the
    launch derives the type again. Functions appended to ``retr`` are called after the launch.
    """

    def __init__(self, launcher: Launcher, extensions: Sequence[Any] = ()) -> None:
        super().__init__(
            launcher.source, launcher.declared, launcher.backend, launcher.cache, launcher.options
        )
        self.extensions = list(extensions)

    @property
    def table_for_calls(self) -> None:
        """No dispatch table: each launch calls the extensions."""
        return None

    def without_code(self) -> ExtendedLauncher:
        return ExtendedLauncher(super().without_code(), self.extensions)

    def launch(
        self, configuration: LaunchConfiguration, request: LaunchRequest, values: tuple[object, ...]
    ) -> None:
        callbacks: list[Callable[[], object]] = []
        prepared = tuple(self._prepare(value, request.stream, callbacks) for value in values)
        super().launch(configuration, request, prepared)
        for callback in callbacks:
            callback()

    def _prepare(
        self, value: object, stream: object, callbacks: list[Callable[[], object]]
    ) -> object:
        """Return the argument that the extensions return, the last extension first."""
        value_type = _type_of(value)
        for extension in reversed(self.extensions):
            value_type, value = extension.prepare_args(
                value_type, value, stream=stream or 0, retr=callbacks
            )
        return value


def _type_of(value: object) -> ParameterType | None:
    """Return the type of an argument; None if only an extension supports it."""
    try:
        return typeof(value)
    except LaunchError:
        return None
