"""Blocks that wait for each other on the CPU: the number of polls, and interruption."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from pycu2c import cuda, kernel
from pycu2c.declarations.signatures import parse_signature
from pycu2c.kernels.specialization import generate_text
from pycu2c.runtime.cpu import coroutine_scheduler
from support.c_compilers import needed
from support.pool_kernels import run_script


@kernel
def waits_for_one(flags, out):
    b = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        while cuda.atomic.add(flags, b, 0) == 0:
            pass
        out[b + 1] = out[b] + 1
        cuda.threadfence()
        cuda.atomic.add(flags, b + 1, 1)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("parking")
    gcc = shutil.which("gcc")
    needed(gcc, "gcc")
    built = waits_for_one.launcher.compiler.build(parse_signature("int64[::1], int64[::1]"))
    check = Path(__file__).with_name("block_scheduler_check.c").read_text()
    (folder / "kernel.c").write_text(generate_text(built, "cpu").text + check)
    (folder / "scheduler.c").write_text(coroutine_scheduler.scheduler_text())
    words = [str(gcc), "-std=gnu11", "-O1", "kernel.c", "scheduler.c", "-o", "check", "-lm"]
    ran = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")
    return folder / "check"


@pytest.mark.parametrize(("order", "most"), [("forward", 0), ("backward", 10), ("shuffled", 10)])
def test_waiting_blocks_are_polled_rarely(program: Path, order: str, most: float) -> None:
    """Also if they begin in another order than that in which they wait, as on OS threads of which
    some have no core for a while."""
    words = ["timeout", "--signal=KILL", "60", program, order]
    ran = subprocess.run(words, capture_output=True, text=True, check=True)
    assert float(ran.stdout) <= most


@kernel(backend="cpu")
def wait_for_first(flag, rounds):
    if cuda.blockIdx.x == 0:
        i = 0
        while i < rounds:
            i += 1
            if i * i == -7:
                flag[1] = i
        cuda.threadfence()
        cuda.atomic.add(flag, 0, 1)
    elif cuda.threadIdx.x == 0:
        while cuda.atomic.add(flag, 0, 0) == 0:
            pass


@pytest.mark.usefixtures("sigint_not_ignored")
def test_ctrl_c_ends_a_launch_in_which_all_but_one_wait() -> None:
    """Their OS threads sleep most of the time, and are called out all the same."""
    text = """
    from runtime.cpu.test_block_scheduler import wait_for_first
    flag = np.zeros(2, np.int64)
    wait_for_first[500, 32](flag, 10)
    flag[0] = 0
    for _ in range(3):
        try:
            send_soon(after=0.2)
            wait_for_first[500, 32](flag, 1 << 60)
        except KeyboardInterrupt:
            print("interrupted")
    """
    assert run_script(text, PYCU2C_THREADS="4").split() == ["interrupted"] * 3
