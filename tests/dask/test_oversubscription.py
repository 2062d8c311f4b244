"""The benchmark of workers that share the cores runs; its times are not tested."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "oversubscription.py"


def test_the_ratios_and_the_costs() -> None:
    ran = subprocess.run(
        [sys.executable, BENCHMARK, "--workers", "2", "--rounds", "1", "--small"],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    assert len(re.findall(r": 2 workers take \d+\.\d\d ×", ran.stdout)) == 2
    assert len(re.findall(r"^a .*: \d+\.\d µs$", ran.stdout, re.M)) == 5
