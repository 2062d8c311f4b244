"""Run programs of several processes that use the examples for clusters."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "cluster"


def output_of(*command: str | Path) -> str:
    """Run a program, and return what it prints."""
    paths = [str(ROOT / "src"), str(EXAMPLES), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
    result = subprocess.run(command, env=environment, text=True, capture_output=True, timeout=300)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout
