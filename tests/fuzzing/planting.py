"""Plant one defect of a known kind in a random kernel.

A planted text is a case with a few more statements, which are right. Their comments mark what
makes them wrong and where that is found, as in ``support.defects``. The statements stand at a
random place that all threads of a block reach, by themselves, in a loop, in an ``if`` or in a
device function.
"""

from __future__ import annotations

import ast
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fuzzing.cases import text_of
from support.defects import defective_line

Lines = tuple[str, ...]
PARAMETERS = ("p_in", "p_out", "p_sum", "p_num")
PLANTED_ARGUMENTS = """

base_arguments = arguments
APPROXIMATE = [n + {count} for n in APPROXIMATE]
PLANTED = {kind!r}


def arguments():
    return (
        np.arange(1, {size} + 1).astype(np.{dtype}),
        np.zeros({size}, np.{dtype}),
        np.zeros({size}, np.int64),
        np.array([0, {shift}, {threads}, 3, 1, 70], np.int64),
        *base_arguments(),
    )
"""
DTYPES = ("float32", "float64", "int32", "int64", "uint32", "int16")  # of numpy


@dataclass(frozen=True, slots=True)
class Plot:
    """What a defect may use: ``size`` threads in all, ``threads`` of a block.

    ``p_num`` has numbers that the compiler does not know: 0, ``shift``, ``threads``, 3, 1 and 70.
    """

    rng: random.Random
    size: int
    threads: int
    dtype: str

    @property
    def shift(self) -> int:
        return 1 + self.size % 7


Maker = Callable[[Plot], Lines]
_MAKERS: list[tuple[str, int, bool, Maker]] = []


def plants(kind: str, threads: int = 1, together: bool = False) -> Callable[[Maker], Maker]:
    """Declare statements with a defect, which needs so many threads in a block.

    together: whether all threads of the block must reach it.
    """

    def declare(make: Maker) -> Maker:
        _MAKERS.append((kind, threads, together, make))
        return make

    return declare


# ---- out of bounds -----------------------------------------------------------------------------


@plants("out-of-bounds")
def shifted_store(plot: Plot) -> Lines:
    wrong = plot.rng.choice(("p_i + p_num[1]", f"p_i - {plot.size} - p_num[1]"))
    return (f"p_out[p_i] = p_in[p_i]  # finding, defect: p_out[{wrong}] = p_in[p_i]",)


@plants("out-of-bounds")
def shifted_load(plot: Plot) -> Lines:
    index = plot.rng.choice(("p_i", f"{plot.size - 1} - p_i"))
    right, wrong = (f"p_out[p_i] = p_in[{index} + {n}]" for n in ("p_num[0]", "p_num[1]"))
    return (f"{right}  # finding, defect: {wrong}",)


@plants("out-of-bounds")
def shifted_atomic(plot: Plot) -> Lines:
    name = plot.rng.choice(("add", "max", "exch"))
    right, wrong = (f"cuda.atomic.{name}(p_sum, p_i + p_num[{n}], 1)" for n in (0, 1))
    return (f"{right}  # finding, defect: {wrong}",)


@plants("out-of-bounds", threads=2)
def index_in_a_view(plot: Plot) -> Lines:
    return (
        f"p_view = p_in[{plot.rng.choice(('1:', ':-1', '::-1'))}]",
        f"p_out[p_i] = p_view[p_i - 1]  # finding, defect: p_out[p_i] = p_view[p_i + {plot.size}]",
    )


@plants("out-of-bounds")
def index_in_a_local_array(plot: Plot) -> Lines:
    length = plot.rng.randint(2, 5)
    return (
        f"p_own = cuda.local.array({length}, np.{plot.dtype})",
        f"for p_k in range({length}):  # defect: for p_k in range({length} + p_num[1]):",
        "    p_own[p_k] = p_in[p_i]  # finding",
        "p_out[p_i] = p_own[0]",
    )


@plants("out-of-bounds", together=True)
def index_in_a_tile(plot: Plot) -> Lines:
    right, wrong = (f"p_out[p_i] = p_tile[p_t + p_num[{n}]]" for n in (0, 1))
    return (
        f"p_tile = cuda.shared.array({plot.threads}, np.{plot.dtype})",
        "p_tile[p_t] = p_in[p_i]",
        f"{right}  # finding, defect: {wrong}",
    )


# ---- races -------------------------------------------------------------------------------------


@plants("race", threads=2, together=True)
def reversed_tile(plot: Plot) -> Lines:
    return (
        f"p_tile = cuda.shared.array({plot.threads}, np.{plot.dtype})",
        "p_tile[p_t] = p_in[p_i]  # other",
        "cuda.syncthreads()  # defect: removed",
        f"p_out[p_i] = p_tile[{plot.threads - 1} - p_t]  # finding",
    )


@plants("race", threads=2, together=True)
def overwritten_tile(plot: Plot) -> Lines:
    return (
        f"p_tile = cuda.shared.array(({plot.threads}, 2), np.{plot.dtype})",
        "p_tile[p_t, 0] = p_in[p_i]",
        "cuda.syncthreads()",
        f"p_left = p_tile[(p_t + 1) % {plot.threads}, 0]  # other",
        "cuda.syncthreads()  # defect: removed",
        "p_tile[p_t, 0] = p_left  # finding",
        "cuda.syncthreads()",
        "p_out[p_i] = p_tile[p_t, 0]",
    )


@plants("race", threads=2, together=True)
def broadcast(plot: Plot) -> Lines:
    first = plot.rng.choice((0, plot.threads - 1))
    return (
        f"p_one = cuda.shared.array(1, np.{plot.dtype})",
        f"if p_t == {first}:",
        "    p_one[0] = p_in[p_i]  # other",
        "cuda.syncthreads()  # defect: removed",
        "p_out[p_i] = p_one[0]  # finding",
    )


@plants("race", threads=2, together=True)
def rotation_in_global_memory(plot: Plot) -> Lines:
    at = f"p_i - p_t + (p_t + 1) % {plot.threads}"
    return (
        "p_out[p_i] = p_in[p_i]  # other",
        "cuda.syncthreads()  # defect: removed",
        f"p_sum[p_i] = np.int64(p_out[{at}])  # finding",
    )


@plants("race", threads=2, together=True)
def plain_update(plot: Plot) -> Lines:
    at = plot.rng.choice(("0", "p_i % 2 * 0", "p_num[0]"))
    update = f"p_sum[{at}] += p_i + 1"
    return (f"cuda.atomic.add(p_sum, {at}, p_i + 1)  # finding, other, defect: {update}",)


@plants("race", threads=2, together=True)
def atomic_and_plain_read(plot: Plot) -> Lines:
    return (
        "cuda.atomic.add(p_sum, p_i - p_t, p_i + 1)  # other",
        "cuda.syncthreads()  # defect: removed",
        "p_out[p_i] += p_in[int(p_sum[p_i - p_t] % 2) * 0]  # finding",
    )


@plants("race", threads=4, together=True)
def tree(plot: Plot) -> Lines:
    half = 1 << (plot.threads - 1).bit_length() - 1
    return (
        f"p_tile = cuda.shared.array({plot.threads}, np.{plot.dtype})",
        "p_tile[p_t] = p_in[p_i]",
        "cuda.syncthreads()",
        f"p_half = {half}",
        "while p_half > 0:",
        f"    if p_t < p_half and p_t + p_half < {plot.threads}:",
        "        p_tile[p_t] += p_tile[p_t + p_half]  # finding, other",
        "    cuda.syncthreads()  # defect: removed",
        "    p_half //= 2",
        "p_out[p_i] = p_tile[p_t]",
    )


# ---- uninitialized -----------------------------------------------------------------------------


@plants("uninitialized", threads=2, together=True)
def part_of_a_tile(plot: Plot) -> Lines:
    return (
        f"p_tile = cuda.shared.array({plot.threads}, np.{plot.dtype})",
        f"if p_t < {plot.threads}:  # defect: if p_t < {plot.threads - 1}:",
        "    p_tile[p_t] = p_in[p_i]",
        "cuda.syncthreads()",
        f"p_out[p_i] = p_tile[{plot.threads - 1} - p_t]  # finding",
    )


@plants("uninitialized")
def element_of_a_local_array(plot: Plot) -> Lines:
    return (
        f"p_own = cuda.local.array(2, np.{plot.dtype})",
        "p_own[0] = p_in[p_i]",
        "p_own[p_num[4]] = p_in[p_i]  # defect: p_own[p_num[0]] = p_in[p_i]",
        "p_out[p_i] = p_own[p_num[4]]  # finding",
    )


@plants("uninitialized")
def variable(plot: Plot) -> Lines:
    return (
        "if p_num[0] == 0:  # defect: if p_num[0] == 1:",
        "    p_some = p_in[p_i]",
        "p_out[p_i] = p_some  # finding",
    )


# ---- arithmetic --------------------------------------------------------------------------------


@plants("arithmetic")
def division(plot: Plot) -> Lines:
    op = plot.rng.choice(("//", "%"))
    right, wrong = (f"p_sum[p_i] = (p_i + 1) {op} p_num[{n}]" for n in (3, 0))
    return (f"{right}  # finding, defect: {wrong}",)


@plants("arithmetic")
def shift(plot: Plot) -> Lines:
    op = plot.rng.choice(("<<", ">>"))
    wrong = plot.rng.choice(("p_num[5]", "-p_num[4]"))
    return (f"p_sum[p_i] = p_i {op} p_num[3]  # finding, defect: p_sum[p_i] = p_i {op} {wrong}",)


@plants("arithmetic")
def conversion(plot: Plot) -> Lines:
    right, wrong = (f"p_sum[p_i] = np.int32(np.float64(p_in[p_i]) * {x})" for x in ("2.0", "1e12"))
    return (f"{right}  # finding, defect: {wrong}",)


# ---- synchronization and assertions ------------------------------------------------------------


@plants("divergent-barrier", threads=2, together=True)
def barrier_of_some(plot: Plot) -> Lines:
    some = plot.rng.choice((f"p_t < {plot.threads - 1}", "p_t % 2 == 0", "p_t > 0"))
    return (
        f"if p_num[0] == 0:  # defect: if {some}:",
        "    p_out[p_i] = p_in[p_i]",
        "    cuda.syncthreads()  # finding",
        "cuda.syncthreads()  # finding",
    )


@plants("warp-sync", threads=2, together=True)
def wrong_mask(plot: Plot) -> Lines:
    operation = plot.rng.choice(
        (
            "p_sum[p_i] = cuda.ballot_sync({}, p_i > 1)",
            "p_sum[p_i] = cuda.shfl_sync({}, p_i, 0)",
            "cuda.syncwarp({})",
        )
    )
    mask = plot.rng.choice(("0x1", "0x55555555", "p_num[4]"))
    return (f"{operation.format('0xFFFFFFFF')}  # finding, defect: {operation.format(mask)}",)


@plants("assertion")
def assertion(plot: Plot) -> Lines:
    return (f"assert p_i >= 0  # finding, defect: assert p_i < {plot.size - 1}",)


# ---- planting ----------------------------------------------------------------------------------


def planted_text(seed: int) -> str:
    """Return a random kernel with one planted defect, as it is right."""
    rng = random.Random(seed)
    text = text_of(seed)
    tree = ast.parse(text)
    grid, block = _launch(tree)
    threads = math.prod(block)
    size = math.prod(grid) * threads
    dtype = rng.choice(DTYPES) if size < 32000 else "float64"
    plot = Plot(rng, size, threads, dtype)
    kind, _, together, make = rng.choice([m for m in _MAKERS if m[1] <= threads])
    kernel = next(n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "fuzzed")
    lines = _surrounded(rng, make(plot), together)
    body, device_lines = _in_function(lines) if rng.random() < 0.25 else (lines, ())
    extended = _inserted(text, kernel, (*_coordinates(), *body), rng, device_lines)
    return extended + PLANTED_ARGUMENTS.format(
        count=len(PARAMETERS), kind=kind, size=size, dtype=dtype, shift=plot.shift, threads=threads
    )


def wrong_text(text: str) -> str:
    """Return a planted text with the defect; its lines have the same numbers."""
    return "\n".join(map(defective_line, text.splitlines())) + "\n"


def _launch(tree: ast.Module) -> tuple[Sequence[int], Sequence[int]]:
    for node in tree.body:
        if (
            isinstance(node, ast.Assign)
            and ast.unparse(node.targets[0]).strip("()") == "GRID, BLOCK"
        ):
            grid, block = ast.literal_eval(node.value)
            return grid, block
    raise ValueError("no line assigns GRID and BLOCK")


def _coordinates() -> Lines:
    row = "cuda.threadIdx.z * cuda.blockDim.y + cuda.threadIdx.y"
    layer = "cuda.blockIdx.z * cuda.gridDim.y + cuda.blockIdx.y"
    size = "cuda.blockDim.x * cuda.blockDim.y * cuda.blockDim.z"
    return (
        f"p_t = ({row}) * cuda.blockDim.x + cuda.threadIdx.x",
        f"p_i = (({layer}) * cuda.gridDim.x + cuda.blockIdx.x) * {size} + p_t",
    )


def _surrounded(rng: random.Random, lines: Lines, together: bool) -> Lines:
    """Return the statements by themselves, in a loop, or under a condition."""
    if together:  # ordered with what other threads do before and after
        lines = ("cuda.syncthreads()", *lines, "cuda.syncthreads()")
    head = rng.choice(("", "", "for p_n in range(p_num[4] + 1):", "if p_num[0] == 0:"))
    if not together:
        head = rng.choice((head, "if p_i >= 0:"))
    return (head, *(f"    {line}" for line in lines)) if head else lines


def _in_function(lines: Lines) -> tuple[Lines, Lines]:
    names = ", ".join((*PARAMETERS, "p_i", "p_t"))
    call = f"planted({names})"
    return (call,), (
        "@device",
        f"def planted({names}):",
        *(f"    {line}" for line in lines),
        "",
        "",
    )


def _inserted(
    text: str, kernel: ast.FunctionDef, body: Lines, rng: random.Random, device_lines: Lines
) -> str:
    """Return the text with statements at a place of the kernel, and a function before it."""
    places = [s.lineno for s in _reached_together(kernel)]
    last = kernel.body[-1].end_lineno
    assert last is not None
    at = rng.choice(places) - 1
    lines = text.splitlines()
    first = kernel.decorator_list[0].lineno - 1
    signature = lines[kernel.lineno - 1].replace(
        "def fuzzed(", f"def fuzzed({', '.join(PARAMETERS)}, "
    )
    return "\n".join(
        (
            *lines[:first],
            *device_lines,
            *lines[first : kernel.lineno - 1],
            signature,
            *lines[kernel.lineno : at],
            *(f"    {line}" for line in body),
            *lines[at:],
        )
    )


def _reached_together(kernel: ast.FunctionDef) -> list[ast.stmt]:
    """Return the statements of a kernel before which no thread has ended."""
    reached = []
    for statement in kernel.body:
        reached.append(statement)
        if any(isinstance(n, ast.Return | ast.Raise) for n in ast.walk(statement)):
            break
    return reached
