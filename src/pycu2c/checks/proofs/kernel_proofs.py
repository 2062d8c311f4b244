"""Prove that parts of a kernel need no checks, before it is instrumented."""

from __future__ import annotations

from collections.abc import Mapping, Set

from pycu2c.analysis.ranges.range_analysis import Ranges
from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.base.records import dataclass
from pycu2c.checks import block_synchronization
from pycu2c.checks.barrier_skips import BARRIER_EFFECTS, BarrierBits, find_skips
from pycu2c.checks.function_cloning import ClonedModule
from pycu2c.checks.proofs.abstract_interpretation.evaluator import BlockLaunch, Logs
from pycu2c.checks.proofs.abstract_interpretation.interpreter import interpret_block
from pycu2c.checks.proofs.conflict_analysis import arrays_without_conflicts
from pycu2c.checks.proofs.convergence import convergent_operations, has_mask, may_wait
from pycu2c.declarations.options import CheckGroup
from pycu2c.ir import nodes as ir
from pycu2c.ir import walk

ArrayKey = tuple[str, str]  # the names of the function and the array


@dataclass(frozen=True, slots=True)
class Proofs:
    """What is proved of a kernel for a launch.

    convergent: the operations that all threads of their scope reach. skips: where threads may skip
    the others. disjoint: the arguments of which no two threads access one element. race_free: the
    shared and local arrays without races. initialized: those of them whose elements are written
    before they are read.
    """

    convergent: Set[ir.Apply]
    are_barriers_convergent: bool
    skips: BarrierBits
    disjoint: Set[str] = frozenset()
    race_free: Set[ArrayKey] = frozenset()
    initialized: Set[ArrayKey] = frozenset()

    def exempts(self, groups: Set[CheckGroup], array: ArrayKey) -> bool:
        """Return whether an array needs no check of these groups."""
        is_race_free = "race" not in groups or array in self.race_free
        return is_race_free and ("init" not in groups or array in self.initialized)


def prove(
    cloned: ClonedModule,
    ranges: Mapping[str, Ranges],
    assumptions: LaunchAssumptions,
    shared_bytes: int,
    wraparound: bool,
) -> Proofs:
    """Return the proofs for a kernel whose device functions have one caller each.

    shared_bytes: of dynamic shared memory.
    """
    module, grid, block = cloned.module, assumptions.grid, assumptions.block
    convergent = convergent_operations(module, cloned.calls.keys(), block)
    operations = list(walk.operations(module.functions))
    barriers = {e for e in operations if e.intrinsic.effect in BARRIER_EFFECTS}
    are_convergent = barriers <= convergent
    skippable = {e for e in operations if has_mask(e)} - convergent
    if not are_convergent:
        skippable |= barriers
    bits = (e for e in operations if e in skippable)
    skips = find_skips(module, set(cloned.calls), block, bits)
    if grid is None or block is None:
        return Proofs(convergent, are_convergent, skips)
    excluded: set[ArrayKey] = set()
    if block_synchronization.needs_block_clocks(module):
        excluded = {
            (f.name, name)
            for f in module.functions
            for name in block_synchronization.atomically_accessed_arrays(f.body)
        }
    kernel = module.kernel
    disjoint = arrays_without_conflicts(module, ranges[kernel.name], grid, block)
    logs: Logs = {}
    if are_convergent and _allocates(module) and not module.cluster:
        launch = BlockLaunch(grid, block, shared_bytes)
        logs = interpret_block(module, cloned.calls.keys(), ranges, launch, wraparound)
    race_free = {key for key, log in logs.items() if not log.has_conflict} - excluded
    return Proofs(
        convergent,
        are_convergent,
        skips,
        {name for name in disjoint if (kernel.name, name) not in excluded},
        race_free,
        {key for key in race_free if not logs[key].has_unwritten},
    )


def has_divergent_waits(module: ir.Module, proofs: Proofs) -> bool:
    """Return whether an operation may wait for threads that do not reach it."""
    waits = filter(may_wait, walk.operations(module.functions))
    return not all(e in proofs.convergent for e in waits)


def _allocates(module: ir.Module) -> bool:
    return any(walk.contains(f.body, ir.Allocate) for f in module.functions)
