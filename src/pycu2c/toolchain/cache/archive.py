"""Copy the entries of the cache to a tar archive, and back into another cache."""

from __future__ import annotations

import os
import tarfile
from pathlib import Path

from pycu2c.toolchain.cache import artifact_store, cache_directory, eviction


def pack(path: Path) -> int:
    """Write all entries to an archive; return their number. Raises OSError."""
    location = cache_directory.locate()
    files = list(eviction.entries(Path(location.directory))) if location.readable else []
    with tarfile.open(path, "w:gz") as archive:
        for file in files:
            archive.add(file.path, os.path.basename(file.path), recursive=False)
    return len(files)


def unpack(path: Path) -> int:
    """Add the entries of an archive to the cache; return their number.

    Damaged entries, those of other versions and other files are ignored. Raises OSError and
    ``tarfile.TarError``.
    """
    count = 0
    with tarfile.open(path) as archive:
        for member in archive:
            file = archive.extractfile(member) if member.isfile() else None
            if file is not None and eviction.is_entry_name(member.name):
                count += artifact_store.insert(member.name, file.read())
    return count
