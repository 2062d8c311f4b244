"""The structs that headers declare for records have the layout of the records."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from aot.conftest import run
from aot.test_loaders import COMPILERS, WARNINGS
from pycu2c.aot.record_types import names_of_records, numpy_structure, struct_definition
from pycu2c.base import dtypes

NUMBERS = ("?", "i1", "u2", "i4", "u8", "f2", "f4", "f8", "c8", "c16")
VECTORS = ("char3", "short2", "int4", "float3", "float4", "double2", "double4")


def random_dtype(depth: int) -> np.dtype:
    """Return a record with fields in any order, at any offset that they may have."""
    fields, end = {}, 0
    for number in range(random.randint(1, 5)):
        kind = random.choice((*NUMBERS, "vector", *["record"] * depth))
        if kind == "record":
            element = random_dtype(depth - 1)
        elif kind == "vector":
            element = dtypes.VECTORS[random.choice(VECTORS)].numpy
        else:
            element = np.dtype(kind)
        if random.random() < 0.2:
            element = np.dtype((element, random.choice(((3,), (2, 3)))))
        multiple = random.choice((1, 4, 8, 16))
        offset = -(-end // multiple) * multiple
        fields[f"f{number}"] = element, offset
        end = offset + element.itemsize
    names = random.sample([*fields], len(fields))
    return np.dtype(
        {
            "names": names,
            "formats": [fields[name][0] for name in names],
            "offsets": [fields[name][1] for name in names],
            "itemsize": -(-end // multiple) * multiple,
        }
    )


def random_record() -> dtypes.DType:
    record = dtypes.from_numpy(random_dtype(2))
    assert record is not None
    return record


@pytest.mark.parametrize("compiler", [*COMPILERS, "g++"])
def test_layouts(tmp_path: Path, compiler: str) -> None:
    random.seed(1)
    lines = ["#include <stdbool.h>", "#include <stddef.h>", "#include <stdint.h>"]
    for number in range(50):
        names = names_of_records(random_record(), f"r{number}", {})
        for dtype, name in names.items():
            lines.append(struct_definition(dtype, names))
            checks = {f"offsetof(struct {name}, {f.name})": f.offset for f in dtype.fields}
            checks[f"sizeof(struct {name})"] = dtype.size
            assertion = "static_assert" if compiler == "g++" else "_Static_assert"
            lines += [f'{assertion}({text} == {n}, "");' for text, n in checks.items()]
    source = tmp_path / "layouts.h"
    source.write_text("\n".join([*lines, ""]))
    options = "-x", "c++" if compiler == "g++" else "c", "-fsyntax-only"
    run(compiler, *WARNINGS, *options, source)


def test_dtypes_of_numpy() -> None:
    random.seed(2)
    for _ in range(50):
        record = random_record()
        copy = np.dtype(eval(numpy_structure(record, {})))
        assert copy.itemsize == record.size
        assert [copy.fields[f.name][1] for f in record.fields] == [f.offset for f in record.fields]
