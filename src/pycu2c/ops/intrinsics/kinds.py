"""The kinds of parameters and results: the annotations of intrinsics.

``registry`` describes them. They are ``Any`` for type checkers; the registry reads their names.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from pycu2c.base.dtypes import ACCESSES, DTYPES

array: TypeAlias = Any
index: TypeAlias = Any
const: TypeAlias = Any
form: TypeAlias = Any
place: TypeAlias = Any
number: TypeAlias = Any
T: TypeAlias = Any
F: TypeAlias = Any
R: TypeAlias = Any
coordinate: TypeAlias = Any
texture1d: TypeAlias = Any
texture2d: TypeAlias = Any
texture3d: TypeAlias = Any
surface1d: TypeAlias = Any
surface2d: TypeAlias = Any
surface3d: TypeAlias = Any
int16: TypeAlias = Any
int32: TypeAlias = Any
int64: TypeAlias = Any
uint8: TypeAlias = Any
uint16: TypeAlias = Any
uint32: TypeAlias = Any
uint64: TypeAlias = Any
float16: TypeAlias = Any
bfloat16: TypeAlias = Any
float32: TypeAlias = Any
float64: TypeAlias = Any

# of ``transforms/cpu/barriers/collective_ir``, which imports this package
Collective: TypeAlias = Any
Value: TypeAlias = Any

# parameters whose argument determines T or F, the type that selects the variant of the intrinsic
TYPE_DETERMINING_KINDS = ("array", "T", "F")
FORM_RESULT = "form"  # the kind of a result that the front end's handler determines

HANDLE_KINDS = tuple(f"{access}{axes}d" for access in ACCESSES for axes in (1, 2, 3))

# kinds with a fixed type
FIXED = {dtype.name: dtype for dtype in DTYPES if dtype.is_integer or dtype.is_float}
