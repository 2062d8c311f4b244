"""Run PyCUDA's tests with pycu2c on the CPU; as a module, stand in for ``pycuda``.

    PYTHONPATH=src python tests/peers/pycuda.py SUITE [FILE …]

SUITE is a checkout of https://github.com/inducer/pycuda, which is only read. FILE is the name of a
test file, such as ``test_driver.py``; by default, all run. The output is that of
``tests/support/peer_suites.py``.

The tests import this file as ``pycuda``; its modules are those of ``pycu2c.pycuda``.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))  # for support

import pycu2c.pycuda
from pycu2c.pycuda import VERSION, VERSION_STATUS, VERSION_TEXT  # noqa: F401
from support import peer_suites
from support.peer_suite_lists import PYCUDA

if __name__ == "__main__":
    sys.exit(peer_suites.main(PYCUDA))
else:
    __path__ = list(pycu2c.pycuda.__path__)
