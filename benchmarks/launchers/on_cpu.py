"""Launch methods on the CPU."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cffi
import numpy as np

from launchers import COUNTS, NUMBERS, PYTHON, THREADS, C, LaunchMethod, arrays, named
from pycu2c import kernel
from pycu2c.toolchain.cc import cc


def by_cffi() -> list[LaunchMethod]:
    """Return calls of hand-written C with pointers that exist before the call."""
    ffi = cffi.FFI()
    heads = {n: f"void {name}({parameters})" for n, (name, parameters, _) in C.items()}
    ffi.cdef("".join(f"{head};" for head in heads.values()))
    loop = f"for (int i = 0; i < {THREADS}; i++)"
    text = "\n".join(f"{heads[n]} {{ {loop} {{ {C[n][2]} }} }}" for n in COUNTS)
    with tempfile.TemporaryDirectory(prefix="pycu2c-bench-") as folder:
        Path(folder, "kernels.c").write_text(text)
        words = (
            *cc.find_compiler().command,
            "-O3",
            "-fPIC",
            "-shared",
            "-o",
            "kernels.so",
            "kernels.c",
        )
        subprocess.run(words, cwd=folder, check=True)
        library = ffi.dlopen(f"{folder}/kernels.so")
    return [_way("C by cffi, existing pointers", n, *_pointers(ffi, library, n)) for n in COUNTS]


def _pointers(ffi: Any, library: Any, count: int) -> tuple[Any, list[Any], list[np.ndarray]]:
    given = arrays(count)
    pointers = [ffi.from_buffer("float *", a) for a in given]
    plain = [number.item() for number in NUMBERS[count]]
    _KEPT.append(library)
    return getattr(library, C[count][0]), [*pointers, *plain], given


_KEPT: list[Any] = []  # a function does not keep its library alive


def _way(
    name: str, count: int, call: Any, arguments: list[Any], given: Any, how: str = "f({})"
) -> LaunchMethod:
    text, names = named(arguments)
    return LaunchMethod(name, count, how.format(text), {"f": call, **names}, lambda: given[0])


def with_numpy() -> list[LaunchMethod]:
    given = arrays(3)
    statement, names = "f(x, a, out)", {"f": np.multiply, "a": NUMBERS[3][0]}
    names |= {"out": given[0], "x": given[1]}
    return [LaunchMethod("numpy: np.multiply(x, a, out)", 3, statement, names, lambda: given[0])]


def with_numba() -> list[LaunchMethod]:
    import numba

    found = []
    for count in COUNTS:
        name, _, body = C[count]
        parameters = ", ".join(PYTHON[count].__code__.co_varnames[: count if count < 12 else 12])
        body = body.rstrip(";").replace("if (i < n) ", "")
        text = f"def {name}({parameters}):\n for i in range({THREADS}):\n  {body}\n"
        names: dict[str, Any] = {}
        exec(text, names)
        given = arrays(count)
        call = numba.njit(names[name])
        found.append(_way("numba: njit", count, call, [*given, *NUMBERS[count]], given))
    return found


def with_pycu2c() -> list[LaunchMethod]:
    found = []
    for count in COUNTS:
        found += called_and_configured(count, arrays(count), "cpu", lambda a: a)
    return found


def called_and_configured(
    count: int,
    given: list[Any],
    backend: Any,
    result: Callable[[Any], Any],
    wait: Callable[[], object] = lambda: None,
) -> list[LaunchMethod]:
    k = kernel(backend=backend)(PYTHON[count])
    text, names = named([*given, *(n.item() for n in NUMBERS[count])])
    names |= {"k": k, "grid": 1, "block": THREADS, "configured": k[1, THREADS]}
    methods = {
        "pycu2c: k[grid, block](…)": f"k[grid, block]({text})",
        "pycu2c: configured before": f"configured({text})",
    }
    return [
        LaunchMethod(n, count, how, names, lambda: result(given[0]), wait)
        for n, how in methods.items()
    ]


MAKERS = (by_cffi, with_numpy, with_numba, with_pycu2c)
