"""Generate documentation from the tables of the compiler: the pages on errors, intrinsics, the
language and migration, the name tables of the numba page, the picture of a report, the stubs for
type checkers, and the functions of complex numbers in C++ headers."""

from __future__ import annotations

import ast
import builtins
import importlib.util
import inspect
import sys
import tomllib
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import grimp
import numpy as np

from pycu2c import cuda
from pycu2c.base.diagnostics import error_codes, rule
from pycu2c.cli import error_catalog
from pycu2c.frontend.subset import unsupported_syntax
from pycu2c.frontend.subset.unsupported_syntax import UnsupportedSyntax
from pycu2c.ops.intrinsics.all import REGISTRY
from pycu2c.ops.intrinsics.array_reductions import METHODS, REDUCTIONS
from pycu2c.ops.intrinsics.library import LIBRARY
from pycu2c.ops.intrinsics.registry import Intrinsic
from pycu2c.ops.intrinsics.threads.clusters import Cluster
from pycu2c.ops.intrinsics.threads.coalesced_groups import CoalescedGroup
from pycu2c.ops.intrinsics.threads.cooperative_groups import Block, Grid, tile_of
from pycu2c.ops.names.cuda_namespace import CUDA, LIBRARY_FUNCTIONS, find, members
from pycu2c.ops.names.host_names import HOST_NAMES, MODULES
from pycu2c.ops.names.numba_names import HINTS
from pycu2c.ops.names.operator_functions import FUNCTIONS

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
complex_headers = __import__("generate_complex")
pictures = __import__("generate_picture")
stubs = __import__("generate_stub")
migrating = __import__("generate_migrating")


ERRORS = """# Compile errors

Each error message of the compiler begins with a code. The section of a code shows programs that
break its rule, the message, and the corrected programs. `pycu2c errors CODE` prints the section.
The tests run all of these programs.

| class | meaning |
|---|---|
| `CompileError` | the kernel does not compile; one exception reports all errors of the kernel |
| `CompileWarning` | the kernel compiles, but is probably wrong |
| `LaunchError`, a `ValueError` | the arguments or the configuration of a launch are invalid |
| `CheckError`, a `LaunchError` | a [checked](finding_mistakes.md) launch has findings |

A `CompileError` is also an instance of the exception that Python raises for its first mistake:
`NameError` for an unknown name, `TypeError` for a wrong type, `ValueError` for a wrong value.

| code | rule |
|---|---|
"""


def errors() -> str:
    """Return the page of compile errors, with a section for each code."""
    codes = error_codes()
    rows = "".join(f"| [`{code}`](#{code}) | {cell(rule(code))} |\n" for code in codes)
    return ERRORS + rows + "\n" + "\n".join(map(error_catalog.as_markdown, codes))


INTRINSICS = """# Intrinsics

Functions, constants and methods that kernels can use, besides your own functions. All of them work
on CUDA, on the CPU and in the reference interpreter.

- `T` is a number of one of the dtypes listed; the same type for all parameters.
- `F` is `T`, or `float` if `T` is an integer type.
- Arguments of a parameter with a specific type, such as `int32`, are converted.
- The column *GPU* gives the minimum architecture, where not every supported GPU has the function.
"""

# sections in order; an entry belongs to the section with the longest matching prefix
SECTIONS = {
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
    """Return the page of intrinsics, by section, followed by other functions."""
    members(CUDA)  # imports all modules that register intrinsics
    tables: dict[str, list[str]] = {title: [] for title in SECTIONS.values()}
    named = ((public_name(row), row) for row in REGISTRY.values())
    for name, row in sorted(filter(itemgetter(0), named), key=itemgetter(0)):
        parameters = ", ".join(f"{n}: {kind}" for n, kind in row.parameters)
        dtypes = " ".join(map(str, row.dtypes))
        doc = cell(row.doc.splitlines()[0]) if row.doc else ""
        title = SECTIONS[max(filter(name.startswith, SECTIONS), key=len)]
        cells = (f"`{name}`", parameters, row.result, dtypes, row.arch, doc)
        tables[title].append(f"| {' | '.join(cells)} |")
    head = "| name | parameters | result | dtypes | GPU | meaning |\n|---|---|---|---|---|---|\n"
    parts = [f"## {title}\n\n{head}" + "\n".join(rows) + "\n" for title, rows in tables.items()]
    return "\n".join((INTRINSICS, *parts, groups(), language_functions(), operators(), library()))


def public_name(row: Intrinsic) -> str:
    """Return the public name of an intrinsic, or an empty string if it is internal."""
    module, _, path = row.name.partition(".")
    if module == "cuda":  # methods of an entry are not found
        return row.name if find(path) else ""
    if hasattr(builtins, row.name):
        return row.name
    named: list[Any] = list(row.bindings[:1])
    return f"{named[0].__module__}.{named[0].__name__}" if named else ""


def groups() -> str:
    """Return the section on methods of cooperative groups."""
    head = "## Groups of threads\n\nMethods of the groups that `cuda.cg` functions return.\n\n"
    head += "| group | method | meaning |\n|---|---|---|\n"
    made = (
        ("this_thread_block()", Block),
        ("this_grid()", Grid),
        ("this_cluster()", Cluster),
        ("tiled_partition(group, n)", tile_of(8)),
        ("coalesced_threads()", CoalescedGroup),
    )
    rows = []
    for call, group in made:
        for name in vars(group):
            method = getattr(group, name)
            if not name.startswith("_") and callable(method):
                parameters = ", ".join(
                    n for n in inspect.signature(method).parameters if n != "self"
                )
                meaning = (inspect.getdoc(method) or "").splitlines()[0]
                rows.append(f"| `cuda.cg.{call}` | `{name}({parameters})` | {cell(meaning)} |")
    return head + "\n".join(rows) + "\n"


def language_functions() -> str:
    """Return the section on names of ``cuda`` that are written in the kernel language."""
    title = "## Functions on groups and on half-precision pairs"
    head = f"{title}\n\n| function | meaning |\n|---|---|\n"
    rows = []
    for name, function in sorted(
        LIBRARY_FUNCTIONS.items(), key=lambda item: item[0].rpartition(".")[0]
    ):
        parameters = ", ".join(inspect.signature(function).parameters)
        meaning = (inspect.getdoc(function) or "").splitlines()[0]
        rows.append(f"| `{name}({parameters})` | {cell(meaning)} |")
    return head + "\n".join(rows) + "\n"


def operators() -> str:
    """Return the section on functions that are aliases of operators."""
    head = "## Functions equivalent to operators\n\n| operator | functions |\n|---|---|\n"
    rows = []
    for row, functions in FUNCTIONS:
        symbol = row.symbol.strip().replace("|", "\\|")
        names = [f"`{_module(f)}.{f.__name__}`" for f in functions]
        rows.append(f"| `{symbol}` | {' '.join(names)} |")
    return head + "\n".join(rows) + "\n"


def library() -> str:
    """Return the section on library functions that are written in the kernel language."""
    title = "## Library functions in the kernel language"
    text = "These functions are compiled with the kernel that calls them."
    head = f"{title}\n\n{text}\n\n| function | meaning |\n|---|---|\n"
    rows = []
    for function, source in LIBRARY:
        module = (
            "np" if function.__module__ == "numpy" or isinstance(function, np.ufunc) else "math"
        )
        rows.append(f"| `{module}.{function.__name__}` | {source.__doc__} |")
    for name, implementation in REDUCTIONS.items():
        method = f", `a.{name}()`" if name in METHODS else ""
        rows.append(f"| `np.{name}(a)`{method} | {implementation.__doc__} |")
    return head + "\n".join(rows) + "\n"


def _module(function: Any) -> str:
    return "np" if isinstance(function, np.ufunc) else "operator"


LANGUAGE = """# The language

This page lists the Python constructs that kernels support, each with an example. [Kernel
semantics](semantics.md) defines types and results.

The tests run every example in the reference interpreter, on the CPU and, if available, on a GPU.
They compare the results with those of plain Python with numpy scalars. The examples use these
names:

| name | meaning |
|---|---|
| `a`, `b` | arrays of float32 and of int32, with one axis |
| `m` | an array of float64 with two axes |
| `out` | the output, an array of float64 |
| `n`, `x` | the numbers 5 and 2.5 |
| `i` | the index of the thread |
"""

UNSUPPORTED = """
## Unsupported constructs

Each construct raises a `CompileError` when the kernel is defined.

| error | construct | instead |
|---|---|---|
"""


def language() -> str:
    """Return the page of constructs that compile, by section, and of those that do not."""
    sys.path.insert(0, str(HERE.parent / "tests"))
    constructs = importlib.import_module("support.language_constructs").CONSTRUCTS
    text = LANGUAGE
    for section, rows in groupby(constructs, key=lambda row: row.section):
        text += f"\n## {section}\n\n| construct | example |\n|---|---|\n"
        text += "".join(f"| {cell(row.title)} | {code(row.body)} |\n" for row in rows)
    found = [r for r in vars(unsupported_syntax).values() if isinstance(r, UnsupportedSyntax)]
    for table in (unsupported_syntax.STATEMENTS, unsupported_syntax.EXPRESSIONS):
        found += table.values()
    unique = {(r.code, r.text): r for r in found}
    rows = [f"| `{r.code}` | {cell(r.text)} | {cell(r.hint)} |" for _, r in sorted(unique.items())]
    return text + UNSUPPORTED + "\n".join(rows) + "\n"


def cell(text: str) -> str:
    """Return text escaped for a table cell."""
    return text.replace("|", "\\|")


def code(body: str) -> str:
    """Return code as the text of a table cell that keeps its lines and indentation."""
    lines = [line.replace("|", "\\|") for line in body.rstrip().splitlines()]
    indents = ["&nbsp;" * (len(line) - len(line.lstrip())) for line in lines]
    return "<br>".join(f"{space}`{line.strip()}`" for space, line in zip(indents, lines))


NAMES = """## Names

The table lists the names of `cuda` for the host. [Intrinsics](intrinsics.md) lists those for
kernels. Types also have numba's names, in `pycu2c`, `cuda` and `types`: `float32`, `f4`, `intp`,
`void`, `UniTuple`.

| name | meaning |
|---|---|
"""

MISSING = """
These names of numba do not exist. The error message suggests the same replacement:

| name | instead |
|---|---|
"""


def numba() -> str:
    """Return the page for users of numba, with its tables of names regenerated."""
    prose, _, _ = (HERE / "numba.md").read_text().partition("## Names\n")
    present = sorted([*HOST_NAMES, *MODULES], key=str.lower)
    rows = "".join(f"| `cuda.{name}` | {cell(_first_line(name))} |\n" for name in present)
    hints = {n: h for n, h in HINTS.items() if n not in (*HOST_NAMES, *MODULES)}
    absent = "".join(f"| `cuda.{name}` | {cell(hint)} |\n" for name, hint in sorted(hints.items()))
    return prose + NAMES + rows + MISSING + absent


def _first_line(name: str) -> str:
    """Return the first sentence of the documentation of a host name."""
    found = getattr(cuda, name)
    text = inspect.getdoc(found) or ""
    return text.split("\n\n")[0].replace("\n", " ").replace("``", "`")


_LAYERS = "<!-- layers: generated by docs/generate.py -->\n"
_END = "<!-- end of layers -->"


def architecture() -> str:
    """Return the page on the architecture, with the picture and the table of layers regenerated."""
    head, _, rest = (HERE / "architecture.md").read_text().partition(_LAYERS)
    _, _, tail = rest.partition(_END)
    config = tomllib.loads((HERE.parent / "pyproject.toml").read_text())
    contract = config["tool"]["importlinter"]["contracts"][0]
    packages = [n.removeprefix("pycu2c.") for x in contract["layers"] for n in x.split(" | ")]
    arrows = "".join(f"    {a} --> {b}\n" for a, b in _imports(packages))
    rows = "".join(f"| `{name}` | {cell(_summary(name))} |\n" for name in packages)
    table = f"| package, highest layer first | contents |\n|---|---|\n{rows}"
    return f"{head}{_LAYERS}```mermaid\nflowchart TD\n{arrows}```\n\n{table}{_END}{tail}"


def _imports(packages: list[str]) -> list[tuple[str, str]]:
    """Return which package imports which, without the imports that follow from others."""
    graph = grimp.build_graph("pycu2c", cache_dir=None)
    below: dict[str, set[str]] = {}  # of each package, all that it depends on
    direct: dict[str, set[str]] = {}
    for name in reversed(packages):
        modules = [m for m in graph.modules if f"{m}.".startswith(f"pycu2c.{name}.")]
        found = {i for m in modules for i in graph.find_modules_directly_imported_by(m)}
        names = {i.split(".")[1] for i in found if i not in ("pycu2c", "pycu2c.cuda")}
        direct[name] = names & below.keys()
        below[name] = direct[name].union(*(below[other] for other in direct[name]))
    return [
        (name, other)
        for name in packages
        for other in packages
        if other in direct[name] and not any(other in below[via] for via in direct[name])
    ]


def _summary(name: str) -> str:
    """Return the first sentence of the docstring of a package or module of pycu2c."""
    spec = importlib.util.find_spec(f"pycu2c.{name}")  # not imported: one needs PyTorch
    assert spec is not None
    assert spec.origin is not None
    text = ast.get_docstring(ast.parse(Path(spec.origin).read_text())) or ""
    return text.split("\n\n")[0].replace("\n", " ").replace("``", "`")


PAGES = {
    "architecture.md": architecture,
    "errors.md": errors,
    "intrinsics.md": intrinsics,
    "language.md": language,
    "migrating.md": migrating.page,
    "numba.md": numba,
    "race.svg": pictures.picture,
    "../src/pycu2c/cuda/__init__.pyi": stubs.stub,
    "../src/pycu2c/base/vector_types.pyi": stubs.vector_stub,
    **complex_headers.PAGES,
}

if __name__ == "__main__":
    for name, text in PAGES.items():
        (HERE / name).write_text(text())
