"""CPU: which way a kernel's threads go: as loops over the threads of a block, which is fast, where
all that meet provably come there together; else in steps, which is right for every kernel."""

from __future__ import annotations

from pycu2c.ir.nodes import Body, For, Meeting, Module, While
from pycu2c.ir.spinning import spins
from pycu2c.ir.waiting import waits_in
from pycu2c.ir.walk import statements
from pycu2c.passes.facts import Facts
from pycu2c.passes.resumable import resumable
from pycu2c.passes.thread_loops import place_threads


def threads_as_code(module: Module, facts: Facts) -> Module:
    """Turn the kernel from a thread's code into what runs all threads of a block."""
    if _come_together(module.kernel.body):
        return place_threads(module, facts)
    return resumable(module)


def _come_together(body: Body) -> bool:
    if any(isinstance(s, For | While) and spins(s) for s in statements(body)):
        return False
    return all(wait.meeting is Meeting.BLOCK for wait in waits_in(body))
