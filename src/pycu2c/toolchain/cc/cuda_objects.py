"""Compile linked files of CUDA C to object files for the CPU, as C++.

Device functions may use C, C++, and functions of numbers that both have. ``threadIdx``, barriers
and intrinsics are not defined here, so that their use is an error.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

from pycu2c.toolchain import subprocesses
from pycu2c.toolchain.cache import cache_directory
from pycu2c.toolchain.cc import cxx
from pycu2c.toolchain.link import file_identity
from pycu2c.toolchain.toolchain_errors import LinkError

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
def compiled_objects(paths: tuple[str, ...], flags: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Compile files to objects that exist inside the ``with``. Raises LinkError."""
    contract = tuple(flag for flag in flags if flag.startswith("-ffp-contract"))
    folder = cache_directory.new_private_folder()
    objects = [(path, os.path.join(folder, f"{k}.o")) for k, path in enumerate(paths)]
    try:
        yield tuple(_compile(path, contract, result) for path, result in objects)
    finally:
        cache_directory.remove_tree(folder)


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
