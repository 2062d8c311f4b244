"""The current device of a thread, and the calls of the driver that select it."""

from __future__ import annotations

from typing import Any

import pytest

from pycu2c.cuda_driver import driver


@pytest.mark.parametrize(
    ("context", "ordinal", "expected"),
    [
        (10, 0, ["cuCtxGetCurrent", "cuCtxGetDevice"]),
        (10, 1, ["cuCtxGetCurrent", "cuCtxGetDevice", "cuCtxSetCurrent 11", "cuCtxSetCurrent 10"]),
        (0, 0, ["cuCtxGetCurrent", "cuCtxSetCurrent 10", "cuCtxSetCurrent 0"]),
    ],
)
def test_a_device_is_selected_by_few_calls(
    context: int, ordinal: int, expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    def call(function: str, *arguments: Any, doing: str) -> int:
        calls.append(" ".join(map(str, (function, *arguments))))
        return {"cuCtxGetCurrent": context, "cuCtxGetDevice": context - 10}.get(function, 0)

    monkeypatch.setattr(driver, "call", call)
    monkeypatch.setattr(driver, "has_multiple_devices", lambda: True)
    monkeypatch.setattr(driver, "primary_context", lambda ordinal: 10 + ordinal)
    with driver.on_device(ordinal):
        pass
    assert calls == expected
