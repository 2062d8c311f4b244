"""``pycu2c.cuda.griddepcontrol``: kernels for programmatic dependent launches."""

from __future__ import annotations

import numpy as np

from pycu2c import cuda, kernel
from pycu2c.cuda import griddepcontrol
from support.asynchronous import hopper_code
from support.launching import run


@kernel
def double(values):
    griddepcontrol.launch_dependents()
    griddepcontrol.wait()
    values[cuda.threadIdx.x] *= 2


def test_other_launches_run_the_kernel(target: str) -> None:
    (values,) = run(double, (1, 32), [np.arange(32, dtype=np.float32)], target)
    assert (values == 2 * np.arange(32)).all()


def test_cuda_waits_before_it_reads() -> None:
    text, log = hopper_code(double, np.zeros(1, np.float32))
    instructions = ("griddepcontrol.launch_dependents;", "griddepcontrol.wait;", "values[")
    start, wait, access = map(text.rindex, instructions)
    assert start < wait < access
    assert not log.strip("\0\n ")
