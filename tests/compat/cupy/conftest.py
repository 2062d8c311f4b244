"""The backend of the tests of CuPy's kernels."""

from __future__ import annotations

import pytest

from support.cupy_arrays import BACKENDS


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)
