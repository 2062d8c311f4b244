"""Export ``numba.core.errors``: the exceptions and warnings that programs catch or silence."""

from __future__ import annotations

from pycu2c.base.diagnostics import CompileError, CompileWarning, LaunchWarning

NumbaError = CompileError
TypingError = CompileError
LoweringError = CompileError
UnsupportedError = CompileError

NumbaWarning = CompileWarning
NumbaPerformanceWarning = LaunchWarning
NumbaDeprecationWarning = CompileWarning
NumbaPendingDeprecationWarning = CompileWarning
