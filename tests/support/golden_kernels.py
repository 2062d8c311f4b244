"""Golden kernels: the kernels of ``golden/``, their variants and launches."""

from __future__ import annotations

import functools
import importlib.util
import warnings
from types import ModuleType

import numpy as np

from pycu2c import CompileWarning, pipeline
from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.declarations.signatures import parse_signature
from pycu2c.ir.nodes import Module
from pycu2c.kernels.kernel import Kernel
from pycu2c.runtime.launch_configuration import extent
from support.paths import ROOT

GOLDEN = ROOT / "golden"
NAMES = sorted(p.parent.name for p in GOLDEN.glob("*/kernel.py"))


@functools.cache
def module_of(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"golden_{name}", GOLDEN / name / "kernel.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def kernel_of(name: str) -> Kernel:
    (kernel,) = (v for v in vars(module_of(name)).values() if isinstance(v, Kernel))
    return kernel


CASES = [(name, variant) for name in NAMES for variant in module_of(name).SIGNATURES]


def block_of(name: str, variant: str) -> object:
    """Return the block shape of a case."""
    return module_of(name).case(np.random.default_rng(1), variant)[1]


def built_for_cpu(name: str, variant: str) -> tuple[Module, pipeline.Target, LaunchAssumptions]:
    """Return a kernel as the input of the passes for the CPU."""
    kernel = kernel_of(name)
    shape = extent(block_of(name, variant), "block", name)
    assumptions = LaunchAssumptions(index32_safe=True, block=shape)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompileWarning)
        built = kernel.launcher.compiler.build(parse_signature(module_of(name).SIGNATURES[variant]))
    return built.module, pipeline.TARGETS["cpu"], assumptions
