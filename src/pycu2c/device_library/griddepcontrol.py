"""Implement ``pycu2c.cuda.griddepcontrol``: programmatic dependent launches (sm_90).

A host program launches a kernel with the attribute ``programmaticStreamSerialization``, or by a
programmatic edge of a graph. The kernel then begins before the previous one has ended. Other
launches, as those of pycu2c, and the CPU run one kernel after the other.
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
