"""Build the fast path of launches, and the readme for package indexes.
Everything else is in pyproject.toml.

The extension uses the limited API, so one build serves every CPython from 3.11 on; free-threaded
ones, which lack this API, have their own builds. Where it cannot be built (no C compiler, no
headers), launches take the Python slow path.
"""

import re
import sys
import sysconfig
import tomllib
from pathlib import Path

import numpy
from setuptools import Extension, setup

FOLDER = Path("src/pycu2c/native")
HAS_LIMITED_API = not sysconfig.get_config_var("Py_GIL_DISABLED")


def extensions() -> list[Extension]:
    if sys.implementation.name != "cpython":
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
        py_limited_api=HAS_LIMITED_API,
        optional=True,
    )
    return [dispatch]


def readme() -> str:
    """Return README.md with absolute links, as a package index has none of the other files."""
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
    base = project["urls"]["Homepage"] + "/blob/main/"
    code_or_link = re.compile(r"(```.*?```|`[^`]*`)|\]\((?!\w+:|#)([^)\s]+)\)", re.S)
    text = Path("README.md").read_text(encoding="utf-8")
    return code_or_link.sub(lambda m: m[1] or f"]({base}{m[2]})", text)


found = extensions()
setup(
    long_description=readme(),
    long_description_content_type="text/markdown",
    ext_modules=found,
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if found and HAS_LIMITED_API else {},
)
