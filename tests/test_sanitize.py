"""What `make sanitize` reads from the logs of compute-sanitizer."""

from __future__ import annotations

import sanitize

LOG = """\
========= COMPUTE-SANITIZER
========= Invalid __global__ read of size 2 bytes
=========     at k+0x1290
=========     by thread (32,0,0) in block (8,0,0)
=========         Host Frame: run at launching.py+0x10
=========
========= Invalid __global__ read of size 2 bytes
=========     at k+0x1380
=========
========= Error: Race reported between Read access at maker+0xc70
=========     and Write access at maker+0xd60 [128 hazards]
=========     and Write access at maker+0xf60 [128 hazards]
=========
========= ERROR SUMMARY: 3 errors
"""


def test_findings_are_counted_by_kernel() -> None:
    assert sanitize.findings(LOG) == {
        "Invalid __global__ read of size 2 bytes: k": 2,
        "Error: Race reported between Read access: maker": 1,
    }


def test_kernels_that_a_tool_misunderstands_are_left_out() -> None:
    words = sanitize.command("racecheck", 3, ["tests"])
    left_out = [words[i + 1] for i, word in enumerate(words) if word == "--kernel-name-exclude"]
    assert left_out == [f"kernel_name={name}" for name in sanitize.LEFT_OUT["racecheck"]]
    assert "--kernel-name-exclude" not in sanitize.command("memcheck", 3, ["tests"])


def test_races_and_barriers_are_sought_where_threads_meet() -> None:
    files = {sanitize.Path(name).name for name in sanitize.tests_for("racecheck")}
    assert {"test_block_memory.py", "test_battery.py", "test_goldens.py"} < files
    assert "test_arithmetic.py" not in files


def test_they_are_kernels_of_the_tests() -> None:
    files = (sanitize.Path(__file__).parent).rglob("*.py")
    text = "".join(file.read_text() for file in files if file.name != "sanitize.py")
    for names in sanitize.LEFT_OUT.values():
        for name in names:
            assert f"def {name}(" in text
