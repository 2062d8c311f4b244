"""Writes what follows from rows: the pages that are tables of errors, of intrinsics, and of the
constructs of the language, which the tests run; and the stub of ``cuda`` for type checkers."""

from __future__ import annotations

import builtins
import inspect
import sys
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

import pycu2c.frontend.subset.statements.statements.unsupported_syntax as refusals
from pycu2c import cuda
from pycu2c.cli.main.main import error_catalog
from pycu2c.base.diagnostics import RULES
from pycu2c.frontend.subset.statements.statements.unsupported_syntax import Refusal
from pycu2c.ops.intrinsics.all import REGISTRY
from pycu2c.ops.intrinsics.threads.clusters import Cluster
from pycu2c.ops.intrinsics.threads.coalesced_groups import Coalesced
from pycu2c.ops.intrinsics.threads.cooperative_groups import Block, Grid, tile_of
from pycu2c.ops.names.host_names import HOST_NAMES, MODULES
from pycu2c.ops.intrinsics.library import LIBRARY
from pycu2c.ops.names.cuda_namespace import CUDA, WRITTEN, find, members
from pycu2c.ops.names.numba_names import CURES
from pycu2c.ops.names.operator_functions import FUNCTIONS
from pycu2c.ops.intrinsics.registry import Intrinsic

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
stubs = __import__("generate_stub")
migrating = __import__("generate_migrating")


ERRORS = """# Compile errors

Each message begins with a code. Its section here has programs that break the rule, what pycu2c says
of them, and the same programs cured; `pycu2c errors CODE` shows it in a terminal. The tests run all
of these programs. All mistakes of a kernel are shown together, in one `CompileError`; a warning is
a `CompileWarning`; what is wrong with a launch is a `LaunchError`, which names the argument.

| code | rule |
|---|---|
"""


def errors() -> str:
    """The catalogue, a section for each code."""
    codes = sorted(RULES)
    rows = "".join(f"| [`{code}`](#{code}) | {cell(RULES[code])} |\n" for code in codes)
    return ERRORS + rows + "\n" + "\n".join(map(error_catalog.as_markdown, codes))


INTRINSICS = """# Intrinsics

What kernels call besides their own functions. All of it works on CUDA, on the CPU, and in the
reference interpreter; where not every GPU has it, the column *GPU* says from which on. `T` is a
number of one of the types listed, the same for all parameters; `F` is `T`, or `float` if that is a
whole number. Parameters with a type of their own, such as `int32`, convert what they are given.
"""

# sections in order; a row belongs to the longest start of its name
ROOMS = {
    "cuda.": "CUDA",
    "cuda.atomic.": "Atomics",
    "cuda.cg.": "Cooperative groups",
    "math.": "math",
    "numpy.": "numpy",
    "cmath.": "cmath",
    "": "Python",
    "cuda.fp16.": "float16",
    "cuda.bf16.": "bfloat16",
    "cuda.libdevice.": "libdevice",
}


def intrinsics() -> str:
    """The rows by room, and what is no row."""
    members(CUDA)  # imports every room
    tables: dict[str, list[str]] = {title: [] for title in ROOMS.values()}
    called = ((called_as(row), row) for row in REGISTRY.values())
    for name, row in sorted(filter(itemgetter(0), called), key=itemgetter(0)):
        takes = ", ".join(f"{n}: {kind}" for n, kind in row.parameters)
        dtypes = " ".join(map(str, row.dtypes))
        doc = cell(row.doc.splitlines()[0]) if row.doc else ""
        title = ROOMS[max(filter(name.startswith, ROOMS), key=len)]
        cells = (f"`{name}`", takes, row.result, dtypes, row.arch, doc)
        tables[title].append(f"| {' | '.join(cells)} |")
    head = "| name | takes | gives | dtypes | GPU | meaning |\n|---|---|---|---|---|---|\n"
    parts = [f"## {title}\n\n{head}" + "\n".join(rows) + "\n" for title, rows in tables.items()]
    return "\n".join((INTRINSICS, *parts, groups(), written(), operators(), library()))


def called_as(row: Intrinsic) -> str:
    """What users write; nothing of what is the compiler's own, and what operators become."""
    room, _, path = row.name.partition(".")
    if room == "cuda":  # rows under a row are not found
        return row.name if find(path) else ""
    if hasattr(builtins, row.name):
        return row.name
    named: list[Any] = list(row.bindings[:1])
    return f"{named[0].__module__}.{named[0].__name__}" if named else ""


def groups() -> str:
    """The methods of cooperative groups, which are no rows."""
    head = "## Groups of threads\n\nMethods of what `cuda.cg` gives.\n\n"
    head += "| group | method | meaning |\n|---|---|---|\n"
    made = (
        ("this_thread_block()", Block),
        ("this_grid()", Grid),
        ("this_cluster()", Cluster),
        ("tiled_partition(group, n)", tile_of(8)),
        ("coalesced_threads()", Coalesced),
    )
    rows = []
    for call, group in made:
        for name in vars(group):
            method = getattr(group, name)
            if not name.startswith("_") and callable(method):
                takes = ", ".join(n for n in inspect.signature(method).parameters if n != "self")
                meaning = (inspect.getdoc(method) or "").splitlines()[0]
                rows.append(f"| `cuda.cg.{call}` | `{name}({takes})` | {cell(meaning)} |")
    return head + "\n".join(rows) + "\n"


def written() -> str:
    """The names of ``cuda`` that are functions of the kernel language."""
    head = "## Functions of groups and of pairs of halves\n\n| function | meaning |\n|---|---|\n"
    rows = []
    for name, function in sorted(WRITTEN.items(), key=lambda item: item[0].rpartition(".")[0]):
        takes = ", ".join(inspect.signature(function).parameters)
        meaning = (inspect.getdoc(function) or "").splitlines()[0]
        rows.append(f"| `{name}({takes})` | {cell(meaning)} |")
    return head + "\n".join(rows) + "\n"


def operators() -> str:
    """The functions that are operators under another name."""
    head = "## Functions that are operators\n\n| operator | functions |\n|---|---|\n"
    rows = []
    for row, functions in FUNCTIONS:
        symbol = row.symbol.strip().replace("|", "\\|")
        names = [f"`{_home(f)}.{f.__name__}`" for f in functions]
        rows.append(f"| `{symbol}` | {' '.join(names)} |")
    return head + "\n".join(rows) + "\n"


def library() -> str:
    """The functions that are written in the kernel language."""
    title = "## Functions that kernels compile with their own code"
    head = f"{title}\n\n| function | meaning |\n|---|---|\n"
    rows = []
    for known, written in LIBRARY:
        home = "np" if known.__module__ == "numpy" or isinstance(known, np.ufunc) else "math"
        rows.append(f"| `{home}.{known.__name__}` | {written.__doc__} |")
    return head + "\n".join(rows) + "\n"


def _home(function: Any) -> str:
    return "np" if isinstance(function, np.ufunc) else "operator"


LANGUAGE = """# The language

A kernel is a Python function. These constructs compile; each row runs in the tests on the reference
interpreter, on the CPU and, where there is one, on a GPU, and gives what the same function gives as
plain Python with numpy's scalars. In the examples `a` is a float32 array, `b` one of int32, `m` one
of float64 with two axes, `n` is 5, `x` is 2.5, `i` the thread's index. The types of results are in
[semantics](semantics.md).
"""

REFUSED = """
## Refused

Each with an error of its own, when the kernel is defined.

| error | what | instead |
|---|---|---|
"""


def language() -> str:
    """The constructs that compile, by section, and what is refused."""
    sys.path.insert(0, str(HERE.parent / "tests"))
    constructs = __import__("constructs").CONSTRUCTS
    text = LANGUAGE
    for section, rows in groupby(constructs, key=lambda row: row.section):
        text += f"\n## {section}\n\n| construct | example |\n|---|---|\n"
        text += "".join(f"| {cell(row.title)} | {code(row.body)} |\n" for row in rows)
    found = [r for r in vars(refusals).values() if isinstance(r, Refusal)]
    for table in (refusals.STATEMENTS, refusals.EXPRESSIONS):
        found += table.values()
    unique = {(r.code, r.text): r for r in found}
    rows = [f"| `{r.code}` | {cell(r.text)} | {cell(r.help)} |" for _, r in sorted(unique.items())]
    return text + REFUSED + "\n".join(rows) + "\n"


def cell(text: str) -> str:
    return text.replace("|", "\\|")


def code(body: str) -> str:
    """Lines of a table's cell, their indentation kept."""
    lines = [line.replace("|", "\\|") for line in body.rstrip().splitlines()]
    indents = ["&nbsp;" * (len(line) - len(line.lstrip())) for line in lines]
    return "<br>".join(f"{space}`{line.strip()}`" for space, line in zip(indents, lines))


NAMES = """## Names

What `cuda` has for the host; [what kernels call](intrinsics.md) has a page of its own. Types have
numba's names, too, in `pycu2c`, `cuda` and `types`: `float32`, `f4`, `intp`, `void`, `UniTuple`.

| name | |
|---|---|
"""

MISSING = """
What numba has and this package has not, with what to write instead; it is also what the error says:

| name | |
|---|---|
"""


def numba() -> str:
    """The page for those who come from numba, with its tables of names made anew."""
    prose, _, _ = (HERE / "numba.md").read_text().partition("## Names\n")
    there = sorted([*HOST_NAMES, *MODULES], key=str.lower)
    rows = "".join(f"| `cuda.{name}` | {cell(_first_line(name))} |\n" for name in there)
    cures = {n: c for n, c in CURES.items() if n not in (*HOST_NAMES, *MODULES)}
    absent = "".join(f"| `cuda.{name}` | {cell(cure)} |\n" for name, cure in sorted(cures.items()))
    return prose + NAMES + rows + MISSING + absent


def _first_line(name: str) -> str:
    """What a name of the host is, in a sentence."""
    found = getattr(cuda, name)
    text = inspect.getdoc(found) or ""
    return text.split("\n\n")[0].replace("\n", " ").replace("``", "`")


PAGES = {
    "errors.md": errors,
    "intrinsics.md": intrinsics,
    "language.md": language,
    "migrating.md": migrating.page,
    "numba.md": numba,
    "../src/pycu2c/cuda/__init__.pyi": stubs.stub,
    "../src/pycu2c/vector_types.pyi": stubs.vector_stub,
}

if __name__ == "__main__":
    for name, text in PAGES.items():
        (HERE / name).write_text(text())
