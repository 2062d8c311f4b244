"""Looking inside: PTX and SASS with lines of Python, what a kernel takes of a GPU, and the options
that limit it."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from pycu2c import LaunchError, cuda, device, kernel
from pycu2c.declarations.options import OptionError
from pycu2c.declarations.signatures import parse_signature
from pycu2c.kernels.kernel import Kernel
from pycu2c.toolchain.cc import cc
from pycu2c.toolchain.nvrtc import disassembly, nvrtc
from pycu2c.toolchain.toolchain_errors import ToolchainError
from support.launching import run

TABLE = np.arange(64, dtype=np.float32)
HERE = Path(__file__).name
SOURCE = Path(__file__).read_text().splitlines()


@device
def element(x, i):
    return x[i]  # in a function


@kernel(lineinfo=True)
def stepwise(x, y):
    i = cuda.grid(1)
    if i >= len(x):
        return
    s = np.float32(0)
    for k in range(3):
        s += element(x, (i * k) % 6)  # a sum
    y[i] = s  # the store


TYPES = "float32[::1], float32[::1]"


def line_with(text: str) -> int:
    (result,) = (n for n, line in enumerate(SOURCE, start=1) if line.endswith(f"  # {text}"))
    return result


# ---- lines of Python ---------------------------------------------------------------------------


def lines_of(listing: str, instruction: str) -> set[int]:
    """The lines that instructions of a name are from: of a function, and where it is called."""
    result, said, over = set(), set(), True
    for text in listing.splitlines():
        place = re.search(rf"// {HERE}:(\d+)", text)
        if place:
            said = {int(place[1])} | (set() if over else said)
        over = not place
        if instruction in text:
            result |= said
    return result


@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_sass_says_which_line_an_instruction_is_from(arch):
    listing = stepwise.inspect("sass", TYPES, arch=arch)
    assert lines_of(listing, "STG.E") == {line_with("the store")}
    assert lines_of(listing, "LDG.E") == {line_with("in a function"), line_with("a sum")}
    assert f"{HERE}:{line_with('the store')}: y[i] = s" in listing


def test_ptx_has_lines_and_the_architecture():
    text = stepwise.inspect("ptx", TYPES, arch="sm_80")
    assert ".target sm_80" in text
    assert f".loc\t1 {line_with('the store')} " in text or f" {line_with('the store')} " in text


def test_the_text_that_users_see_has_no_lines():
    assert "#line" not in stepwise.inspect("cuda", TYPES)
    assert "#line" not in stepwise.inspect("c", TYPES)


def test_compiled_code_has_lines_only_if_asked():
    made = stepwise.launcher.compiler.generate("cuda", parse_signature(TYPES), "lines")
    raised = nvrtc.compile(made.text, made.entry, "sm_90", options=stepwise.options, cache=False)
    silent = nvrtc.compile(made.text, made.entry, "sm_90", cache=False)
    assert b".debug_line" in raised.data
    assert b".debug_line" not in silent.data


def test_c_has_lines_for_debuggers():
    made = stepwise.launcher.compiler.generate("cpu", parse_signature(TYPES), "lines")
    raised = cc.compile(made.text, made.entry, options=stepwise.options, cache=False)
    assert HERE.encode() in raised.data
    assert HERE.encode() not in cc.compile(made.text, made.entry, cache=False).data


def test_a_kernel_with_lines_runs(target):
    x, y = np.arange(6, dtype=np.float32), np.zeros(6, np.float32)
    _, y = run(stepwise, (2, 4), (x, y), target)
    np.testing.assert_array_equal(y, [0, 3, 6, 3, 6, 9])


@pytest.mark.parametrize(("said", "expected"), [("1", True), ("0", False)])
def test_the_environment_asks_for_lines(monkeypatch, said, expected):
    monkeypatch.setenv("PYCU2C_LINEINFO", said)
    assert kernel(stepwise.python).options.lineinfo is expected
    assert kernel(lineinfo=False)(stepwise.python).options.lineinfo is False


def test_without_nvdisasm_it_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr(disassembly, "_packaged_nvdisasm", lambda: None)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ToolchainError, match=r"pip install 'pycu2c\[sass\]'"):
        stepwise.inspect("sass", TYPES)


def test_values_that_are_no_cubin():
    with pytest.raises(ToolchainError, match="nvdisasm failed"):
        disassembly.disassemble(b"no cubin")


def test_there_is_no_such_language():
    with pytest.raises(ValueError, match="one of cuda, c, c-resumable, ptx, sass or ir"):
        stepwise.inspect("asm", TYPES)


# ---- what a kernel takes -----------------------------------------------------------------------


@kernel
def takes_much(x, y, n):
    tile = cuda.shared.array(100, np.float32)
    own = cuda.local.array(32, np.float32)
    i = cuda.threadIdx.x
    tile[i] = x[i]
    cuda.syncthreads()
    for k in range(32):
        own[(k * n) % 32] = tile[(i + k) % 100]
    y[i] = own[n % 32] + TABLE[n % 64]


def test_attributes():
    result = takes_much.attributes("float32[::1], float32[::1], int32", arch="sm_80")
    assert result.arch == "sm_80"
    assert 8 <= result.registers <= 64
    assert result.shared_bytes == 400
    assert result.local_bytes >= 128
    assert result.const_bytes == 256
    assert result.spill_bytes == 0
    assert result.max_threads == 1024


def with_many_live(**options: object) -> Kernel:
    @kernel(**options)
    def sums(x, y):
        i = cuda.grid(1)
        a, b, c, d = x[i], x[i + 1], x[i + 2], x[i + 3]
        e, f, g, h = x[i + 4], x[i + 5], x[i + 6], x[i + 7]
        for _ in range(100):
            a, b, c, d = a * b + h, b * c + g, c * d + f, d * a + e
            e, f, g, h = e * a + h, f * b + d, g * c + b, h * d + a
        y[i] = a + b + c + d + e + f + g + h

    return sums


def test_registers_can_be_limited():
    types = "float64[::1], float64[::1]"
    free = with_many_live().attributes(types, "sm_90")
    tight = with_many_live(max_registers=24).attributes(types, "sm_90")
    assert free.registers > 24 >= tight.registers
    assert free.spill_bytes == 0 < tight.spill_bytes


def test_many_registers_mean_smaller_blocks():
    types = "float64[::1], float64[::1]"
    bounded = with_many_live(launch_bounds=(512, 2)).attributes(types, "sm_90")
    assert bounded.max_threads == 512


# ---- launch bounds -----------------------------------------------------------------------------


@kernel(launch_bounds=(64, 4))
def bounded(x):
    x[cuda.grid(1)] += 1


def test_launch_bounds_are_in_the_text():
    assert "__launch_bounds__(64, 4)" in bounded.inspect("cuda", "int32[::1]")
    assert "__launch_bounds__" not in bounded.inspect("c", "int32[::1]")


def test_launches_keep_within_the_bounds(target):
    x = np.zeros(64, np.int32)
    assert run(bounded, (1, 64), (x,), target)[0].all()
    with pytest.raises(LaunchError, match="a block has 65 threads, and launch_bounds says at most"):
        run(bounded, (1, 65), (x,), target)


def test_a_declared_block_keeps_within_the_bounds():
    with pytest.raises(LaunchError, match="launch_bounds says at most 32"):

        @kernel(block=64, launch_bounds=32)
        def nothing(x):
            pass


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"launch_bounds": 0}, "launch_bounds is the most threads"),
        ({"launch_bounds": 2048}, "up to 1024"),
        ({"launch_bounds": (64, 2, 1)}, "launch_bounds is"),
        ({"launch_bounds": "64"}, "not '64'"),
        ({"max_registers": 8}, "max_registers is a number from 16 to 255, not 8"),
        ({"max_registers": 32.0}, "not 32.0"),
        ({"lineinfo": 1}, "lineinfo is True or False, not 1"),
    ],
)
def test_mistakes_in_limits(arguments, message):
    with pytest.raises(OptionError, match=message):
        kernel(**arguments)(lambda: None)
