"""The thread pool and generated kernels under gcc's sanitizers."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from pycu2c import cuda, int64, kernel
from pycu2c.declarations.signatures import parse_signature
from pycu2c.kernels.kernel import Kernel
from pycu2c.kernels.specialization import generate_text
from pycu2c.runtime.cpu import coroutine_scheduler, cpu_kernel
from support.c_compilers import needed
from support.golden_programs import write_program

SANITIZERS = ("thread", "address,undefined")


@pytest.fixture(params=SANITIZERS)
def gcc(request: pytest.FixtureRequest, tmp_path: Path) -> list[str]:
    """gcc with a sanitizer that works here: some have trouble with some kernels of Linux."""
    command = shutil.which("gcc")
    needed(command, "gcc")
    flags = [f"-fsanitize={request.param}", "-fno-sanitize-recover=all", "-O1", "-g", "-pthread"]
    trivial = tmp_path / "trivial.c"
    trivial.write_text("int main(void) { return 0; }\n")
    words = [str(command), "-std=gnu11", "-fwrapv", *flags]
    works = subprocess.run([*words, trivial, "-o", tmp_path / "trivial"], capture_output=True)
    needed(
        works.returncode == 0 and subprocess.run([tmp_path / "trivial"]).returncode == 0,
        f"a gcc whose -fsanitize={request.param} works",
    )
    return words


def output(words: list[object], program: list[object], folder: Path) -> str:
    """Of a program that is built and run; a sanitizer that finds something ends it."""
    built = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    assert (built.returncode, built.stderr) == (0, "")
    killed = ["timeout", "--signal=KILL", "120", *program]  # a watched program may ignore others
    # bodies are left from a signal's handler by design; the watcher takes what is done after that
    # to be done in the handler
    quiet = {**os.environ, "TSAN_OPTIONS": "report_signal_unsafe=0"}
    ran = subprocess.run(killed, cwd=folder, capture_output=True, text=True, env=quiet)
    assert (ran.returncode, ran.stderr) == (0, ""), ran.stdout
    return ran.stdout


def test_the_pool(gcc: list[str], tmp_path: Path) -> None:
    (tmp_path / "pool.c").write_text(cpu_kernel.pool_text())
    words = [*gcc, Path(__file__).with_name("thread_pool_check.c"), "pool.c", "-o", "check"]
    assert output(words, ["./check", "5"], tmp_path) == "ok\n"


INTERRUPTED = """
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

static jmp_buf start_of_launch;
static int allocations = 0;
static void *interrupted_aligned_alloc(size_t alignment, size_t size) {
    if (++allocations == 2) longjmp(start_of_launch, 1);  /* as interrupt.c does it */
    return aligned_alloc(alignment, size);
}
#define aligned_alloc interrupted_aligned_alloc
"""
MEMORY_OF_LAUNCHES = """
int main(void) {
    worker_memory(64);
    if (!setjmp(start_of_launch)) worker_memory(128);
    char *memory = worker_memory(256);
    memory[255] = 1;
    free(memory);
    printf("ok\\n");
    return 0;
}
"""


def test_a_launch_is_interrupted_while_a_worker_allocates(gcc: list[str], tmp_path: Path) -> None:
    """The next launch freed the memory again."""
    text = INTERRUPTED + coroutine_scheduler.scheduler_text() + MEMORY_OF_LAUNCHES
    (tmp_path / "check.c").write_text(text)
    assert output([*gcc, "check.c", "-o", "check"], ["./check"], tmp_path) == "ok\n"


def test_kernels(gcc: list[str], tmp_path: Path) -> None:
    files, data = write_program(tmp_path)
    result = output([*gcc, *files, "-o", "program", "-lm"], ["./program", data], tmp_path)
    assert result.endswith(" kernels\n")


@kernel(cluster=(2, 2))
def every_wait(ticket, out):
    given = cuda.shared.array(1, int64)
    cluster = cuda.cg.this_cluster()
    t = cuda.threadIdx.x
    b = cuda.blockIdx.x + cuda.gridDim.x * (cuda.blockIdx.y + 2 * cuda.blockIdx.z)
    x = 1
    if cuda.laneid < 16:
        x = cuda.shfl_sync(0xFFFF, x, 0)
    elif cuda.activemask() == 0:
        x = 2
    cuda.cg.this_grid().sync()
    if t == 0:
        while cuda.atomic.add(ticket, 0, 0) != b:
            pass
        cuda.atomic.add(ticket, 0, 1)
    count = cuda.syncthreads_count(x == 1)
    if t == 0:
        cluster.map_shared_rank(given, cluster.block_rank() ^ 3)[0] = count
    cluster.sync()
    if t == 0:
        cuda.atomic.add(out, 0, given[0])


@kernel(cluster=(2, 1, 2))
def clusters_alone(ticket, out):
    """Their blocks wait for each other, and for no others."""
    counts = cuda.shared.array(0, int64)
    cluster = cuda.cg.this_cluster()
    rank, t = cluster.block_rank(), cuda.threadIdx.x
    counts[t] = 0
    cluster.sync()
    theirs = cluster.map_shared_rank(counts, rank // 2 * 2)
    cuda.atomic.add(theirs, -1, 1)
    cluster.sync()
    if t == 0:
        cuda.atomic.add(ticket, 0, 1)
        cuda.atomic.add(out, 0, counts[-1])


@pytest.mark.parametrize("checked", [every_wait, clusters_alone], ids=lambda k: k.name)
def test_the_scheduler(gcc: list[str], tmp_path: Path, checked: Kernel) -> None:
    built = checked.launcher.compiler.build(parse_signature("int64[::1], int64[::1]"))
    text = generate_text(built, "cpu").text.replace(checked.name, "every_wait")
    assert "_step(" in text
    (tmp_path / "kernel.c").write_text(
        text + Path(__file__).with_name("coroutines_check.c").read_text()
    )
    (tmp_path / "scheduler.c").write_text(coroutine_scheduler.scheduler_text())
    (tmp_path / "pool.c").write_text(cpu_kernel.pool_text())
    words = [*gcc, "kernel.c", "scheduler.c", "pool.c", "-o", "check", "-lm"]
    assert output(words, ["./check"], tmp_path) == "ok\n"
