"""The pages of intrinsics, one for each family of functions. ``conf.py`` writes them."""

from __future__ import annotations

import builtins
import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from generators.tables import cell
from pycu2c.base.dtypes import DTYPES
from pycu2c.base.types import Scalar
from pycu2c.frontend.calls.ufuncs import compute_type
from pycu2c.ops.intrinsics.all import REGISTRY
from pycu2c.ops.intrinsics.array_reductions import METHODS, REDUCTIONS
from pycu2c.ops.intrinsics.library import LIBRARY
from pycu2c.ops.intrinsics.memory.atomic import COMPONENTWISE
from pycu2c.ops.intrinsics.registry import Effect, Intrinsic
from pycu2c.ops.intrinsics.threads.clusters import Cluster
from pycu2c.ops.intrinsics.threads.coalesced_groups import CoalescedGroup
from pycu2c.ops.intrinsics.threads.cooperative_groups import Block, Grid, tile_of
from pycu2c.ops.names.cuda_namespace import CUDA, LIBRARY_FUNCTIONS, find, members
from pycu2c.ops.names.operator_functions import FUNCTIONS


@dataclass(frozen=True)
class Family:
    """A page: the functions whose names begin with ``prefixes``, or that ``modules`` declare."""

    file: str
    title: str
    text: str
    modules: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()
    sections: tuple[Any, ...] = ()  # functions that return further sections

    def has(self, row: Intrinsic) -> bool:
        """Return whether a function belongs to this page."""
        module = row.reference.__module__.removeprefix("pycu2c.ops.intrinsics.")
        return row.name.startswith(self.prefixes) if self.prefixes else module in self.modules


def groups() -> str:
    """Return the section on the methods of cooperative groups."""
    made = (
        ("this_thread_block()", Block),
        ("this_grid()", Grid),
        ("this_cluster()", Cluster),
        ("tiled_partition(group, n)", tile_of(8)),
        ("coalesced_threads()", CoalescedGroup),
    )
    rows = []
    for call, group in made:
        for name, method in vars(group).items():
            if not name.startswith("_") and callable(method):
                own = [n for n in inspect.signature(method).parameters if n != "self"]
                rows.append(
                    f"| `cuda.cg.{call}` | `{name}({', '.join(own)})` | {_summary(method)} |"
                )
    head = "## Methods of groups\n\n| group | method | meaning |\n|---|---|---|\n"
    return head + "\n".join(rows) + "\n"


def operators() -> str:
    """Return the section on functions that are aliases of operators."""
    head = "## Functions equivalent to operators\n\n| functions | operator |\n|---|---|\n"
    rows = []
    for row, functions in FUNCTIONS:
        names = [f"`{_module(f, 'operator')}.{f.__name__}`" for f in functions]
        rows.append(f"| {' '.join(names)} | `{cell(row.symbol.strip())}` |")
    return head + "\n".join(rows) + "\n"


def library() -> str:
    """Return the section on functions of numpy and math that are written in the kernel language."""
    head = (
        "## Functions of arrays and others\n\n"
        "These functions are compiled with the kernel that calls them.\n\n"
        "| function | meaning |\n|---|---|\n"
    )
    rows = [f"| `{_module(f, f.__module__)}.{f.__name__}` | {s.__doc__} |" for f, s in LIBRARY]
    for name, implementation in REDUCTIONS.items():
        method = f", `a.{name}()`" if name in METHODS else ""
        rows.append(f"| `np.{name}(a)`{method} | {implementation.__doc__} |")
    return head + "\n".join(rows) + "\n"


def _module(function: Any, other: str) -> str:
    is_numpy = function.__module__ == "numpy" or isinstance(function, np.ufunc)
    return "np" if is_numpy else other


FAMILIES = (
    Family(
        "threads.md",
        "Thread and block indices",
        "[First kernels](../../get_started/first_kernels.md) introduces threads and blocks.",
        ("threads.coordinates",),
    ),
    Family(
        "synchronization.md",
        "Barriers, fences and clocks",
        "[Barriers and warps](../../guide/warps.md) explains what a barrier guarantees.",
        ("threads.barriers",),
    ),
    Family(
        "warps.md",
        "Warp functions",
        "A warp is 32 threads that run together; a *lane* is one of them. A mask has one bit for "
        "each lane that takes part. [Barriers and warps](../../guide/warps.md) explains widths and "
        "segments, and has examples.",
        ("threads.warp",),
    ),
    Family(
        "cooperative_groups.md",
        "Cooperative groups and clusters",
        "",
        ("threads.cooperative_groups", "threads.clusters", "threads.coalesced_groups"),
        sections=(groups,),
    ),
    Family("atomics.md", "Atomic functions", "", ("memory.atomic",)),
    Family(
        "memory.md",
        "Arrays in kernels, cache hints",
        "",
        ("memory.allocation", "memory.cache_hints"),
    ),
    Family(
        "textures.md",
        "Textures and surfaces",
        "[Textures](../../guide/textures.md) explains coordinates and filters.",
        ("memory.textures",),
    ),
    Family(
        "libdevice.md",
        "libdevice",
        "The functions of NVIDIA's libdevice, by numba's names, for programs that use these. New "
        "programs use the functions of [math](math.md) and of `cuda`, which are the same.",
        prefixes=("cuda.libdevice.",),
    ),
    Family(
        "half_precision.md",
        "float16 and bfloat16",
        "Operators work on these types, too. The names are those of CUDA's headers. Functions of "
        "`float16x2` and `bfloat16x2` compute two numbers at once.",
        prefixes=("cuda.fp16.", "cuda.bf16.", "half."),
    ),
    Family(
        "integers.md",
        "Integer functions",
        "",
        ("integers.bits", "integers.extended_arithmetic"),
    ),
    Family(
        "conversions.md",
        "Conversions and directed rounding",
        "The suffixes are those of CUDA: `_rn` rounds to nearest, `_rz` toward 0, `_ru` up and "
        "`_rd` down.",
        ("floats.conversions", "floats.directed_rounding", "floats.float8"),
    ),
    Family(
        "math.md",
        "math, numpy and Python",
        "Functions of [cuda for special cases](special_functions.md) are on a page of their own.",
        prefixes=("math.", "numpy.", "complex.", "python.", "abs", "min", "max", "round"),
        sections=(operators, library),
    ),
    Family(
        "special_functions.md",
        "Special and fast functions",
        "The functions `fast_…` are less accurate; CUDA calls them `__sinf`, `__expf` and so on.",
        prefixes=("cuda.",),
    ),
)

LEGEND = "[How to read the entries](index.md#how-to-read-the-entries).\n"


def pages() -> Iterator[tuple[str, str]]:
    """Yield the name and the text of the index and of each page."""
    members(CUDA)  # imports all modules that register intrinsics
    tables: dict[Family, list[tuple[str, Intrinsic | Any]]] = {family: [] for family in FAMILIES}
    for row in REGISTRY.values():
        if name := public_name(row):
            tables[next(family for family in FAMILIES if family.has(row))].append((name, row))
    for name, function in LIBRARY_FUNCTIONS.items():
        family = next(f for f in FAMILIES if f.prefixes and name.startswith(f.prefixes))
        tables[_groups_page() if name.startswith("cuda.cg.") else family].append((name, function))
    for family, rows in tables.items():
        yield family.file, _page(family, sorted(rows, key=lambda item: item[0]))


def public_name(row: Intrinsic) -> str:
    """Return the public name of an intrinsic, or an empty string if it is internal."""
    module, _, path = row.name.partition(".")
    if module == "cuda":  # methods of an entry are not found
        return row.name if find(path) else ""
    if hasattr(builtins, row.name):
        return row.name
    named: list[Any] = list(row.bindings[:1])
    return f"{named[0].__module__}.{named[0].__name__}" if named else ""


def _groups_page() -> Family:
    return next(family for family in FAMILIES if groups in family.sections)


def _page(family: Family, rows: list[tuple[str, Any]]) -> str:
    own = [_object(name, row) for name, row in rows if name.startswith("cuda.")]
    others = [(name, row) for name, row in rows if not name.startswith("cuda.")]
    parts = [f"# {family.title}\n", f"{family.text} {LEGEND}".lstrip(), *own]
    if others:
        parts.append(_table(others))
    return "\n".join((*parts, *(section() for section in family.sections)))


def _object(name: str, row: Any) -> str:
    """Return the entry of a name of ``cuda``, which the site's index and search know."""
    if not isinstance(row, Intrinsic):  # a function in the kernel language
        parameters = ", ".join(inspect.signature(row).parameters)
        return f"````{{py:function}} {name}({parameters})\n{inspect.getdoc(row) or ''}\n````\n"
    if row.is_special_register:
        return f"````{{py:data}} {name}\n:type: {row.result}\n\n{row.doc}\n````\n"
    facts = {
        "Dtypes": ", ".join(_accepted(row)),
        "Architecture": row.arch and f"{row.arch} or later",
    }
    fields = "".join(f"\n:{key}: {text}" for key, text in facts.items() if text)
    call = name + row.call.removeprefix(row.name)
    return f"````{{py:function}} {call}\n{row.doc}\n{fields}\n````\n"


def _accepted(row: Intrinsic) -> list[str]:
    """Return the dtypes of T, with those that a call converts or takes apart."""
    has_array = any(kind == "array" for _, kind in row.parameters)
    accepted = [
        d for d in DTYPES if (d if has_array else compute_type(row, Scalar(d)).dtype) in row.dtypes
    ]
    names = [d.name for d in accepted]
    if row in COMPONENTWISE or (row.effect is Effect.WARP and row.result == "T"):
        complex_numbers = "complex numbers and " if any(d.is_float for d in accepted) else ""
        names.append(f"{complex_numbers}vectors of these")
    return names


def _table(rows: list[tuple[str, Intrinsic]]) -> str:
    head = "| name | parameters | result | dtypes | meaning |\n|---|---|---|---|---|\n"
    lines = []
    for name, row in rows:
        parameters = ", ".join(f"{n}: {kind}" for n, kind in row.parameters)
        dtypes = " ".join(_accepted(row))
        lines.append(
            f"| {_names(name, row)} | {parameters} | {row.result} | {dtypes} | {_summary(row)} |"
        )
    return head + "\n".join(lines) + "\n"


def _names(name: str, row: Intrinsic) -> str:
    """Return all names of a function: ``math.sin``, ``numpy.sin``."""
    bound: list[Any] = list(row.bindings)
    names = [
        name,
        *(f"{_module(b, b.__module__)}.{b.__name__}" for b in bound if hasattr(b, "__name__")),
    ]
    unique = dict.fromkeys(n.replace("numpy.", "np.").removeprefix("builtins.") for n in names)
    return " ".join(f"`{n}`" for n in unique)


def _summary(function: Any) -> str:
    text = inspect.getdoc(function) or getattr(function, "doc", "")
    return cell(text.split("\n\n")[0].replace("\n", " "))
