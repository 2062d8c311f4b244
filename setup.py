"""Build the fast path of launches. Everything else is in pyproject.toml.

The extension uses the limited API, so one build serves every CPython from 3.11 on. Where it cannot
be built (no C compiler, no headers, a free-threaded CPython), launches take the Python slow path.
"""

import sys
import sysconfig
from pathlib import Path

import numpy
from setuptools import Extension, setup

FOLDER = Path("src/pycu2c/native")


def extensions() -> list[Extension]:
    if sys.implementation.name != "cpython" or sysconfig.get_config_var("Py_GIL_DISABLED"):
        return []
    flags = [] if sys.platform == "win32" else ["-std=c11", "-O3", "-fvisibility=hidden"]
    if sys.platform == "linux":
        flags.append("-fno-plt")  # calls of Python's API take a tenth of a launch less
    dispatch = Extension(
        "pycu2c.native._dispatch",
        sources=sorted(path.as_posix() for path in FOLDER.glob("*.c")),
        depends=sorted(path.as_posix() for path in FOLDER.glob("*.h")),
        include_dirs=[numpy.get_include()],
        extra_compile_args=flags,
        py_limited_api=True,
        optional=True,
    )
    return [dispatch]


found = extensions()
setup(
    ext_modules=found,
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if found else {},
)
