"""Import the compiler when the first kernel is compiled.

A process that only runs kernels from the cache never imports it. ``tests/test_architecture.py``
lists the other modules that defer an import.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pycu2c.base.lazy_imports import lazy_module

if TYPE_CHECKING:
    from pycu2c.kernels import kernel_compiler as kernel_compiler
else:
    kernel_compiler = lazy_module("pycu2c.kernels.kernel_compiler")
