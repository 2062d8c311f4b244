"""Tests of processes that communicate: not collected without the packages, except in CI."""

from __future__ import annotations

from support.frameworks import is_tested

_PACKAGES = {"test_mpi.py": "mpi4py", "test_torch_distributed.py": "torch"}
collect_ignore_glob = [file for file, package in _PACKAGES.items() if not is_tested(package)]
