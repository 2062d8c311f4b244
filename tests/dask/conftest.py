"""Tests with Dask: not collected where it is not installed, except where CI is set."""

from __future__ import annotations

from support.frameworks import is_tested

collect_ignore_glob = [] if is_tested("distributed") else ["test_*.py"]
