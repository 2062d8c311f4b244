"""The chain from source to text: build, the target's passes, emit. Each step is verified."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pycu2c.emit.emit import emit
from pycu2c.emit.statements import Comments
from pycu2c.frontend.build import Built, build
from pycu2c.ir.effects import written_arguments
from pycu2c.ir.nodes import Module, Parameter
from pycu2c.ir.verifier import verified
from pycu2c.passes.grid_index import recognise_grid
from pycu2c.passes.ranges import Facts
from pycu2c.source import Source
from pycu2c.targets import Target
from pycu2c.types import Signature


@dataclass(frozen=True, slots=True)
class Generated:
    """A kernel as text for one target, with what a launch needs to know of it."""

    text: str
    entry: str
    parameters: tuple[Parameter, ...]
    written: frozenset[int]  # positions of arguments that are arrays it may write


def build_module(source: Source, signature: Signature) -> Built:
    """Python to typed IR. Raises CompileError."""
    built = build(source, signature)
    module = verified(recognise_grid(verified(built.module, "build")), "recognise_grid")
    return replace(built, module=module)


def lower(module: Module, target: Target, facts: Facts) -> Module:
    """The target's passes, one after the other."""
    known = facts if target.uses_facts else Facts()
    for name, run in target.passes:
        module = verified(run(module, known), name)
    return module


def generate(
    module: Module, target: Target, facts: Facts, comments: Comments = "none"
) -> Generated:
    """Typed IR to the text of a target."""
    lowered = lower(module, target, facts)
    emitted = emit(lowered, target.dialect, comments)
    written = written_arguments(module)
    return Generated(emitted.text, emitted.entry, lowered.kernel.parameters, written)
