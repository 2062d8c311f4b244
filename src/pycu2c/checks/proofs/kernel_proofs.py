"""What is proved of a kernel before it is instrumented, so that less of it needs checks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set

from pycu2c.analysis.ranges.range_analysis import Ranges
from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.base.records import dataclass
from pycu2c.checks import block_order
from pycu2c.checks.barrier_skips import BARRIER_EFFECTS, BarrierBits, find_skips
from pycu2c.checks.call_chains import CallChains
from pycu2c.checks.proofs.block_execution.evaluator import BlockLaunch, Logs
from pycu2c.checks.proofs.block_execution.interpreter import logs_of_block
from pycu2c.checks.proofs.conflict_analysis import arrays_without_conflicts
from pycu2c.checks.proofs.convergence import convergent_operations, has_mask
from pycu2c.checks.waiting import may_wait
from pycu2c.declarations.options import CheckGroup
from pycu2c.ir import nodes as ir
from pycu2c.ir import walk

ArrayKey = tuple[str, str]  # the names of the function and the array


@dataclass(frozen=True, slots=True)
class Proofs:
    """The proofs for a launch.

    convergent: the operations at which no thread waits alone. disjoint: the arguments of which no
    two threads access one element. race_free: the shared and local arrays without races.
    initialized: those of them whose elements are written before they are read. skips: where threads
    may go past barriers, or operations of the warp, at which others wait.
    """

    convergent: Set[ir.Apply]
    are_barriers_convergent: bool
    skips: BarrierBits
    disjoint: Set[str] = frozenset()
    race_free: Set[ArrayKey] = frozenset()
    initialized: Set[ArrayKey] = frozenset()

    def covers(self, groups: Set[CheckGroup], array: ArrayKey) -> bool:
        """Return whether an array needs no check of these groups."""
        is_race_free = "race" not in groups or array in self.race_free
        return is_race_free and ("init" not in groups or array in self.initialized)


def prove(
    chains: CallChains,
    ranges: Mapping[str, Ranges],
    assumptions: LaunchAssumptions,
    shared_bytes: int,
    wraparound: bool,
) -> Proofs:
    """Return what is proved of a kernel whose device functions have one caller each.

    shared_bytes: of dynamic shared memory.
    """
    module, grid, block = chains.module, assumptions.grid, assumptions.block
    convergent = convergent_operations(module, chains.calls.keys(), block)
    barriers = {e for e in _operations(module) if e.intrinsic.effect in BARRIER_EFFECTS}
    are_convergent = barriers <= convergent
    of_warp = {e for e in _operations(module) if has_mask(e)}
    compared = of_warp - convergent if are_convergent else barriers | (of_warp - convergent)
    operations = (e for e in _operations(module) if e in compared)
    skips = find_skips(module, set(chains.calls), block, operations)
    if grid is None or block is None:
        return Proofs(convergent, are_convergent, skips)
    excluded: set[ArrayKey] = set()
    if block_order.needs_block_clocks(module):
        excluded = {
            (f.name, name)
            for f in module.functions
            for name in block_order.synchronizing_arrays(f.body)
        }
    kernel = module.kernel
    disjoint = arrays_without_conflicts(module, ranges[kernel.name], grid, block)
    logs: Logs = {}
    if are_convergent and _allocates(module) and not module.cluster:
        logs = logs_of_block(
            module,
            chains.calls.keys(),
            ranges,
            BlockLaunch(grid, block, shared_bytes),
            wraparound,
        )
    race_free = {key for key, log in logs.items() if not log.has_conflict} - excluded
    return Proofs(
        convergent,
        are_convergent,
        skips,
        {name for name in disjoint if (kernel.name, name) not in excluded},
        race_free,
        {key for key in race_free if not logs[key].has_unwritten},
    )


def may_wait_alone(module: ir.Module, proofs: Proofs) -> bool:
    """Return whether an operation may wait for threads that do not reach it."""
    return any(may_wait(e) and e not in proofs.convergent for e in _operations(module))


def _operations(module: ir.Module) -> Iterator[ir.Apply]:
    expressions = (e for f in module.functions for e in walk.all_expressions(f.body))
    return (e for e in expressions if isinstance(e, ir.Apply))


def _allocates(module: ir.Module) -> bool:
    return any(walk.contains(f.body, ir.Allocate) for f in module.functions)
