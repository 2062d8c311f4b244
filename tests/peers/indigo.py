"""Measure the checks on Indigo, a suite of irregular CUDA kernels with planted bugs.

    PYTHONPATH=src:tests python tests/peers/indigo.py CHECKOUT [--every N] [-j JOBS] [NAME…]

CHECKOUT is a clone of https://github.com/burtscher/IndigoSuite. Its generator writes the CUDA
kernels, with ``int`` data, into a temporary folder. The script rewrites each as a Python kernel,
and launches it with checks on graphs that exercise all bugs: vertices without neighbours, and more
threads than vertices. The names of the files tell the bugs.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
from pycparser import c_ast, c_parser

from pycu2c import CheckError, Finding, kernel
from pycu2c.toolchain.cc import cc
from support.kernels_from_text import module_from

FLAGS = tuple("-O0" if flag == "-O3" else flag for flag in cc.FLAGS)
RACES = ("atomicBug", "guardBug", "raceBug", "syncBug")
CALLS = {
    "__syncthreads": "cuda.syncthreads",
    "__syncthreads_or": "cuda.syncthreads_or",
    "__syncthreads_count": "cuda.syncthreads_count",
    "__any_sync": "cuda.any_sync",
    "__ballot_sync": "cuda.ballot_sync",
    "__shfl_xor_sync": "cuda.shfl_xor_sync",
    "__shfl_up_sync": "cuda.shfl_up_sync",
    "__popc": "cuda.popc",
    "max": "max",
    "min": "min",
}
ATOMICS = {
    "atomicAdd": "add", "atomicMax": "max", "atomicMin": "min", "atomicWrite": "exch",
    "atomicRead": "add",
}  # fmt: skip
SEEDS = (1, 2, 3, 4)
HEADER = """\
import numpy as np

from pycu2c import cuda, int32

"""


# ---- from C to Python --------------------------------------------------------------------------


@dataclass(slots=True)
class Translation:
    """The lines of a kernel."""

    lines: list[str] = field(default_factory=list)
    depth: int = 0

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def body(self, node: c_ast.Node, last: c_ast.Node | None = None) -> None:
        self.depth += 1
        self.statement(node)
        if last is not None:
            self.statement(last)
        self.line("pass")
        self.depth -= 1

    def statement(self, node: c_ast.Node) -> None:
        match node:
            case c_ast.Compound():
                for item in node.block_items or ():
                    self.statement(item)
            case c_ast.DeclList():
                for declared in node.decls:
                    self.statement(declared)
            case c_ast.Decl(type=c_ast.ArrayDecl()):
                self.line(f"{node.name} = cuda.shared.array({expression(node.type.dim)}, int32)")
            case c_ast.Decl(init=c_ast.UnaryOp(op="p++")):  # x = a[0]++
                counter = expression(node.init.expr)
                self.line(f"{node.name} = {counter}")
                self.line(f"{counter} += 1")
            case c_ast.Decl():
                self.line(f"{node.name} = {expression(node.init)}")
            case c_ast.Assignment():
                operator = "//=" if node.op == "/=" else node.op
                self.line(f"{expression(node.lvalue)} {operator} {expression(node.rvalue)}")
            case c_ast.UnaryOp(op="p++" | "p--"):
                self.line(f"{expression(node.expr)} {node.op[1]}= 1")
            case c_ast.If():
                self.line(f"if {expression(node.cond)}:")
                self.body(node.iftrue)
            case c_ast.For():
                self.statement(node.init)
                self.line(f"while {expression(node.cond)}:")
                self.body(node.stmt, node.next)
            case c_ast.While():
                self.line(f"while {expression(node.cond)}:")
                self.body(node.stmt)
            case c_ast.Break():
                self.line("break")
            case _:
                self.line(expression(node))


def expression(node: c_ast.Node) -> str:
    match node:
        case c_ast.Constant():
            return str(node.value)
        case c_ast.ID():
            return str(node.name)
        case c_ast.StructRef():
            return f"cuda.{node.name.name}.{node.field.name}"
        case c_ast.ArrayRef():
            return f"{expression(node.name)}[{expression(node.subscript)}]"
        case c_ast.Cast():
            return expression(node.expr)
        case c_ast.UnaryOp():
            return f"({node.op}{expression(node.expr)})"
        case c_ast.BinaryOp():
            operator = "//" if node.op == "/" else node.op
            return f"({expression(node.left)} {operator} {expression(node.right)})"
        case c_ast.TernaryOp():
            yes, no = expression(node.iftrue), expression(node.iffalse)
            return f"({yes} if {expression(node.cond)} else {no})"
        case c_ast.FuncCall():
            return _call(node.name.name, list(node.args.exprs if node.args else ()))
    raise NotImplementedError(type(node).__name__)


def _call(name: str, arguments: list[c_ast.Node]) -> str:
    if name in ATOMICS:
        address, *rest = arguments
        element = address.expr if isinstance(address, c_ast.UnaryOp) else None
        array = expression(element.name if element is not None else address)
        index = expression(element.subscript) if element is not None else "0"
        value = expression(rest[0]) if rest else "0"
        return f"cuda.atomic.{ATOMICS[name]}({array}, {index}, {value})"
    texts = [expression(a) for a in arguments]
    if name.endswith("_sync"):
        texts[0] = "0xFFFFFFFF"
    suffix = " != 0" if name in ("__any_sync", "__syncthreads_or") else ""
    return f"({CALLS[name]}({', '.join(texts)}){suffix})"


def python_text(c_text: str) -> str:
    """Return a module with the kernel of a generated file."""
    kernel_text = re.search(r"__global__ void test_kernel.*?(?=\bvoid serial_code)", c_text, re.S)
    assert kernel_text is not None
    plain = re.sub(r"__global__|__shared__|//.*", "", kernel_text[0])
    tree = c_parser.CParser().parse(f"typedef int data_t;\n{plain}")
    function = tree.ext[-1]
    names = ", ".join(p.name for p in function.decl.type.args.params)
    translation = Translation()
    translation.line(f"def test_kernel({names}):")
    translation.body(function.body)
    return HEADER + "\n".join(translation.lines) + "\n"


# ---- graphs and launches -----------------------------------------------------------------------


def graph(vertices: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a random graph whose first and last vertices have no neighbours."""
    rng = np.random.default_rng(seed)
    degrees = rng.integers(1, 5, vertices)
    degrees[0] = degrees[-1] = 0
    nindex = np.concatenate(([0], np.cumsum(degrees))).astype(np.int32)
    nlist = rng.integers(0, vertices, nindex[-1]).astype(np.int32)
    return nindex, nlist


def launch_of(name: str) -> tuple[int, int, int]:
    """Return the vertices, the blocks and the threads of a block."""
    blocks, units = (2, 128) if not re.search("_warp|_block", name) else (4, 8)
    blocks, units = (6, 6) if "_block" in name else (blocks, units)
    return (2 * units + 3 if "persistent" in name else units - 1), blocks, 64


def findings(name: str, text: str, folder: Path, seed: int) -> tuple[Finding, ...]:
    """Return what the checks of a launch on a random graph find."""
    function = module_from(text, folder).test_kernel
    launched = kernel(function, backend="cpu", check=True, wraparound=False, cache=False)
    vertices, blocks, threads = launch_of(name)
    nindex, nlist = graph(vertices, seed)
    size = max(vertices, len(nlist))
    rng = np.random.default_rng(2)
    data1, data2 = (rng.integers(0, n, size).astype(np.int32) for n in (vertices, len(nlist)))
    data1[0] = data2[0] = 0
    try:
        launched[blocks, threads](nindex, nlist, data1, data2, vertices)
    except CheckError as error:
        return error.findings
    return ()


def generate(checkout: Path, folder: Path) -> Iterator[Path]:
    """Run the generator of the suite; return the CUDA files."""
    generators = checkout / "Generators"
    for source in sorted((generators / "CUDA_sources").glob("*.idg")):
        command = [sys.executable, "generate_CUDA_codes.py", f"CUDA_sources/{source.name}"]
        command += [str(checkout / "copyright.txt"), str(folder)]
        subprocess.run(command, cwd=generators, check=True, stdout=subprocess.DEVNULL)
    yield from sorted(folder.rglob("*.cu"))


def judge(name: str, text: str, folder: Path) -> list[tuple[str, bool, bool]]:
    """Return for races and bounds whether the kernel has the bug, and whether it is reported."""
    has_race = any(bug in name for bug in RACES)
    expected = {k for k, has in (("race", has_race), ("out-of-bounds", "boundsBug" in name)) if has}
    found: set[str] = set()
    for seed in SEEDS if expected else SEEDS[:1]:  # not every graph has a conflict
        found |= {f.kind for f in findings(name, text, folder, seed)}
        if expected <= found:
            break
    return [
        ("race", has_race, "race" in found),
        ("out-of-bounds", "out-of-bounds" in expected, "out-of-bounds" in found),
        ("other", False, bool(found - {"race", "out-of-bounds"})),
    ]


def compile_fast() -> None:
    warnings.simplefilter("ignore")
    cc.FLAGS = FLAGS


def judge_file(folder: Path, path: Path) -> list[tuple[str, bool, bool]]:
    own = folder / str(os.getpid())
    own.mkdir(exist_ok=True)
    return judge(path.stem, python_text(path.read_text()), own)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="indigo", description=__doc__)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("names", nargs="*", help="parts of names of kernels; all without")
    parser.add_argument("--every", type=int, default=1, help="run one kernel in so many")
    parser.add_argument("-j", "--jobs", type=int, default=1, help="processes at a time")
    options = parser.parse_args(arguments)
    counts: Counter[tuple[str, bool, bool]] = Counter()
    with (
        tempfile.TemporaryDirectory() as temporary,
        ProcessPoolExecutor(options.jobs, initializer=compile_fast) as pool,
    ):
        folder = Path(temporary)
        paths = [
            path
            for path in generate(options.checkout.resolve(), folder)
            if not options.names or any(n in path.stem for n in options.names)
        ][:: options.every]
        for path, results in zip(paths, pool.map(partial(judge_file, folder), paths)):
            for result in results:
                counts[result] += 1
                if result[1] != result[2]:
                    verdict = "missed" if result[1] else "false"
                    print(f"{path.stem}: {result[0]} {verdict}", flush=True)
    for kind in ("race", "out-of-bounds", "other"):
        true, missed = counts[kind, True, True], counts[kind, True, False]
        false, right = counts[kind, False, True], counts[kind, False, False]
        print(f"{kind:14} found {true} of {true + missed}, false alarms {false} of {false + right}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
