"""A plug-in of pytest: ``pytest --pycu2c-check`` runs tests with checked launches.

It is outside of the package, which is imported only with the option.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pycu2c.runtime.findings import FindingRecorder

_OPTION = "--pycu2c-check"
_RECORDER: pytest.StashKey[FindingRecorder] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("pycu2c").addoption(
        _OPTION,
        nargs="?",
        const="1",
        metavar="GROUPS",
        help="Check the launches of pycu2c kernels; --pycu2c-check=memory,race does some of the "
        "checks. A test whose launches have findings fails.",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(
    early_config: pytest.Config, parser: pytest.Parser, args: list[str]
) -> None:
    """Set the checks of the kernels, before a conftest.py imports them."""
    namespace = early_config.known_args_namespace
    if _OPTION in args:  # argparse takes a path that follows as the groups
        args[:] = [f"{_OPTION}=1" if arg == _OPTION else arg for arg in args]
        namespace.file_or_dir = parser.parse_known_args(args).file_or_dir
        namespace.pycu2c_check = "1"
    groups = namespace.pycu2c_check
    if groups is None:
        return
    from pycu2c.declarations.options import OptionError, parse_options

    try:
        parse_options({"check": groups == "1" or groups})
    except OptionError as error:
        raise pytest.UsageError(f"{_OPTION}: {error}") from None
    patch = pytest.MonkeyPatch()
    patch.setenv("PYCU2C_CHECK", groups)
    early_config.add_cleanup(patch.undo)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    if item.config.option.pycu2c_check is None:
        return (yield)
    from pycu2c.runtime.findings import FindingRecorder

    with FindingRecorder() as recorder:
        item.stash[_RECORDER] = recorder
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Let a phase of a test fail if a launch had findings, also if the test caught the error."""
    report = yield
    recorder = item.stash.get(_RECORDER, None)
    findings = recorder.take() if recorder else ()
    if findings:
        report.sections.append(("pycu2c findings", "\n\n".join(map(str, findings))))
        if report.passed:
            report.outcome = "failed"
            report.longrepr = "launches of pycu2c kernels had findings"
    return report
