"""The differences between CUDA C and the C for CPUs, as data.

Functions of a ``Dialect`` return what an intrinsic needs in this dialect: its spelling and its
headers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from pycu2c.base.dtypes import DType
from pycu2c.base.records import dataclass
from pycu2c.codegen.includes import headers_of
from pycu2c.ops.intrinsics.registry import Intrinsic, Spelling


@dataclass(frozen=True, slots=True)
class Dialect:
    """The spelling of types, intrinsics, qualifiers and special numbers for one target."""

    name: Literal["cuda", "c"]
    suffix: str  # of the file name
    type_name: Callable[[DType], str]
    spelling_of: Callable[[Intrinsic], Spelling | None]
    header_names: Callable[[Intrinsic], tuple[str, ...]]
    kernel_qualifiers: tuple[str, ...]
    launch_bounds: str  # format of the qualifier for launch bounds
    cluster_dims: str  # format of the qualifier for the size of clusters
    device_qualifiers: tuple[str, ...]
    alignment: str  # a qualifier of arrays
    shared_qualifiers: tuple[str, ...]  # of arrays in shared memory
    constant_qualifiers: tuple[str, ...]  # of constant arrays
    dynamic_shared: str  # declaration of dynamic shared memory at file scope
    headers: Callable[[str], tuple[str, ...]]  # of the standard functions in a C text
    infinity: dict[str, str]  # by the dtype's short name
    nan: dict[str, str]


CUDA = Dialect(
    name="cuda",
    suffix=".cu",
    type_name=lambda dtype: dtype.cuda,
    spelling_of=lambda intrinsic: intrinsic.cuda,
    header_names=lambda intrinsic: intrinsic.cuda_headers,
    kernel_qualifiers=('extern "C"', "__global__"),
    launch_bounds="__launch_bounds__({})",
    cluster_dims="__cluster_dims__({})",
    device_qualifiers=("__device__",),
    alignment="__align__({})",
    shared_qualifiers=("__shared__",),
    dynamic_shared="extern __shared__ __align__({}) unsigned char dynamic_shared[];",
    constant_qualifiers=("__constant__", "const"),
    headers=lambda _: (),  # NVRTC has no standard headers
    infinity={
        "f32": "__int_as_float(0x7f800000)",
        "f64": "__longlong_as_double(0x7ff0000000000000LL)",
    },
    nan={"f32": "__int_as_float(0x7fc00000)", "f64": "__longlong_as_double(0x7ff8000000000000LL)"},
)

C = Dialect(
    name="c",
    suffix=".c",
    type_name=lambda dtype: dtype.c,
    spelling_of=lambda intrinsic: intrinsic.c,
    header_names=lambda _: (),
    kernel_qualifiers=(),
    launch_bounds="",
    cluster_dims="",
    device_qualifiers=("static", "inline"),
    alignment="__attribute__((aligned({})))",
    shared_qualifiers=(),
    dynamic_shared="",
    constant_qualifiers=("static", "const"),
    headers=headers_of,
    infinity={"f32": "INFINITY", "f64": "(double)INFINITY"},
    nan={"f32": "NAN", "f64": "(double)NAN"},
)
