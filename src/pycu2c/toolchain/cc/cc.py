"""Compile C to shared objects with the C compiler of the system and the disk cache."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

from pycu2c.base.records import replace
from pycu2c.declarations import link_files
from pycu2c.declarations.options import DEFAULT_OPTIONS, Options
from pycu2c.toolchain import subprocesses
from pycu2c.toolchain.binary import CompiledBinary
from pycu2c.toolchain.cache import artifact_store
from pycu2c.toolchain.cc import build, cxx, flags
from pycu2c.toolchain.cc.compiler_identity import compiler_identity
from pycu2c.toolchain.cc.discovery import Compiler, find_compiler
from pycu2c.toolchain.cc.flags import LINK_FLAGS, libraries_for
from pycu2c.toolchain.cc.miscompilations import flags_that_avoid_miscompilations
from pycu2c.toolchain.link import file_identity
from pycu2c.toolchain.toolchain_errors import LinkError, ToolchainError, UndefinedFunctionError

FLAGS: tuple[str, ...] = (
    "-std=gnu11",
    "-O3",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fwrapv",
    "-fno-strict-aliasing",  # arrays may be views of one buffer with different dtypes
    "-fPIC",
    "-fopenmp-simd",
    # errors for mistakes in inline C that C compilers only warn about
    "-Werror=implicit-function-declaration",
    "-Werror=incompatible-pointer-types",
    "-Werror=int-conversion",
    "-Werror=return-type",
)


def compile(
    text: str, entry: str, *, options: Options = DEFAULT_OPTIONS, cache: bool = True
) -> CompiledBinary:
    """Compile C to a shared object. ``cache=False`` neither reads nor writes the disk cache."""
    request = _CompileRequest(text, options)
    found = artifact_store.load(request.key, ".so") if cache else None
    if found is None:
        found = _build(request, text, entry, cache)
    return CompiledBinary("so", entry, text, found.data, found.path, found.log, options.link)


def _build(request: _CompileRequest, text: str, entry: str, cache: bool) -> artifact_store.Entry:
    """Build a library; link CUDA C only if a function is not defined without it."""
    files = request.files, request.cuda_files
    job = build.CcJob(request.compiler, text, entry, request.flags, *files)
    key = request.key if cache else None
    try:
        return build.build(job, key)
    except UndefinedFunctionError:
        if not request.cuda_files:
            raise
    with _compiled_objects(request.cuda_files, request.flags) as objects:
        return build.build(replace(job, files=(*job.files, *objects)), key)


class _CompileRequest:
    """The compiler, flags and linked files of a compilation, and the key of its cache entry."""

    __slots__ = ("compiler", "cuda_files", "files", "flags", "key")

    def __init__(self, text: str, options: Options) -> None:
        self.compiler = compiler = find_compiler()
        linked = link_files.links_for_target(options.link, "c") if options.link else ()
        self.cuda_files = tuple(file for file in linked if file.endswith(".cu"))
        self.files = tuple(file for file in linked if file not in self.cuda_files)
        lto = compiler.family.lto_flags if any(f.endswith(".c") for f in linked) else ()
        self.flags = (*flags_for(text, options, compiler), *lto)
        command = (*self.flags, *LINK_FLAGS, *libraries_for(linked))
        identities = [file_identity.file_identity(file) for file in linked]
        self.key = artifact_store.key_of(text, compiler_identity(), *command, *identities)


def flags_for(text: str, options: Options, compiler: Compiler | None = None) -> tuple[str, ...]:
    """Return all compiler flags for a text."""
    compiler = compiler or find_compiler()
    return (
        *general_flags(options, compiler),
        *half_flags(text),
        *_coroutine_flags(text),
        *flags_that_avoid_miscompilations(text, compiler, general_flags(DEFAULT_OPTIONS, compiler)),
    )


def general_flags(options: Options, compiler: Compiler) -> tuple[str, ...]:
    """Return the compiler flags that do not depend on the text."""
    lines = ("-g1",) if options.lineinfo else ()
    exact = compiler.bit_exact_flags if is_bit_exact(options) else ()
    return (*FLAGS, *compiler.flags, *arithmetic_flags(options), *exact, *lines)


def arithmetic_flags(options: Options) -> tuple[str, ...]:
    """Return the flags for floating-point arithmetic that all compilers understand."""
    return flags.arithmetic_flags(contracts=options.fmad, fast=options.fastmath)


def is_bit_exact(options: Options) -> bool:
    """Return whether results do not depend on the compiler, which further flags ensure."""
    return not options.fmad and not options.fastmath


def half_flags(text: str) -> tuple[str, ...]:
    """Disable contraction for float16, which must be rounded after every operation."""
    return ("-ffp-contract=off",) if "_Float16" in text else ()


def _coroutine_flags(text: str) -> tuple[str, ...]:
    """Compile the switch of each coroutine without a jump table.

    Most threads resume at the same state, so conditional branches are predicted well. An indirect
    jump is not, and doubled the time of a step.
    """
    return ("-fno-jump-tables",) if "switch (self->pc)" in text else ()


def assembly(text: str, options: Options) -> str:
    """Return the assembly language that the C compiler generates. Raises ToolchainError."""
    compiler = find_compiler()
    command = (*compiler.command, *flags_for(text, options, compiler), "-S", "-o", "-")
    completed = subprocesses.run((*command, *build.STDIN_FLAGS), text)
    if completed.returncode:
        raise ToolchainError(f"{compiler.command[0]} failed: {completed.output.strip()}")
    return completed.output


_PRELUDE = """\
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <algorithm>
#define __CUDACC__ 1
#define __PYCU2C_CPU__ 1
#define __host__
#define __device__
#define __constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __restrict__ __restrict
using std::max;
using std::min;
static inline float rsqrtf(float x) { return 1 / sqrtf(x); }
static inline double rsqrt(double x) { return 1 / sqrt(x); }
"""
_CUDA_INCLUDE = re.compile(
    r"(?m)^[ \t]*#[ \t]*include[ \t]*[<\"](?:cuda_runtime|device_launch_parameters)\.h[>\"]"
)


@contextmanager
def _compiled_objects(paths: tuple[str, ...], flags: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Compile linked files of CUDA C as C++, to objects that exist inside the ``with``.

    Device functions may use C, C++, and functions of numbers that both have. ``threadIdx``,
    barriers and intrinsics are not defined, so that their use is an error. Raises LinkError.
    """
    contract = tuple(flag for flag in flags if flag.startswith("-ffp-contract"))
    with subprocesses.private_folder() as folder:
        objects = [(path, os.path.join(folder, f"{k}.o")) for k, path in enumerate(paths)]
        yield tuple(_compile(path, contract, result) for path, result in objects)


def _compile(path: str, flags: tuple[str, ...], result: str) -> str:
    code = file_identity.read_file(path).decode("utf-8", "replace")
    text = f'{_PRELUDE}#line 1 "{path}"\n{_CUDA_INCLUDE.sub("", code)}'
    compiler = cxx.find()
    command = (*compiler.command, *cxx.FLAGS, *compiler.flags, *flags, "-fvisibility=default")
    includes = ("-iquote", os.path.dirname(path))
    completed = subprocesses.run((*command, *includes, "-c", "-x", "c++", "-", "-o", result), text)
    if completed.returncode != 0:
        raise LinkError(
            f"{path} does not compile as C++ for the CPU: link a file of C as well, as in "
            f'link=["functions.cu", "functions.c"]\n{completed.output.strip()}'
        )
    return result
