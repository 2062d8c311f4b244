"""The script that measures checks on Indigo rewrites C kernels, and counts what is found."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from peers import indigo

# a kernel in the form of the suite's files
TEXT = """
__global__ void test_kernel(int* nindex, int* nlist, data_t* data1, data_t* data2, int numv)
{
  int v = threadIdx.x + blockIdx.x * blockDim.x;
  if (v < numv) {
    for (int k = nindex[v]; k < nindex[v + 1]; k++) {
      atomicAdd(&data1[nlist[k]], (data_t)1); // here
    }
  }
}
void serial_code(int* nindex) {}
"""
LOST_UPDATE = TEXT.replace("atomicAdd(&data1[nlist[k]], (data_t)1);", "data1[nlist[k]]++;")
NO_GUARD = TEXT.replace("v < numv", "v >= 0")


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("count", TEXT, set()),
        ("count_atomicBug", LOST_UPDATE, {"race"}),
        ("count_boundsBug", NO_GUARD, {"out-of-bounds"}),
    ],
)
def test_a_bug_is_found(name: str, text: str, found: set[str], tmp_path: Path) -> None:
    results = indigo.judge(name, indigo.python_text(text), tmp_path)
    assert {kind for kind, _, is_found in results if is_found} == found
    assert all(has_bug == is_found for _, has_bug, is_found in results)


@pytest.mark.skipif("PYCU2C_INDIGO" not in os.environ, reason="needs a checkout of Indigo")
def test_all_bugs_of_a_pattern_are_found(capsys: pytest.CaptureFixture[str]) -> None:
    indigo.main([os.environ["PYCU2C_INDIGO"], "path_compression"])
    assert "missed" not in capsys.readouterr().out
