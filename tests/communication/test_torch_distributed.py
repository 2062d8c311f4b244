"""The examples of torch.distributed with two processes: NCCL on two GPUs, Gloo without a GPU."""

from __future__ import annotations

import sys

import pytest

from pycu2c.cuda_driver import driver
from support.example_programs import EXAMPLES, output_of

if driver.available() and not driver.has_multiple_devices():
    pytest.skip("needs two GPUs, or none", allow_module_level=True)

EXAMPLE_ARGUMENTS = {
    "heat_nccl.py": ["--rows", "70", "--columns", "90", "--steps", "7"],
    "k_means_nccl.py": ["--points", "5000", "--steps", "4"],
}


@pytest.mark.parametrize("example", EXAMPLE_ARGUMENTS)
def test_two_processes_have_the_result_of_one(example: str) -> None:
    launcher = sys.executable, "-m", "torch.distributed.run", "--standalone"  # at a free port
    program = EXAMPLES / example, *EXAMPLE_ARGUMENTS[example]
    assert "equal" in output_of(*launcher, "--nproc-per-node", "2", *program)
