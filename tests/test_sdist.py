"""The sdist has the files of the repository, and nothing else."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from email.parser import HeaderParser
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
GENERATED = (
    "docs/gallery/heat.md",
    "docs/reference/intrinsics/warps.md",
    "docs/sg_execution_times.rst",
    "src/pycu2c/native/_dispatch.abi3.so",
    "tests/__pycache__/conftest.cpython-311.pyc",
)
WRITTEN_BY_SETUPTOOLS = {"PKG-INFO", "setup.cfg"}
BUILD = "from setuptools.build_meta import build_sdist; build_sdist('dist')"


def tracked_files() -> list[str]:
    if not (ROOT / ".git").exists() and not os.environ.get("CI"):
        pytest.skip("this is no checkout")
    words = ["git", "ls-files", "-z"]
    listed = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [name for name in listed.split("\0") if name and (ROOT / name).exists()]


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An unpacked sdist, of a checkout with files that were built and generated."""
    checkout = tmp_path_factory.mktemp("sdist") / "checkout"
    for name in tracked_files():
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, checkout / name)
    for name in GENERATED:
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        (checkout / name).write_bytes(b"")
    subprocess.run([sys.executable, "-c", BUILD], cwd=checkout, check=True, capture_output=True)
    (archive,) = (checkout / "dist").glob("pycu2c-*.tar.gz")
    with tarfile.open(archive) as files:
        files.extractall(checkout.parent / "unpacked", filter="data")
    (folder,) = (checkout.parent / "unpacked").iterdir()
    return folder


def test_an_sdist_has_the_files_that_git_tracks(sdist: Path) -> None:
    paths = [path for path in sdist.rglob("*") if path.is_file()]
    names = {path.relative_to(sdist).as_posix() for path in paths if "egg-info" not in str(path)}
    assert names >= WRITTEN_BY_SETUPTOOLS
    names -= WRITTEN_BY_SETUPTOOLS
    assert names == set(tracked_files())


def test_the_readme_of_an_index_has_absolute_links(sdist: Path) -> None:
    about = HeaderParser().parsestr((sdist / "PKG-INFO").read_text())
    assert about["Description-Content-Type"] == "text/markdown"
    text = about.get_payload()
    assert isinstance(text, str)
    prose = re.sub(r"```.*?```|`[^`]*`", "", text, flags=re.S)
    links = re.findall(r"\]\(([^)]*)\)", prose)
    assert len(links) > 30
    home = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]["Homepage"]
    for link in links:
        assert link.startswith(f"{home}/blob/main/"), link
        assert (ROOT / link.removeprefix(f"{home}/blob/main/").partition("#")[0]).exists(), link
    readme = (ROOT / "README.md").read_text()
    code = re.findall(r"```.*?```", readme, re.S)
    assert code == re.findall(r"```.*?```", text, re.S)
