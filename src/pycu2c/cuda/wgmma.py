"""Export products of tiles by a warpgroup: ``from pycu2c.cuda import wgmma``."""

from pycu2c.device_library.wgmma import (
    commit_group,
    fence,
    mma_async,
    position,
    setmaxnreg_dec,
    setmaxnreg_inc,
    wait_group,
)

__all__ = [
    "commit_group",
    "fence",
    "mma_async",
    "position",
    "setmaxnreg_dec",
    "setmaxnreg_inc",
    "wait_group",
]
