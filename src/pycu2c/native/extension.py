"""The types of the C extension ``_dispatch``, or Python classes of the same names.

Without the extension every launch takes the slow path.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

UNAVAILABLE = ""  # why the extension is missing

if TYPE_CHECKING:
    from pycu2c.native._dispatch import (
        ConfiguredBase,
        DeviceArrayBase,
        DispatchTableBase,
        KernelBase,
        LaunchConfiguration,
        LaunchSequence,
        StagingBuffer,
        TableReference,
        recent_kernels,
        resume,
        suspend,
    )
else:
    try:
        from pycu2c.native._dispatch import (
            ConfiguredBase,
            DeviceArrayBase,
            DispatchTableBase,
            KernelBase,
            LaunchConfiguration,
            LaunchSequence,
            StagingBuffer,
            TableReference,
            recent_kernels,
            resume,
            suspend,
        )
    except ImportError as error:
        from pycu2c.native.fallback import (
            ConfiguredBase,
            DeviceArrayBase,
            DispatchTableBase,
            KernelBase,
            LaunchConfiguration,
            LaunchSequence,
            StagingBuffer,
            TableReference,
            recent_kernels,
            resume,
            suspend,
        )

        UNAVAILABLE = str(error)

__all__ = [
    "UNAVAILABLE",
    "ConfiguredBase",
    "DeviceArrayBase",
    "DispatchTableBase",
    "KernelBase",
    "LaunchConfiguration",
    "LaunchSequence",
    "StagingBuffer",
    "TableReference",
    "recent_kernels",
    "resume",
    "suspend",
]
