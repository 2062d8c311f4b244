"""The README's kernel becomes the CUDA C that the README shows."""

from __future__ import annotations

import re
from pathlib import Path

from support.kernels_from_text import module_from

README = (Path(__file__).parent.parent / "README.md").read_text()


def test_the_cuda_that_is_shown(tmp_path: Path) -> None:
    python, cuda = (
        re.search(rf"```{kind}\n(.*?)```", README, re.S)[1] for kind in ("python", "cuda")
    )
    kernel = module_from(python, tmp_path).reduce_sum
    assert kernel.inspect("cuda") == cuda


def test_the_two_commands_are_targets() -> None:
    makefile = (Path(__file__).parent.parent / "Makefile").read_text()
    for command in re.findall(r"^\$ make (\w+)", README, re.M):
        assert f"\n{command}:" in makefile
