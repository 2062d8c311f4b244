"""The files of a release agree with each other."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pycu2c

ROOT = Path(__file__).parent.parent
CONFIGURATION = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = CONFIGURATION["project"]


def test_the_version_is_that_of_the_citation_and_of_the_release_notes() -> None:
    citation = (ROOT / "CITATION.cff").read_text()
    assert re.findall(r"^version: (.*)$", citation, re.M) == [pycu2c.__version__]
    versions = re.findall(r"^## ([\d.]+)", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert versions[0] == pycu2c.__version__


def test_all_addresses_are_of_one_repository() -> None:
    home = PROJECT["urls"]["Homepage"]
    assert all(url.startswith(home) for url in PROJECT["urls"].values())
    citation = (ROOT / "CITATION.cff").read_text()
    assert re.findall(r"^repository-code: (.*)$", citation, re.M) == [home]


def test_each_change_has_a_kind_that_towncrier_knows() -> None:
    kinds = {kind["directory"] for kind in CONFIGURATION["tool"]["towncrier"]["type"]}
    fragments = {path.name for path in (ROOT / "changelog.d").iterdir()}
    for name in fragments - {"README.md", "template.md"}:
        assert re.fullmatch(rf"[\w-]+\.({'|'.join(kinds)})\.md", name), name


def test_the_workflow_runs_all_versions_of_python_that_are_named() -> None:
    text = "\n".join(PROJECT["classifiers"])
    named = re.findall(r"^Programming Language :: Python :: (3\.\d+)$", text, re.M)
    workflow = (ROOT / ".github" / "workflows" / "tests.yml").read_text()
    (matrix,) = re.findall(r"^ +python: \[(.*)\]$", workflow, re.M)
    assert re.findall(r"3\.\d+", matrix) == named
    assert PROJECT["requires-python"] == f">={named[0]}"
