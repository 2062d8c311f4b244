"""Define PyCUDA's exceptions, and translate exceptions of pycu2c to them."""

from __future__ import annotations

import builtins
import contextlib

from pycu2c.base import diagnostics, errors
from pycu2c.cuda_driver import cuda_errors


class Error(errors.Error):
    """An error of the driver, or of this package in its place."""


class LogicError(Error):
    """The program has made an invalid request."""


class MemoryError(Error, builtins.MemoryError):
    """There is not enough memory."""


class RuntimeError(Error, builtins.RuntimeError):
    """An error that the program has not caused, such as a missing device."""


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

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.msg, self.command_line, self.stdout, self.stderr)

    def __str__(self) -> str:
        parts = [self.msg]
        if self.command_line:
            parts.append(f"[command: {' '.join(self.command_line)}]")
        if self.stdout:
            parts.append(f"[stdout:\n{self.stdout}]")
        if self.stderr:
            parts.append(f"[stderr:\n{self.stderr}]")
        return "\n".join(parts)


# the first pair whose class matches applies
_TRANSLATIONS: tuple[tuple[type[BaseException], type[Error]], ...] = (
    (cuda_errors.OutOfMemoryError, MemoryError),
    (cuda_errors.KernelFault, LaunchError),
    (cuda_errors.LaunchResourcesError, LaunchError),
    (cuda_errors.NoDeviceError, RuntimeError),
    (cuda_errors.DriverError, RuntimeError),
    (cuda_errors.CudaError, LogicError),
    (diagnostics.LaunchError, LaunchError),
    (builtins.MemoryError, MemoryError),
)


class _ErrorTranslation(contextlib.ContextDecorator):
    """A context and decorator that translates exceptions of pycu2c to those of PyCUDA."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, error_type: object, error: BaseException | None, traceback: object) -> None:
        if error is None or isinstance(error, Error):
            return
        for source, target in _TRANSLATIONS:
            if isinstance(error, source):
                raise target(str(error)) from error


translate_errors = _ErrorTranslation()
