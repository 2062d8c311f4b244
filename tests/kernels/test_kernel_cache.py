"""A later process finds what an earlier one has generated; never something out of date."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import pycu2c
from pycu2c.base import lazy_imports
from pycu2c.base.dtypes import from_numpy
from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.base.types import Array, Signature
from pycu2c.cuda_driver import driver, kernel_api
from pycu2c.declarations.options import DEFAULT_OPTIONS, Options
from pycu2c.declarations.signatures import parse_signature
from pycu2c.kernels.cache_key import FingerprintWriter, Unhashable, fingerprint
from pycu2c.kernels.kernel import Kernel
from pycu2c.kernels.kernel_cache import KernelCacheEntry
from pycu2c.ops.intrinsics.all import REGISTRY
from pycu2c.runtime.cuda.cuda_runner import CudaRunner
from pycu2c.runtime.runner import SpecializationKey
from pycu2c.toolchain.cache import eviction, value_store
from support.kernels_from_text import module_from

HEAD = "import math\nimport numpy as np\nfrom pycu2c import cuda, device, float32, kernel\n"

TEXT = (
    HEAD
    + """
import settings

N = 2
PAIR = (1, 2.5)
TABLE = np.arange(4.0)
f = math.sqrt


@device
def helper(x, k=3):
    return x * N + k


def closed(c):
    @kernel
    def k(out):
        i = cuda.grid(1)
        y: float32 = out[i]
        z = PAIR[1] + TABLE[i] + f(4.0) + settings.FACTOR
        out[i] = helper(y) + z + c + np.float32(float(1))
    return k


k = closed(5)


@kernel
def filled(out):
    i = cuda.grid(1)
    if i < len(out):
        out[i] = helper(i)
"""
)
OUT = parse_signature("float32[:]")


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    settings = ModuleType("settings")
    settings.FACTOR = 7  # type: ignore[attr-defined]
    settings.OTHER = object()  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "settings", settings)
    return module_from(TEXT, tmp_path)


def described(k: Kernel[...]) -> str:
    return fingerprint(k.source, OUT)


def test_equal_values_have_equal_fingerprints(module: Any) -> None:
    assert described(module.k) == described(module.k) == described(module.closed(5))


def edited_helper(module: Any) -> None:
    path = Path(module.__file__)
    other = path.parent / "other"
    other.mkdir()
    changed = module_from(TEXT.replace("x * N + k", "x * N - k"), other)
    module.helper = changed.helper


CHANGES: dict[str, Callable[[Any], object]] = {
    "a number": lambda m: setattr(m, "N", 3),
    "its type": lambda m: setattr(m, "N", 2.0),
    "an item": lambda m: setattr(m, "PAIR", (1, 2.25)),
    "an element": lambda m: m.TABLE.__setitem__(1, 9),
    "a dtype": lambda m: setattr(m, "TABLE", m.TABLE.astype(np.float32)),
    "a function": lambda m: setattr(m, "f", m.math.exp),
    "of another module": lambda m: setattr(m.settings, "FACTOR", 8),
    "a default": lambda m: setattr(m.helper.python, "__defaults__", (4,)),
    "a function's text": edited_helper,
    "a global that hides a builtin": lambda m: setattr(m, "float", 3),
    "no more there": lambda m: delattr(m, "PAIR"),
    "a closure": lambda m: setattr(m, "k", m.closed(6)),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_changes_the_fingerprint(module: Any, change: Callable[[Any], object]) -> None:
    before = described(module.k)
    change(module)
    assert described(module.k) != before


ALIASES = (
    HEAD
    + """
@device
def f(x):
    return x + 1


@device
def g(x):
    return x + 100


a, b, c = f, g, f


@kernel
def k(out):
    out[cuda.grid(1)] = a(1) + b(1) + c(1)
"""
)


def test_which_function_a_name_has_after_others(tmp_path: Path) -> None:
    module = module_from(ALIASES, tmp_path)
    before = described(module.k)
    module.c = module.g
    assert described(module.k) != before


def test_what_a_function_was_given(tmp_path: Path) -> None:
    define = "@device\ndef f(x):\n    return x\nf.x = {}\nf.f = f\n"
    use = "@kernel\ndef k(out):\n    out[0] = f(f.x) + f.f(1)\n"
    module = module_from(HEAD + define.format(1) + use, tmp_path)
    before = described(module.k)
    module.f.x = 2
    assert described(module.k) != before


def test_a_kernel_that_is_called(tmp_path: Path) -> None:
    define = "@cuda.jit\ndef f(x):\n    return x * FACTOR\nFACTOR = 1\n"
    use = "@cuda.jit\ndef k(out):\n    out[cuda.grid(1)] = f(1)\n"
    module = module_from(HEAD + define + use, tmp_path)
    before = described(module.k)
    module.FACTOR = 2
    assert described(module.k) != before


def test_a_function_that_says_it_is_anothers(tmp_path: Path) -> None:
    define = "import functools\n@functools.wraps(math.sin)\ndef f(x):\n    return x + {}\n"
    use = "@kernel\ndef k(out):\n    out[0] = f(out[1])\n"
    texts = [HEAD + define.format(n) + use for n in (1, 2)]
    folders = [tmp_path / "a", tmp_path / "b"]
    for folder in folders:
        folder.mkdir()
    first, second = (module_from(text, at) for text, at in zip(texts, folders))
    before = described(first.k)
    first.f = second.f
    assert described(first.k) != before


def test_locals_are_not_looked_up_elsewhere(module: Any) -> None:
    before = described(module.k)
    module.i, module.y, module.out = object(), np.zeros(1 << 20), object()
    module.settings.UNUSED = object()
    assert described(module.k) == before


UNKNOWN = {
    "an object": ("A = type('A', (), {'x': 1})()", "A.x"),
    "a large array": ("A = np.zeros(1 << 14)", "A[i]"),
    "a record with an object": ("A = np.zeros(2, [('x', 'f4'), ('y', object)])", "A[i]['x']"),
    "a class": ("class A: x = 1", "A.x"),
    "a module that makes its names": (
        "import types; A = types.ModuleType('A'); A.__getattr__ = lambda n: 1",
        "A.x",
    ),
    "a module of a class that makes its names": (
        "import types\nclass M(types.ModuleType): x = 1\nA = M('A')",
        "A.x",
    ),
    "an object that a function has": ("@device\ndef A(x): return x\nA.x = []", "A.x"),
    "a class that says it is numpy's": ("class A: x = 1\nA.__module__ = 'numpy'", "A.x"),
    "a bound method": ("A = [].index", "A(1)"),
}


@pytest.mark.parametrize(("define", "use"), UNKNOWN.values(), ids=UNKNOWN)
def test_values_without_a_fingerprint_are_not_cached(tmp_path: Path, define: str, use: str) -> None:
    text = f"{HEAD}{define}\n@kernel\ndef k(out):\n    i = cuda.grid(1)\n    out[i] = {use}\n"
    with pytest.raises(Unhashable):
        described(module_from(text, tmp_path).k)


def test_arrays_of_records_with_other_values_or_layouts_are_cached_apart(tmp_path: Path) -> None:
    records = (
        "np.zeros(2, [('x', 'f4'), ('y', 'i1')])",
        "np.ones(2, [('x', 'f4'), ('y', 'i1')])",
        "np.zeros(2, [('x', 'i4'), ('y', 'i1')])",
        "np.zeros(2, np.dtype([('x', 'f4'), ('y', 'i1')], align=True))",
    )
    text = HEAD + "A = {}\n@kernel\ndef k(out):\n    i = cuda.grid(1)\n    out[i] = A[i]['x']\n"
    described_arrays = [
        [line for line in described(module_from(text.format(r), tmp_path).k).splitlines()
         if line.startswith("array")]
        for r in (*records, records[0])
    ]  # fmt: skip
    first, *others, again = described_arrays
    assert again == first != []
    assert first not in others
    assert others[0] != others[1] != others[2]


@pytest.mark.parametrize(
    "body", ["y: 'float32' = out[0]", "global N; out[0] = N"], ids=["text", "global"]
)
def test_names_that_hide(tmp_path: Path, body: str) -> None:
    source = module_from(f"{HEAD}@device\ndef k(out):\n    pass\n", tmp_path).k.__pycu2c_device__
    source.tree.body[:] = ast.parse(body).body
    with pytest.raises(Unhashable):
        fingerprint(source, OUT)


def test_signatures_and_options_are_in_the_fingerprint(module: Any) -> None:
    def key(signature: str = "float32[:]", options: Options = DEFAULT_OPTIONS) -> str:
        return KernelCacheEntry(module.k.source, parse_signature(signature), options).key

    keys = [key(), key("float64[:]"), key("float32[::1]"), key(options=Options(fmad=False))]
    assert len(set(keys)) == len(keys)
    assert "" not in keys


@pytest.mark.parametrize(
    "other", [{"align": True}, {"itemsize": 24}, {"names": ["x", "z"]}], ids=str
)
def test_field_offsets_of_a_record_are_in_the_fingerprint(
    module: Any, other: dict[str, Any]
) -> None:
    def key(align: bool = False, **layout: Any) -> str:
        dtype = np.dtype({"names": ["x", "y"], "formats": ["i4", "f8"], **layout}, align=align)
        kind = Array(from_numpy(dtype), 1)
        return KernelCacheEntry(module.k.source, Signature((kind,)), DEFAULT_OPTIONS).key

    assert key()
    assert key() != key(**other)


def test_code_generated_while_pycu2c_is_edited_is_not_cached(
    module: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYCU2C_CACHE_DIR", str(tmp_path))
    known = module.k.launcher.compiler.metadata(OUT)
    for started, result in ((0.0, None), (lazy_imports.IMPORT_TIME, known), (0.0, None)):
        monkeypatch.setattr(value_store, "IMPORT_TIME", started)
        value_store._package_state.cache_clear()
        KernelCacheEntry(module.k.source, OUT, DEFAULT_OPTIONS).store_metadata(known)
        assert KernelCacheEntry(module.k.source, OUT, DEFAULT_OPTIONS).load_metadata() == result
    value_store._package_state.cache_clear()


@pytest.fixture(autouse=True)
def _remembers(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    monkeypatch.setattr(value_store, "ENABLED", True)


# ---- through processes ---------------------------------------------------------------------

PROGRAM = (
    HEAD
    + """
import sys

FACTOR = {factor}


@device
def helper(x):
    return x * FACTOR


@kernel(backend="cpu", block=4)
def k(out, n):
    i = cuda.grid(1)
    if i < out.size:
        {body}


out = np.ones(6)
for _ in range(3):
    k(out, 2)
print(out.tolist(), "pycu2c.frontend.function_builder" in sys.modules)
"""
)


def run(
    tmp_path: Path,
    factor: object = 2,
    body: str = "out[i] = helper(i) + n",
    text: str = PROGRAM,
) -> str:
    """What the program prints, and whether it has compiled."""
    file = tmp_path / "program.py"
    file.write_text(text.format(factor=factor, body=body))
    environment = {**os.environ, "PYCU2C_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, str(file)], env=environment, capture_output=True, text=True, check=False
    )
    return done.stdout + done.stderr


@pytest.mark.gpu
@pytest.mark.undisturbed  # compute-sanitizer holds the pipes of the processes
@pytest.mark.parametrize("before", ["", "out[i] * 0 + "])  # with the first, all is overwritten
def test_a_second_process_compiles_nothing_for_a_gpu(tmp_path: Path, before: str) -> None:
    body = f"out[i] = {before}helper(i) + n"
    text = PROGRAM.replace('backend="cpu"', 'backend="cuda"')
    loaded = '"{}" in sys.modules'
    compiler = loaded.format("pycu2c.frontend.function_builder")
    text = text.replace(compiler, f"{compiler}, {loaded.format('cuda.bindings.nvrtc')}")
    assert run(tmp_path, body=body, text=text) == "[2.0, 4.0, 6.0, 8.0, 10.0, 12.0] True True\n"
    assert run(tmp_path, body=body, text=text) == "[2.0, 4.0, 6.0, 8.0, 10.0, 12.0] False False\n"
    assert run(tmp_path, factor=3, body=body, text=text).endswith("True True\n")


@pytest.mark.parametrize("name", ["k", "filled"])
def test_cached_data_of_a_cuda_kernel(
    module: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Without a GPU, up to where it would be loaded."""
    monkeypatch.setenv("PYCU2C_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(driver, "arch", lambda: "sm_90")
    monkeypatch.setattr(kernel_api, "load_kernel", _NotLoaded)
    monkeypatch.setattr(driver, "api", lambda: _NotLoaded)
    key = SpecializationKey("cuda", LaunchAssumptions(index32_safe=True))
    names, k = ("out",), getattr(module, name)
    for _ in range(2):  # the second time in no other way
        memory = KernelCacheEntry(k.source, OUT, DEFAULT_OPTIONS)
        assert memory.load_runner(key, names) is None
        made = k.launcher.compiler.runner(OUT, names, key)
        assert isinstance(made, CudaRunner)
        memory.store_runner(key, made)
        result = memory.load_runner(key, names)
        assert isinstance(result, CudaRunner)
        assert (result.name, result.written) == (made.name, made.written)
        assert result.overwritten == made.overwritten
        assert bool(result.overwritten) == (name == "filled")
        layouts = [(k.layout.struct.format, k.layout.sizes) for k in (result, made)]
        assert layouts[0] == layouts[1]
        assert (result.kernel.binary, result.kernel.cooperative) == (made.kernel.binary, False)
        eviction.clear()


class _NotLoaded:
    """In place of the driver, and of a kernel that it has loaded."""

    handle, dynamic_shared, cuLaunchKernel = 0, 0, None

    def __init__(self, cubin: bytes, entry: str) -> None:
        assert cubin.startswith(b"\x7fELF")


@pytest.mark.slow
def test_a_kernel_of_records_is_remembered(tmp_path: Path) -> None:
    """Its arguments are laid out as they were, inner records and all."""
    program = PROGRAM.replace(
        "np.ones(6)", "np.ones(6, [('a', [('b', 'i1'), ('c', 'f8')]), ('d', 'u2')])"
    )
    program = program.replace("out.tolist()", "out['a']['c'].tolist()")
    for loads in ("True", "False"):
        body = "out[i].a.c = helper(i) + n"
        assert run(tmp_path, body=body, text=program) == (
            f"[2.0, 4.0, 6.0, 8.0, 10.0, 12.0] {loads}\n"
        )


def test_a_second_process_compiles_nothing(tmp_path: Path) -> None:
    assert run(tmp_path) == "[2.0, 4.0, 6.0, 8.0, 10.0, 12.0] True\n"
    assert run(tmp_path) == "[2.0, 4.0, 6.0, 8.0, 10.0, 12.0] False\n"
    assert run(tmp_path, factor=3) == "[2.0, 5.0, 8.0, 11.0, 14.0, 17.0] True\n"
    assert run(tmp_path, factor="(lambda: 3)()").endswith("False\n")  # text of other functions
    assert run(tmp_path).endswith("False\n")


@pytest.mark.slow
def test_an_edited_pycu2c_compiles_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever file it is."""
    package = tmp_path / "package" / "pycu2c"
    shutil.copytree(Path(pycu2c.__file__).parent, package)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(package.parent), *sys.path)))
    assert run(tmp_path).endswith("True\n")
    assert run(tmp_path).endswith("False\n")
    for file in (
        "frontend/calls/call_visitor.py",
        "transforms/common/dead_code.py",
        "codegen/cpu_entry_point.py",
        "ops/intrinsics/threads/coordinates.py",
        "base/dtypes.py",
        "runtime/runner.py",
    ):
        text = (package / file).read_text()
        (package / file).write_text(text.replace(".", "!", 1))  # of its docstring
        assert run(tmp_path).endswith("True\n"), file
        assert run(tmp_path).endswith("False\n"), file
    for path in package.rglob("*.py"):  # as in a copy of a container image
        os.utime(path, (1, 1))
    assert run(tmp_path).endswith("False\n")


def libraries(tmp_path: Path) -> int:
    """How many there are in the cache: the pool's, and one for each text and compiler."""
    return len([*(tmp_path / "cache").rglob("*.so")])


ONCE = PROGRAM.replace("range(3)", "range(1)")


@pytest.mark.slow
@pytest.mark.parametrize("file", ["interrupt.c", "pool.c"])
def test_an_edited_pool_is_compiled_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str
) -> None:
    """Though it is found by the state of its files, without reading them."""
    package = tmp_path / "package" / "pycu2c"
    shutil.copytree(Path(pycu2c.__file__).parent, package)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(package.parent), *sys.path)))
    run(tmp_path, text=ONCE)
    assert run(tmp_path, text=ONCE).endswith("False\n")
    before = libraries(tmp_path)
    with (package / "runtime" / "cpu" / file).open("a") as text:
        text.write("/* edited */\n")
    for _ in range(2):
        assert run(tmp_path, text=ONCE).endswith("False\n")
        assert libraries(tmp_path) == before + 1


@pytest.mark.slow
def test_other_flags_are_other_libraries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "package" / "pycu2c"
    shutil.copytree(Path(pycu2c.__file__).parent, package)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(package.parent), *sys.path)))
    run(tmp_path, text=ONCE)
    before = libraries(tmp_path)
    families = package / "toolchain" / "cc" / "flags.py"
    families.write_text(families.read_text().replace('"-pipe", ', '"-pipe", "-DEDITED", '))
    for ending in ("True\n", "False\n"):
        assert run(tmp_path, text=ONCE).endswith(ending)
        assert libraries(tmp_path) >= before + 2


ON_SOME_MACHINE = f"""import os
from pycu2c.toolchain.cc import compiler_identity
if "ANOTHER" in os.environ:
    compiler_identity.machine_identity = lambda: "another"
{ONCE}"""


@pytest.mark.slow
@pytest.mark.parametrize("change", ["compiler", "settings", "machine"])
def test_code_of_another_compiler_or_machine_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    """The text is known, and compiled again."""
    first = run(tmp_path, text=ON_SOME_MACHINE)
    before, known = libraries(tmp_path), first.replace("True", "False")
    assert run(tmp_path, text=ON_SOME_MACHINE) == known
    assert libraries(tmp_path) == before
    if change == "compiler":
        script = tmp_path / "compiler"
        script.write_text('#!/bin/sh\nexec gcc "$@"\n')
        script.chmod(0o700)
        monkeypatch.setenv("PYCU2C_CC", str(script))
    if change == "settings":
        monkeypatch.setenv("CPATH", str(tmp_path))
    if change == "machine":
        monkeypatch.setenv("ANOTHER", "1")
    assert [run(tmp_path, text=ON_SOME_MACHINE) for _ in range(2)] == [known] * 2
    assert libraries(tmp_path) == before + 2  # the pool's, and the kernel's


@pytest.mark.slow
def test_every_shape_of_blocks_is_remembered(tmp_path: Path) -> None:
    """The first beside what is known of the kernel, others each by itself."""
    text = ONCE.replace("    k(out, 2)", "    for size in (2, 3, 4): k[8 // size, size](out, 2)")
    body = "out[i] = out[i] * 10 + cuda.blockDim.x"
    said = [run(tmp_path, text=text, body=body) for _ in range(3)]
    assert said[0] == f"{[1234.0] * 6} True\n"
    assert said[1:] == [said[0].replace("True", "False")] * 2


def test_an_entry_of_other_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PYCU2C_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "folder").mkdir()
    for file in (tmp_path / "one.py", tmp_path / "folder" / "two.py"):
        file.touch()
        monkeypatch.setattr(value_store, "_PACKAGE_DIRECTORY", str(tmp_path))
        monkeypatch.setattr(value_store, "IMPORT_TIME", time.time() + 10)
        value_store._package_state.cache_clear()
        value_store.store("0" * 64, [1])
        assert value_store.load("0" * 64) == [1]
        file.write_text("2")
        value_store._package_state.cache_clear()  # as in another process
        assert value_store.load("0" * 64) is None
    value_store._package_state.cache_clear()


@pytest.mark.slow
def test_damage_is_noticed(tmp_path: Path) -> None:
    first = run(tmp_path)
    for file in (tmp_path / "cache").rglob("*.pickle"):
        file.write_bytes(file.read_bytes()[:-3] + b"xyz")
    assert run(tmp_path) == first
    for file in (tmp_path / "cache").rglob("*.so"):
        file.unlink()
    assert run(tmp_path) == first.replace("True", "False")  # the C is there


@pytest.mark.slow
def test_kernels_with_launch_side_effects_are_not_cached(tmp_path: Path) -> None:
    for _ in range(2):
        assert "True" in run(tmp_path, body="print(i)")
    for _ in range(2):
        said = run(
            tmp_path,
            body="""if n > 5:
            x = 1
        out[i] = x""",
        )
        assert "True" in said
        assert "maybe-undefined" in said  # a warning, each time


def test_intrinsics_enter_the_fingerprint_by_name() -> None:
    """Whether the intrinsics have been imported or not."""
    for row in REGISTRY.values():
        for result in (row, *row.bindings):
            writer = FingerprintWriter()
            writer.add_value(result, frozenset(("x",)))
            assert "".join(writer.lines)


COMPILER = [
    f"pycu2c.{name}"
    for name in ("codegen", "compiler", "frontend.function_builder", "pipeline", "transforms")
]


@pytest.mark.parametrize("launches", [1, 4])
@pytest.mark.parametrize("compiler", ["usual", "script"])
def test_a_cached_kernel_does_not_import_the_compiler(
    tmp_path: Path, compiler: str, launches: int
) -> None:
    """A script is asked each time which compiler it starts."""
    file = tmp_path / "program.py"
    body = PROGRAM.format(factor=2, body="out[i] = helper(i) + n")
    body = body.replace("range(3)", f"range({launches})")
    shown = f"print([m for m in {COMPILER} if m in sys.modules and m not in before])"
    file.write_text(f"import sys, numpy; before = set(sys.modules)\n{body}\n{shown}\n")
    environment = {**os.environ, "PYCU2C_CACHE_DIR": str(tmp_path / "cache")}
    if compiler == "script":
        script = tmp_path / "compiler"
        script.write_text('#!/bin/sh\nexec gcc "$@"\n')
        script.chmod(0o700)
        environment["PYCU2C_CC"] = str(script)
    for imported in (True, False):
        words = (sys.executable, str(file))
        ran = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
        assert (ran.stdout.splitlines()[-1] != "[]") == imported, ran.stdout


def test_a_known_kernel_is_launched_with_few_modules(tmp_path: Path) -> None:
    """Each of them takes a part of the ten milliseconds that the first launch may take. (A compiler
    that is a script is asked for its version in each process.)"""
    counted = "len([m for m in sys.modules if m[:6] == 'pycu2c' and m[-9:] != 'processes'])"
    text = PROGRAM.replace("for _ in range(3):", f"before = {counted}\nfor _ in range(1):")
    text = text.replace('"pycu2c.frontend.function_builder" in sys.modules', f"{counted} - before")
    run(tmp_path, text=text)
    *_, added = run(tmp_path, text=text).split()
    assert int(added) <= 17
