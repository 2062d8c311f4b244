"""Run kernels on a target, on copies of the arguments."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from pycu2c.analysis.uniformity import Uniformity
from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.cuda_driver import driver
from pycu2c.ir.forms import WORK_ITEM_LOOPS
from pycu2c.ir.nodes import Allocate, BarrierWait, Body, For, Module, Print, Stmt, While
from pycu2c.ir.walk import bodies, map_functions, statements
from pycu2c.kernels.kernel import Kernel
from pycu2c.pipeline import TARGETS
from pycu2c.runtime.cuda import memory_pool
from pycu2c.transforms.analyses import Analyses, Inputs, LoopSelector
from pycu2c.transforms.cpu.simd.divergent_loops import divergent_loops
from pycu2c.transforms.cpu.simd.scalar_replacement import replace_in_body
from pycu2c.transforms.pass_contract import always
from support.ast_interpreter.backend import oracle

_CPU = TARGETS["cpu"]


def every_divergent_loop(body: Body, facts: Uniformity) -> set[Stmt]:
    """Return the outermost loops that may be strip-mined, whether that pays or not."""
    result: set[Stmt] = set()
    for s in body:
        if isinstance(s, While | For) and s in facts.divergent and not has_order((s,)):
            result.add(s)
        else:
            result |= {x for inner in bodies(s) for x in every_divergent_loop(inner, facts)}
    return result


def has_order(body: Body) -> bool:
    return any(isinstance(s, BarrierWait | Print | Allocate) for s in statements(body))


def in_parts_everywhere(module: Module) -> Module:
    return map_functions(module, lambda f: replace_in_body(f, f.body))


def no_loop(body: Body, facts: Uniformity) -> set[Stmt]:
    return set()


def lower_to_work_item_loops(
    module: Module, assumptions: LaunchAssumptions, choose: LoopSelector = divergent_loops
) -> Module:
    """Run the passes that make work-item loops; ``choose`` returns the loops to strip-mine."""
    names = [step.name for step in _CPU.passes]
    first, last = names.index("copy_parameters"), names.index("loop_fission")
    analyses = Analyses(module, Inputs(assumptions, strip_mine=choose))
    for step in _CPU.passes[first : last + 1]:
        if step.when(analyses):
            analyses.replace_module(step.run(analyses))
            if step.produces is WORK_ITEM_LOOPS:
                break
    return analyses.module


# the CPU pipeline with the narrowing pass of CUDA, to test that pass without a GPU. Loops are not
# strip-mined, because the counters of inactive lanes would overflow.
NARROWED = replace(
    _CPU,
    passes=(
        *(step for step in TARGETS["cuda"].passes if step.name == "narrow_integers"),
        *_CPU.passes,
    ),
    narrow_ints=True,
    strip_mine=no_loop,
)
# the CPU pipeline that strip-mines every divergent loop, whether that pays or not
IN_STRIPS = replace(
    _CPU,
    passes=tuple(
        replace(step, function=in_parts_everywhere, when=always)
        if step.name == "scalar_replacement"
        else step
        for step in _CPU.passes
    ),
    strip_mine=every_divergent_loop,
)


def copied(argument: Any) -> Any:
    """Return a copy with the same strides, which is a view of a copy of the base array."""
    if not isinstance(argument, np.ndarray):
        return argument
    base = argument
    while isinstance(base.base, np.ndarray):
        base = base.base
    new = base.copy(order="K")
    offset = argument.__array_interface__["data"][0] - base.__array_interface__["data"][0]
    flat = new.ravel(order="K").view(np.uint8)  # bfloat16 has no buffer of its own
    return np.ndarray(argument.shape, argument.dtype, flat.data, offset, argument.strides)


def run(kernel: Kernel, configuration: tuple[Any, ...], arguments: Any, target: str) -> list[Any]:
    """Return copies of the arguments after a launch on ``target``, which may be "oracle"."""
    if target == "oracle":
        with oracle():
            return run(kernel, configuration, arguments, "python")
    fresh = type(kernel)(
        kernel.python, backend=target, signature=kernel.signature, options=kernel.options
    )
    inputs = [copied(a) for a in arguments]
    fresh[configuration](*inputs)
    return inputs


def leaks(launch: Callable[[], object], count: int, blocks: int) -> bool:
    """Return whether Python has so many more blocks of memory after ``count`` launches, in each of
    three rounds: other threads may allocate during one."""
    return all(_grown_by(launch, count) >= blocks for _ in range(3))


def _grown_by(launch: Callable[[], object], count: int) -> int:
    launch()
    gc.collect()
    before = sys.getallocatedblocks()
    for _ in range(count):
        launch()
    gc.collect()
    return sys.getallocatedblocks() - before


def in_pool() -> tuple[int, ...]:
    """Return the bytes of the device's pool: in use, and reserved.

    The free memory of the device would also depend on other processes.
    """
    if not driver.available():
        return ()
    its_pool, read = (
        memory_pool.pool_of(driver.current_ordinal()),
        driver.api().cuMemPoolGetAttribute,
    )
    kinds = driver.api().CUmemPool_attribute
    asked = (kinds.CU_MEMPOOL_ATTR_USED_MEM_CURRENT, kinds.CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT)
    return tuple(int(driver.check(read(its_pool, kind), "read the memory pool")) for kind in asked)
