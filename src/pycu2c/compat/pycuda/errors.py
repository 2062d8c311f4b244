"""Define PyCUDA's exceptions, and translate exceptions of pycu2c to them."""

from __future__ import annotations

import builtins
import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import NoReturn, ParamSpec, TypeVar

from pycu2c.base import diagnostics
from pycu2c.cuda_driver import cuda_errors


class Error(Exception):
    """An error of the driver, or of this package in its place."""


class LogicError(Error):
    """The program has made an invalid request."""


class MemoryError(Error, builtins.MemoryError):
    """There is not enough memory."""


class RuntimeError(Error, builtins.RuntimeError):
    """An error outside of the program."""


class LaunchError(Error, diagnostics.LaunchError):
    """A launch was rejected, or a kernel failed."""


class CompileError(Error, diagnostics.CompileError):
    """CUDA C does not compile.

    msg: the location, with carets. stderr: the compiler's own output.
    command_line: the compiler and its flags. diagnostics: the diagnostics of this package.
    """

    def __init__(
        self,
        msg: str,
        command_line: list[str] | tuple[str, ...] = (),
        stdout: str | None = None,
        stderr: str | None = None,
    ) -> None:
        self.msg, self.command_line, self.stdout, self.stderr = msg, command_line, stdout, stderr
        self.diagnostics, self.code, self.file, self.line = (), "inline-c", "", 0
        Exception.__init__(self, msg)

    def __str__(self) -> str:
        parts = [self.msg]
        if self.command_line:
            parts.append(f"[command: {' '.join(self.command_line)}]")
        if self.stdout:
            parts.append(f"[stdout:\n{self.stdout}]")
        if self.stderr:
            parts.append(f"[stderr:\n{self.stderr}]")
        return "\n".join(parts)


_CODES: tuple[tuple[type[BaseException], type[Error]], ...] = (
    (cuda_errors.OutOfMemoryError, MemoryError),
    (cuda_errors.KernelFault, LaunchError),
    (cuda_errors.LaunchResourcesError, LaunchError),
    (cuda_errors.NoDeviceError, RuntimeError),
    (cuda_errors.DriverError, RuntimeError),
    (cuda_errors.CudaError, LogicError),
    (diagnostics.LaunchError, LaunchError),
    (builtins.MemoryError, MemoryError),
)
_CAUGHT = tuple(caught for caught, _ in _CODES)


@contextlib.contextmanager
def translated() -> Iterator[None]:
    """Translate the exceptions of a ``with`` to PyCUDA's, which are subclasses of ours."""
    try:
        yield
    except Error:
        raise
    except _CAUGHT as error:
        _raise(error)


def _raise(error: BaseException) -> NoReturn:
    for caught, raised in _CODES:
        if isinstance(error, caught):
            raise raised(str(error)) from error
    raise error


P = ParamSpec("P")
R = TypeVar("R")


def translating(function: Callable[P, R]) -> Callable[P, R]:
    """Return a function whose exceptions are translated."""

    @functools.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except Error:
            raise
        except _CAUGHT as error:
            _raise(error)

    return run
