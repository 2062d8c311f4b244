"""Export copies of tiles by the tensor memory accelerator: ``from pycu2c.cuda import tma``."""

from pycu2c.device_library.swizzle import swizzled_column
from pycu2c.device_library.tma import (
    commit_group,
    fence_proxy_async,
    load,
    load_multicast,
    prefetch,
    store,
    wait_group,
    wait_group_read,
)

__all__ = [
    "commit_group",
    "fence_proxy_async",
    "load",
    "load_multicast",
    "prefetch",
    "store",
    "swizzled_column",
    "wait_group",
    "wait_group_read",
]
