"""Export barriers in shared memory: ``from pycu2c.cuda import barrier``."""

from pycu2c.device_library.barrier import (
    arrive,
    arrive_and_wait,
    arrive_expect_tx,
    expect_tx,
    init,
    wait,
    wait_parity,
)

__all__ = [
    "arrive",
    "arrive_and_wait",
    "arrive_expect_tx",
    "expect_tx",
    "init",
    "wait",
    "wait_parity",
]
