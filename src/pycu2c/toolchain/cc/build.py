"""Run the C compiler to build shared libraries."""

from __future__ import annotations

import errno
import os
import shlex

from pycu2c.base.output.progress import reporting_slow_compilation
from pycu2c.base.output.tracing import INFO, span
from pycu2c.base.records import dataclass, replace
from pycu2c.toolchain import subprocesses, toolchain_errors
from pycu2c.toolchain.cache import artifact_store, cache_directory
from pycu2c.toolchain.cc.discovery import Compiler
from pycu2c.toolchain.cc.flags import LINK_FLAGS, libraries_for

STDIN_FLAGS = ("-x", "c", "-", "-x", "none")
_MESSAGE_NAME = "kernel.c"  # the file name in messages

_PROBE = """\
#include <math.h>
#include <stdint.h>
double pycu2c_probe(double x, int64_t n) { return sqrt(x) + (double)n; }
"""


@dataclass(frozen=True, slots=True)
class CcJob:
    """The arguments of a compilation.

    ``files`` are linked files of the user, without those of CUDA C, ``cuda_files``, which are
    compiled apart.
    """

    compiler: Compiler
    text: str
    entry: str
    flags: tuple[str, ...]
    files: tuple[str, ...] = ()
    cuda_files: tuple[str, ...] = ()

    @property
    def command(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the arguments before and after the text."""
        libraries = libraries_for((*self.files, *self.cuda_files))
        return (*self.compiler.command, *self.flags, *LINK_FLAGS), (*self.files, *libraries)


def build(job: CcJob, key: str | None = None) -> artifact_store.Entry:
    """Return the cache entry of a library; compile it if no process has done so.

    key: that of the entry; without one, the library is a temporary file of this process.
    """
    try:
        if key is not None:
            return artifact_store.load_or_make(key, ".so", lambda: compile_job(job))
        data, log = compile_job(job)
        path = artifact_store.write_private_file(f"{job.entry}.so", data)
        return artifact_store.Entry(path, data, log)
    except OSError as error:
        raise toolchain_errors.file_error(error) from error


def compile_job(job: CcJob) -> tuple[bytes, str]:
    """Return the library and the compiler's log."""
    command = str(job.compiler)
    with (
        subprocesses.private_folder() as folder,
        reporting_slow_compilation(lambda: f"compiling {job.entry} with {command} …"),
        span("compile", f"C compiler: {job.entry}", INFO, command=command),
    ):
        return _compile_to(os.path.join(folder, "kernel.so"), job)


def _compile_to(path: str, job: CcJob) -> tuple[bytes, str]:
    compiler = job.compiler
    completed = _run_compiler(job, path)
    if completed.returncode == 0:
        with open(path, "rb") as library:
            return library.read(), completed.output
    probe = _run_compiler(replace(job, text=_PROBE, files=(), cuda_files=()), path)
    for code in (errno.ENOSPC, *toolchain_errors.TOO_MANY_FILES):
        if os.strerror(code) in completed.output:
            raise OSError(code, os.strerror(code), cache_directory.private_directory())
    if completed.returncode < 0 or "Killed" in completed.output:
        raise toolchain_errors.ToolchainError(
            f"the C compiler `{compiler}` was killed: is there enough memory?"
        )
    if probe.returncode != 0 and _lto_flags(job):  # some installations do not support it
        return _compile_to(path, replace(job, flags=job.flags[: -len(_lto_flags(job))]))
    if probe.returncode != 0:
        raise toolchain_errors.ToolchainError(
            f"the C compiler `{compiler}` does not work: it cannot build a shared library "
            "of one function. Repair it, or name another by the environment variable "
            f"PYCU2C_CC.\n{probe.output.strip()}"
        )
    raise _compile_error(job, completed.output.replace("<stdin>:", f"{_MESSAGE_NAME}:"))


def _run_compiler(job: CcJob, path: str) -> subprocesses.CompletedProcess:
    """Run the compiler. The exit code is 1 if it wrote no library.

    Python returns 0 for a process that something else waited for, as where SIGCHLD is ignored.
    """
    before, after = job.command
    completed = subprocesses.run((*before, "-o", path, *STDIN_FLAGS, *after), job.text)
    if completed.returncode == 0 and not os.path.exists(path):
        return replace(completed, returncode=1)
    return completed


def _lto_flags(job: CcJob) -> tuple[str, ...]:
    """Return the link-time optimization flags of a job, which are its last flags."""
    flags = job.compiler.family.lto_flags
    return flags if flags and job.flags[-len(flags) :] == flags else ()


def _compile_error(
    job: CcJob, log: str
) -> toolchain_errors.ToolchainError | toolchain_errors.RejectedCodeError:
    """Return the exception to raise: an error in files of the user, or in generated text."""
    missing = toolchain_errors.undefined_functions_in(log)
    if missing:
        return toolchain_errors.UndefinedFunctionError(missing)
    command = shlex.join((*job.compiler.command, *job.flags))
    error = toolchain_errors.rejected_code_error(command, f"{job.entry}.c", job.text, log)
    named = [path for path in job.files if path in log]
    if named and not any(d.file == _MESSAGE_NAME for d in error.diagnostics):
        return toolchain_errors.LinkError(f"{', '.join(named)} cannot be linked:\n{log.strip()}")
    return error
