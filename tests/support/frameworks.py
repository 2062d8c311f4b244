"""Which tests of bindings are collected, and the devices on which they run."""

from __future__ import annotations

import importlib.util
import os
from typing import Any

import pytest

from pycu2c.cuda_driver import driver

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # others use the GPU, too
_PLUGINS = ("jax_cuda12_plugin", "jax_cuda13_plugin")


def is_tested(module: str) -> bool:
    """Return whether a package is installed, or CI is set: there it must be."""
    spec = importlib.util.find_spec(module)
    return "CI" in os.environ or getattr(spec, "origin", None) is not None  # tests/ray has none


def jax_platforms() -> list[Any]:
    """Return the names of the platforms of JAX to test."""
    has_plugin = any(importlib.util.find_spec(plugin) for plugin in _PLUGINS)
    gpus = [pytest.param("cuda", marks=pytest.mark.gpu)] if driver.available() else []
    return ["cpu", *(gpus if has_plugin else [])]
