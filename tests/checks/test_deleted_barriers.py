"""A sample of ``checks.deleted_barriers``: checks report the race where a barrier is missing."""

from __future__ import annotations

import pytest

from checks import deleted_barriers

SAMPLE = ("golden/scan", "golden/transpose", "races_on_shared_memory/reversed_blocks")


@pytest.mark.filterwarnings("ignore::pycu2c.CompileWarning")
@pytest.mark.parametrize("name", SAMPLE)
def test_a_deleted_barrier_is_reported(name: str) -> None:
    (subject,) = (s for s in deleted_barriers.subjects() if s.name == name)
    assert not deleted_barriers.findings(subject)
    verdicts = {d.verdict for d in deleted_barriers.all_deletions([subject])}
    assert verdicts == {"reported"}
