"""Tests with Ray: not collected where it is not installed, except where CI is set."""

from __future__ import annotations

import os

from support.frameworks import is_tested

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
collect_ignore_glob = [] if is_tested("ray") else ["test_*.py"]
