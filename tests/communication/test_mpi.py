"""Halos in messages of MPI: device arrays themselves, and copies on the host."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from pycu2c.cuda_driver import driver
from support.example_programs import output_of

PROGRAM = Path(__file__).with_name("mpi_heat.py")
METHODS = ["staged"] if driver.available() else ["staged", "direct"]  # MPI must be CUDA-aware


def launcher() -> list[str]:
    """Return the command that starts two processes, preferably of the MPI of this environment."""
    own = shutil.which("mpiexec", path=str(Path(sys.executable).parent))
    if own is not None:
        return [own, "-n", "2"]
    return ["mpiexec", "--allow-run-as-root", "--oversubscribe", "-n", "2"]  # Open MPI


@pytest.mark.parametrize("method", METHODS)
def test_two_processes_have_the_result_of_one(method: str) -> None:
    assert output_of(*launcher(), sys.executable, PROGRAM, method) == "checked: 2 processes\n"
