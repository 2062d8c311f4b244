"""The example of one process with all GPUs; without a GPU, its slabs are in host memory."""

from __future__ import annotations

import sys

from support.example_programs import EXAMPLES, output_of


def test_slabs_have_the_result_of_one_piece() -> None:
    arguments = "--rows", "70", "--columns", "90", "--steps", "7"
    assert "equal" in output_of(sys.executable, EXAMPLES / "heat_peers.py", *arguments)
