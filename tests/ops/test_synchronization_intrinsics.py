"""Barriers and warp operations: their types in the IR, and their CUDA C."""

from __future__ import annotations

import inspect

import pytest

from pycu2c import CompileError
from pycu2c.base.dtypes import INT64, DType
from pycu2c.codegen.helpers.catalog import helpers_in_text, texts_of
from pycu2c.csyntax.nodes import Name
from pycu2c.csyntax.printer import print_expr
from pycu2c.kernels.kernel import Kernel
from pycu2c.ops.intrinsics.all import REGISTRY
from pycu2c.ops.intrinsics.registry import Effect, Intrinsic
from pycu2c.toolchain.nvrtc import nvrtc
from support.kernels_from_text import module_from

SPELLED = [
    r for r in REGISTRY.values() if r.cuda and (r.synchronizes or (r.bounds and not r.parameters))
]
VARIANTS = [(row, dtype) for row in SPELLED for dtype in row.dtypes or (INT64,)]
OF_CLUSTERS = [variant for variant in VARIANTS if variant[0].effect is Effect.CLUSTER]


def function(row: Intrinsic, dtype: DType, number: int) -> str:
    """A function of the row's parameters that evaluates its spelling."""
    assert row.cuda is not None
    text = print_expr(row.cuda({name: Name(name) for name, _ in row.parameters}, dtype))
    of_kind = {"int": INT64.cuda, "bool": "bool"}
    parameters = [f"{of_kind.get(kind, dtype.cuda)} {name}" for name, kind in row.parameters]
    result = {"None": "void", "T": dtype.cuda, "bool": "bool"}.get(row.result, INT64.cuda)
    gives = "" if row.result == "None" else "return "
    return f"__device__ {result} f{number}({', '.join(parameters)}) {{ {gives}{text}; }}"


@pytest.mark.parametrize("arch", ["sm_75", "sm_90"])
def test_every_spelling_compiles(arch: str) -> None:
    variants = [v for v in VARIANTS if arch != "sm_75" or v not in OF_CLUSTERS]
    headers = {f"#include <{header}>" for row, _ in variants for header in row.cuda_headers}
    functions = [function(*variant, number) for number, variant in enumerate(variants)]
    helpers = helpers_in_text("\n".join(functions))
    kernel = 'extern "C" __global__ void k() {}'
    text = "\n".join([*headers, *texts_of(helpers, "cuda"), *functions, kernel])
    assert nvrtc.compile(text, "k", arch, cache=False).log.strip("\0\n ") == ""


HEAD = (
    "import numpy as np\nfrom pycu2c import *\n\n@kernel(signature={signature!r})\ndef k(a, b):\n"
)


def kernel_of(folder, body: str, signature: str = "float32[::1], int32[::1]") -> Kernel:
    text = HEAD.format(signature=signature) + "".join(f"    {s}\n" for s in body.splitlines())
    return module_from(text, folder).k


TYPES = {
    "cuda.shfl_sync(-1, a[0], 0)": "float32",
    "cuda.shfl_sync(-1, True, 0)": "bool",
    "cuda.shfl_sync(-1, b[0] > 1, 0)": "bool",
    "cuda.shfl_sync(-1, np.uint8(1), 0)": "uint8",
    "cuda.shfl_sync(-1, float16(1), 0)": "float16",
    "cuda.shfl_down_sync(-1, 1, 0)": "int",
    "cuda.shfl_up_sync(-1, 1.5, 0, width=8)": "float",
    "cuda.shfl_xor_sync(-1, 1.5j, 0)": "complex",
    "cuda.shfl_xor_sync(-1, complex64(1.5j), 0)": "complex64",
    "cuda.shfl_sync(-1, float4(a[0], 1, 2, 3), 0)": "float4",
    "cuda.ballot_sync(-1, a[0])": "int",
    "cuda.match_any_sync(-1, a[0])": "int",
    "cuda.match_all_sync(-1, a[0])[0]": "int",
    "cuda.match_all_sync(-1, a[0])[1]": "bool",
    "cuda.any_sync(-1, b[0])": "bool",
    "cuda.eq_sync(-1, 1.5)": "bool",
    "cuda.reduce_add_sync(-1, b[0])": "int32",
    "cuda.reduce_min_sync(-1, 5)": "int",
    "cuda.syncthreads_count(b[0])": "int",
    "cuda.activemask()": "int",
    "cuda.laneid": "int",
    "cuda.lanemask_lt()": "int",
    "cuda.warpsize": "int",
}


@pytest.mark.parametrize("expression", TYPES)
def test_types(expression: str, tmp_path) -> None:
    text = kernel_of(tmp_path, f"x = {expression}").inspect("ir")
    assert f"  x: {TYPES[expression]} = " in text


def test_the_size_of_a_warp_is_a_constant(tmp_path) -> None:
    text = kernel_of(tmp_path, "t = cuda.shared.array(cuda.warpsize, int32)\nt[0] = 1").inspect(
        "ir"
    )
    assert "shared int32[32]" in text


REJECTED = {
    "cuda.reduce_add_sync(-1, a[0])": "does not accept `float32`",
    "cuda.shfl_sync(1.5, a[0], 1)": "it must be an integer",
    "cuda.shfl_sync(-1, a, 1)": "an array",
    "cuda.match_any_sync(-1, 2j)": "does not accept `complex128`",
}


@pytest.mark.parametrize("expression", REJECTED)
def test_rejected(expression: str, tmp_path) -> None:
    with pytest.raises(CompileError, match=REJECTED[expression]):
        kernel_of(tmp_path, f"x = {expression}")


def test_masks_and_widths_are_written_as_people_write_them(tmp_path) -> None:
    body = """\
a[0] = cuda.shfl_down_sync(0xffffffff, a[1], 16)
a[1] = cuda.shfl_xor_sync(-1, a[1], 16, 16)
cuda.syncwarp()
cuda.syncwarp(0xffff)
if cuda.any_sync(0xff, b[0] > 1):
    cuda.cg.this_grid().sync()
    b[0] = cuda.ballot_sync(0xff, b[0])"""
    text = kernel_of(tmp_path, body).inspect("cuda")
    assert text.startswith("#include <cooperative_groups.h>\n")
    for line in (
        "a[0] = __shfl_down_sync(0xffffffff, a[1], 16);",
        "a[1] = __shfl_xor_sync(0xffffffff, a[1], 16, 16);",
        "__syncwarp();",
        "__syncwarp(0x0000ffff);",
        "if (__any_sync(0x000000ff, b[0] > 1) != 0) {",
        "cooperative_groups::this_grid().sync();",
        "b[0] = __ballot_sync(0x000000ff, b[0] != 0);",
    ):
        assert f"    {line}\n" in text


KEPT = """\
cuda.ballot_sync(-1, b[0])
x = cuda.shfl_sync(-1, b[0], 1)
for j in range(4):
    if j == b[0] and cuda.any_sync(-1, b[1]):
        b[0] = 1
    cuda.syncthreads_or(1)
b[2] = cuda.shfl_sync(-1, b[0], 1) + cuda.shfl_sync(-1, b[0], 1) * 0"""


def test_nothing_is_dropped_merged_or_moved(tmp_path) -> None:
    lines = [s.strip() for s in kernel_of(tmp_path, KEPT).inspect("cuda").splitlines()]
    body = lines[lines.index("__ballot_sync(0xffffffff, b[0] != 0);") :]
    assert body[1] == "__shfl_sync(0xffffffff, b[0], 1);"
    assert body[2].startswith("for (")
    assert body[3] == "if (j == b[0] && __any_sync(0xffffffff, b[1] != 0) != 0) {"
    assert body[6] == "__syncthreads_or(true);"
    assert sum("__shfl_sync" in line for line in body) == 3


def test_a_vote_in_a_loop_is_not_hoisted(tmp_path) -> None:
    body = "for j in range(cuda.activemask()):\n    b[j] = 1\n    cuda.syncwarp()"
    text = kernel_of(tmp_path, body).inspect("cuda")
    assert "    long long stop = __activemask();\n    for (" in text


def test_shuffled_values_keep_their_ranges(tmp_path) -> None:
    body = """\
i = cuda.threadIdx.x
if i < 8:
    b[cuda.shfl_xor_sync(0xff, i, 1)] = cuda.popc(cuda.ballot_sync(0xff, i > 2))
    b[cuda.reduce_max_sync(0xff, i)] += 1"""
    text = kernel_of(tmp_path, body).inspect("cuda")
    assert "b[__shfl_xor_sync(0x000000ff, i, 1)] = first;" in text
    assert "int at = reduce_max_i32(0x000000ff, i);" in text


def test_help_shows_the_defaults() -> None:
    assert str(inspect.signature(REGISTRY["cuda.shfl_sync"])).startswith(
        "(mask: 'int', value: 'T', src_lane: 'int', width: 'int' = 32)"
    )
