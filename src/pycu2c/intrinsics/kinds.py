"""The kinds of parameters and results, as annotations of intrinsics. What they mean: registry.

For the type checker they are all ``Any``; the registry reads them as words.
"""

from __future__ import annotations

from typing import Any, TypeAlias

array: TypeAlias = Any
index: TypeAlias = Any
const: TypeAlias = Any
form: TypeAlias = Any
number: TypeAlias = Any
T: TypeAlias = Any
F: TypeAlias = Any
R: TypeAlias = Any
