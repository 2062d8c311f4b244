"""The targets that a behaviour is tested on."""

from __future__ import annotations

import pytest

from pycu2c.cuda_driver import driver

ON_GPU = [pytest.param("cuda", marks=pytest.mark.gpu)] if driver.available() else []
TARGETS = ["python", "cpu", "cpu-resumable", *ON_GPU]
