"""Read and write tuning records: a JSON file to commit, and a journal of each measured candidate.

The file has the fastest configuration for each kernel, device, signature and size, one a line. The
journal is in the cache directory; an interrupted search continues from it.
"""

from __future__ import annotations

import ast
import contextlib
import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pycu2c.base.diagnostics import LaunchWarning, warn
from pycu2c.base.hashing import digest_of
from pycu2c.base.records import dataclass, field_names, replace
from pycu2c.base.source import Source, copy_tree
from pycu2c.kernels.cache_key import FingerprintWriter
from pycu2c.kernels.tuning_report import TrialResult
from pycu2c.runtime.arguments.arguments import describe
from pycu2c.runtime.arguments.array_argument import ArrayArgument
from pycu2c.toolchain.cache import cache_directory, file_locks
from pycu2c.tuning.space import Configuration, text_of

VERSION = 1
SUFFIX = ".tuning.json"


@dataclass(frozen=True, slots=True, eq=False)
class TuningRecord:
    """The fastest configuration of a kernel for one device, one signature and similar sizes.

    sizes: by parameter: the power of two that is nearest to a number or to the size of an array.
    source: the digest of the kernel and its device functions.
    seconds, default_seconds: the time of this configuration and of the untuned kernel.
    """

    kernel: str
    device: str
    signature: str
    sizes: Mapping[str, int]
    configuration: Configuration
    seconds: float
    default_seconds: float | None
    source: str

    @property
    def key(self) -> str:
        return json.dumps([self.kernel, self.device, self.signature, dict(self.sizes)])


def size_of(argument: Any) -> int:
    """Return the size class of an argument: the power of two nearest to it or its element count."""
    described = None if isinstance(argument, (int, float)) else describe(argument)
    number = described.size if isinstance(described, ArrayArgument) else argument
    try:
        magnitude = abs(float(number))
    except (TypeError, ValueError):
        return 0
    return 1 << max(0, round(math.log2(magnitude))) if magnitude >= 1 else 0


def source_digest(source: Source) -> str:
    """Return a digest of a kernel and the functions that it calls, without formatting."""
    writer = FingerprintWriter()
    writer.add_kernel(source)
    texts = []
    for function in writer.sources:
        tree = copy_tree(function.tree)
        tree.decorator_list = []
        texts.append(ast.unparse(tree))
    return digest_of("\n".join(texts).encode())[:16]


def load(path: str) -> list[TuningRecord]:
    """Return the records of a file; none if it does not exist or has another version."""
    try:
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
        if content["version"] != VERSION:
            raise ValueError(f"it has version {content['version']}, not {VERSION}")
        return [
            TuningRecord(**{**record, "configuration": _tuples(record["configuration"])})
            for record in content["records"]
        ]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, KeyError, TypeError) as error:
        warn(f"the tuning records in {path} are not used: {error}", LaunchWarning)
        return []


def store(path: str, record: TuningRecord) -> None:
    """Add a record to a file, in place of an earlier one for the same key."""
    folder = cache_directory.sibling_folder("tuning")
    lock = os.path.join(folder, f"{digest_of(path.encode())[:32]}.lock")
    with file_locks.exclusive(lock, lambda: False):
        records = {found.key: found for found in load(path)} | {record.key: record}
        lines = [
            json.dumps({n: getattr(records[key], n) for n in _FIELDS}, ensure_ascii=False)
            for key in sorted(records)
        ]
        text = f'{{"version": {VERSION}, "records": [\n' + ",\n".join(lines) + "\n]}\n"
        temporary = f"{path}.{os.getpid()}"
        with open(temporary, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(temporary, path)


_FIELDS = field_names(TuningRecord)


def nearest(records: Sequence[TuningRecord], wanted: TuningRecord) -> TuningRecord | None:
    """Return the record that is nearest to a launch: of its device, its source and its size.

    Records of other signatures and other configuration names are never used.
    """
    candidates = [
        r
        for r in records
        if (r.kernel, r.signature) == (wanted.kernel, wanted.signature)
        and r.configuration.keys() == wanted.configuration.keys()
        and r.sizes.keys() == wanted.sizes.keys()
    ]

    def distance(r: TuningRecord) -> tuple[bool, bool, float]:
        steps = sum(abs(math.log2((r.sizes[n] or 1) / (k or 1))) for n, k in wanted.sizes.items())
        return r.device != wanted.device, r.source != wanted.source, steps

    return min(candidates, key=distance, default=None)


def _tuples(configuration: Mapping[str, Any]) -> Configuration:
    """Return a configuration with tuples in place of the lists of JSON."""
    return {n: _tuple(value) for n, value in configuration.items()}


def _tuple(value: Any) -> Any:
    return tuple(map(_tuple, value)) if isinstance(value, list) else value


# ---- the journal ---------------------------------------------------------------------------


class Journal:
    """The results of one search, appended to a file; a line that was cut off is ignored."""

    def __init__(self, *identity: str) -> None:
        folder = cache_directory.sibling_folder("tuning")
        self._path = os.path.join(folder, f"{digest_of(repr(identity).encode())[:32]}.jsonl")
        self.results: dict[str, TrialResult] = {}
        with contextlib.suppress(FileNotFoundError), open(self._path, encoding="utf-8") as file:
            for line in file:
                with contextlib.suppress(ValueError, TypeError):
                    result = TrialResult(**json.loads(line))
                    result = replace(result, configuration=_tuples(result.configuration))
                    self.results[text_of(result.configuration)] = result

    def clear(self) -> None:
        """Delete all results."""
        self.results = {}
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._path)

    def keep(self, configurations: Iterable[Configuration]) -> None:
        """Leave the results of other configurations out; they stay in the file."""
        wanted = {*map(text_of, configurations)}
        self.results = {text: r for text, r in self.results.items() if text in wanted}

    def add(self, result: TrialResult) -> None:
        """Append a result."""
        self.results[text_of(result.configuration)] = result
        values = (result.configuration, result.seconds, result.problem)
        line = json.dumps(dict(zip(("configuration", "seconds", "problem"), values)))
        with open(self._path, "a", encoding="utf-8") as file:
            file.write(f"\n{line}\n")  # the last line may have been cut off
