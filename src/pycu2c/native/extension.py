"""The types of the C extension ``_dispatch``, or Python classes of the same names.

Without the extension every launch takes the slow path.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

UNAVAILABLE = ""  # why the extension is missing
REQUIRES_GIL = "the C extension requires the GIL (python -X gil=1)"  # and would enable it
_INTERFACE = 7  # as in module.c; increase both when attributes or arguments change

if TYPE_CHECKING:
    import pycu2c.native._dispatch as _implementation
else:
    try:
        if not getattr(sys, "_is_gil_enabled", lambda: True)():
            raise ImportError(REQUIRES_GIL)
        import pycu2c.native._dispatch as _implementation

        if getattr(_implementation, "INTERFACE", 0) != _INTERFACE:
            raise ImportError("the extension was built from other sources: build it again")
    except ImportError as error:
        import pycu2c.native.fallback as _implementation

        UNAVAILABLE = str(error)

ConfiguredBase = _implementation.ConfiguredBase
DeviceArrayBase = _implementation.DeviceArrayBase
DispatchTableBase = _implementation.DispatchTableBase
KernelBase = _implementation.KernelBase
LaunchConfiguration = _implementation.LaunchConfiguration
LaunchSequence = _implementation.LaunchSequence
StagingBuffer = _implementation.StagingBuffer
TableReference = _implementation.TableReference
TunedBase = _implementation.TunedBase
recent_kernels = _implementation.recent_kernels
# while the dispatch is suspended, every launch takes the slow path
resume_dispatch = _implementation.resume
suspend_dispatch = _implementation.suspend
