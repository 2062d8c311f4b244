"""Launches in functions that ``torch.compile`` traces. PyTorch is never imported here.

A launch breaks the graph of such a function. Its tracer then starts anew with each Python function
that is called, and it cannot trace the slow path of a launch.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeVar

from pycu2c.base.diagnostics import LaunchWarning, warn

F = TypeVar("F", bound=Callable[..., Any])


def untraced(function: F, kernel: str) -> F:
    """Return a function for one call, which ``torch.compile`` does not trace.

    Warns of the graph break. The caller must have no tensors in its variables, so that the tracer
    skips it.
    """
    tracer: Any = sys.modules.get("torch._C._dynamo.eval_frame")
    if tracer is None or not callable(tracer.get_eval_frame_callback()):
        return function
    warn(
        f"{kernel} is launched in a function that torch.compile compiles, which breaks its graph: "
        "call an operator of the kernel, which pycu2c.torch.op(…) makes",
        LaunchWarning,
    )
    untraced: F = sys.modules["torch"].compiler.disable(function)
    return untraced
