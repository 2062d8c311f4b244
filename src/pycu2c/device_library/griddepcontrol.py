"""Implement ``pycu2c.cuda.griddepcontrol``: programmatic dependent launches (sm_90).

A kernel with the option ``programmatic_stream_serialization`` may begin before the previous one of
its stream has ended. Launches without it, and those on the CPU, run one kernel after the other.
"""

from __future__ import annotations

from pycu2c.device_library.instructions import instruction
from pycu2c.kernels.kernel import device


@device
def launch_dependents() -> None:
    """Let the next kernel begin once all blocks have called this or ended."""
    instruction("griddepcontrol.launch_dependents")()


@device
def wait() -> None:
    """Wait until the previous kernel is complete, and its writes are visible."""
    instruction("griddepcontrol.wait")()
