"""Functions of linked files, in C for the CPU and CUDA C for GPUs."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import cffi
import numpy as np
import pytest

from pycu2c import CompileError, cuda, float32, int32, kernel
from pycu2c.cuda_driver import driver
from pycu2c.declarations.link_files import BadLink, links_for_target, parse_links
from pycu2c.declarations.options import OptionError, Options
from pycu2c.declarations.signatures import parse_signature
from pycu2c.kernels.kernel import Kernel
from pycu2c.kernels.kernel_cache import KernelCacheEntry
from pycu2c.toolchain.cc.discovery import find_compiler
from pycu2c.toolchain.link import nvjitlink
from pycu2c.toolchain.nvrtc import nvrtc
from pycu2c.toolchain.nvrtc import program as nvrtc_program
from pycu2c.toolchain.toolchain_errors import LinkError, ToolchainError, UndefinedFunctionError
from support.kernels_from_text import module_from
from support.launching import run

F32 = "float32[::1]"

FUNCTIONS = """
#include "factor.h"
{0}float scaled(float x, float *a, int n) {{ return x * FACTOR + a[n]; }}
{0}int as_numba(float *result, float x, int y) {{ *result = x + y; return 0; }}
{0}void bump(int *a, int i) {{ a[i] += 1; }}
{0}int bump_as_numba(void *result, int *a, int i) {{ (void)result; a[i] += 10; return 0; }}
"""


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """The functions in both languages."""
    (tmp_path / "factor.h").write_text("#define FACTOR 2\n")
    texts = {"f.cu": FUNCTIONS.format('extern "C" __device__ '), "f.c": FUNCTIONS.format("")}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    return {name: tmp_path / name for name in texts}


HEAD = """
import numpy as np
from pycu2c import cuda, float32, int32, kernel

LINK = {!r}
"""
PROGRAM = """
@cuda.c_function(link=LINK)
def scaled(x: float32, a: float32[::1], n: int32) -> float32:
    return x * np.float32(2) + a[n]

as_numba = cuda.declare_device("as_numba", "float32(float32, int32)", link=LINK)

@cuda.c_function
def bump(a: int32[::1], i: int32) -> None:
    a[i] += 1

bump_as_numba = cuda.declare_device("bump_as_numba", "void(int32[::1], int32)")

@kernel(link=LINK)
def k(a, counts, out):
    i = cuda.grid(1)
    bump(counts, i)
    bump_as_numba(counts, i)
    out[i] = scaled(out[i], a, i) + as_numba(a[i], i)

@kernel(link=LINK)
def run_in_python(a, counts, out):
    i = cuda.grid(1)
    bump(counts, i)
    out[i] = scaled(out[i], a, i)
"""


def module(files: Any, tmp_path: Path) -> Any:
    return module_from(HEAD.format([str(path) for path in files]) + PROGRAM, tmp_path)


def arguments() -> list[Any]:
    return [np.arange(4, dtype=np.float32), np.zeros(4, np.int32), np.ones(4, np.float32)]


COMPILED = ["cpu", "cpu-resumable", *(["cuda"] if driver.available() else [])]


@pytest.mark.parametrize("backend", COMPILED)
def test_linked(backend: str, files: dict[str, Path], tmp_path: Path) -> None:
    k = module(files.values(), tmp_path).k
    _, counts, out = run(k, (1, 4), arguments(), backend)
    i = np.arange(4)
    assert counts.tolist() == [11] * 4
    assert out.tolist() == (2 + i + i + i).tolist()


def test_the_reference_runs_the_python_bodies(files: dict[str, Path], tmp_path: Path) -> None:
    loaded = module(files.values(), tmp_path)
    _, counts, out = run(loaded.run_in_python, (1, 4), arguments(), "python")
    assert counts.tolist() == [1] * 4
    assert out.tolist() == [2, 3, 4, 5]
    with pytest.raises(TypeError, match="as_numba is C alone"):
        run(loaded.k, (1, 4), arguments(), "python")


def made_by_compiler(file: Path, suffix: str) -> Path:
    """The functions as somebody else has compiled them."""
    made = file.with_name(f"libown{suffix}")
    words = [*find_compiler().command, "-fPIC", "-O1"]
    if suffix == ".so":
        subprocess.run([*words, "-shared", "-o", made, file], check=True)
        return made
    object_file = file.with_name("own.o")
    subprocess.run([*words, "-c", "-o", object_file, file], check=True)
    if suffix == ".o":
        return object_file
    subprocess.run(["ar", "rcs", made, object_file], check=True)
    return made


@pytest.mark.parametrize("suffix", [".o", ".a", ".so"])
def test_code_that_is_compiled_already(suffix: str, files: dict[str, Path], tmp_path: Path) -> None:
    library = made_by_compiler(files["f.c"], suffix)
    _, _, out = run(module([library], tmp_path).k, (1, 4), arguments(), "cpu")
    assert out.tolist() == [2, 5, 8, 11]


def test_a_compiler_that_cannot_compile_files_as_one(
    files: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As some installations of gcc."""
    script = tmp_path / "own-cc"
    rejection = 'case "$*" in *-flto*) echo "ld: could not run lto-wrapper" >&2; exit 1;; esac'
    script.write_text(f'#!/bin/sh\n{rejection}\nexec {find_compiler()} "$@"\n')
    script.chmod(0o700)
    monkeypatch.setenv("PYCU2C_CC", str(script))
    _, _, out = run(module(files.values(), tmp_path).k, (1, 4), arguments(), "cpu")
    assert out.tolist() == [2, 5, 8, 11]


SOURCES = """
import io

TEXT = "float f(float x) { return 2 * x; }"
LINK = [
    cuda.CSource(io.StringIO(TEXT), name="doubles it"),
    cuda.CUSource(f'extern "C" __device__ {TEXT}'.encode()),
]

@cuda.c_function(link=LINK)
def f(x: float32) -> float32: ...

@kernel
def k(a, counts, out):
    out[0] = f(3)
"""


@pytest.mark.parametrize("backend", COMPILED)
def test_code_in_memory(backend: str, tmp_path: Path) -> None:
    loaded = module_from(HEAD.format([]) + SOURCES, tmp_path)
    assert run(loaded.k, (1, 1), arguments(), backend)[2][0] == 6
    on_cpu, on_gpu = map(os.fspath, loaded.LINK)
    assert re.search(r"/doubles_it-\w{12}\.c$", on_cpu)
    assert re.search(r"/CUSource-\w{12}\.cu$", on_gpu)
    assert Path(on_cpu).read_text() == loaded.TEXT
    kinds = (cuda.PTXSource, cuda.Cubin, cuda.Fatbin, cuda.LTOIR, cuda.Object, cuda.Archive)
    taken = [links_for_target(parse_links(kind(b"")), "cuda") for kind in kinds]
    assert [os.path.splitext(name)[1] for (name,) in taken] == [kind.suffix for kind in kinds]


def test_code_in_memory_has_no_life_of_its_own() -> None:
    with pytest.raises(NotImplementedError, match="setup_callback"):
        cuda.CUSource("", setup_callback=print)


def test_a_changed_file_is_linked_again(files: dict[str, Path], tmp_path: Path) -> None:
    """In the file, and in what it includes."""
    k = module(files.values(), tmp_path).k

    results = []
    for factor in (2, 5):
        (tmp_path / "factor.h").write_text(f"#define FACTOR {factor}\n")
        results.append(run(k, (1, 1), arguments(), "cpu")[2][0])
    files["f.c"].write_text(files["f.c"].read_text().replace("a[n]", "a[n] + 100"))
    results.append(run(k, (1, 1), arguments(), "cpu")[2][0])
    assert results == [2, 5, 105]


def test_cache_keys_depend_on_the_files(
    files: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pycu2c.toolchain.cache.value_store.ENABLED", True)
    loaded = module(files.values(), tmp_path)
    signature = parse_signature((F32, "int32[::1]", F32))

    @kernel
    def plain(out):
        loaded.scaled(out[0], out, 0)

    def keys() -> list[str]:
        inputs = [(loaded.k.source, loaded.k.options), (plain.source, Options())]
        return [KernelCacheEntry(source, signature, options).key for source, options in inputs]

    before = keys()
    assert all(before)
    assert keys() == before
    (tmp_path / "factor.h").write_text("#define FACTOR 7\n")
    assert not set(keys()) & set(before)


# ---- GPUs: linking needs none, where nvJitLink is installed --------------------------------------

WITH_NVJITLINK = pytest.mark.skipif(nvjitlink.nvjitlink() is None, reason="no nvJitLink installed")


def cubin(k: Kernel[...], arch: str = "sm_90") -> bytes:
    signature = parse_signature((F32, "int32[::1]", F32))
    made = k.launcher.compiler.generate("cuda", signature)
    options = k.options.with_links(made.links)
    return nvrtc.compile(made.text, made.entry, arch, options=options).data


def as_kind(file: Path, kind: Any, arch: str = "sm_90") -> Path:
    """CUDA C, compiled beforehand."""
    more = ("-dlto",) if kind == "ltoir" else ("--relocatable-device-code=true",)
    job = nvrtc_program.NvrtcJob(
        file.read_text(), str(file), arch, kind, Options(), (*more, f"-I{file.parent}")
    )
    made = file.with_suffix(f".{kind}")
    made.write_bytes(nvrtc_program.compile_job(job)[0])
    return made


@WITH_NVJITLINK
@pytest.mark.parametrize("kind", ["cu", "ptx", "cubin", "ltoir"])
def test_kinds_of_files_for_a_gpu(kind: str, files: dict[str, Path], tmp_path: Path) -> None:
    file = files["f.cu"] if kind == "cu" else as_kind(files["f.cu"], kind)
    assert cubin(module([file], tmp_path).k)[:4] == b"\x7fELF"


@WITH_NVJITLINK
def test_ltoir_of_a_python_function() -> None:
    """It is what a kernel links that declares the function."""
    made, result = cuda.compile(
        lambda x, y: x * y + 40, "float32(float32, float32)", cc=(9, 0), output="ltoir",
        abi_info={"abi_name": "forty"},
    )  # fmt: skip
    assert str(result) == "float32"
    forty = cuda.declare_device("forty", "float32(float32, float32)", cuda.LTOIR(made), abi="c")

    @kernel(signature="void(float32[::1])")
    def k(a):
        a[0] = forty(a[0], a[1])

    generated = k.launcher.compiler.generate("cuda", k.signature)
    options = k.options.with_links(generated.links)
    found = nvrtc.compile(generated.text, generated.entry, "sm_90", options=options)
    assert found.data[:4] == b"\x7fELF"
    with pytest.raises(UndefinedFunctionError):
        nvrtc.compile(generated.text, generated.entry, "sm_90")


@WITH_NVJITLINK
def test_a_linked_kernel_says_what_it_takes(files: dict[str, Path], tmp_path: Path) -> None:
    k = module(files.values(), tmp_path).k
    found = k.attributes((F32, "int32[::1]", F32), "sm_90")
    assert 0 < found.registers < 100
    assert "call.uni" in k.inspect("ptx", (F32, "int32[::1]", F32), arch="sm_90")


@WITH_NVJITLINK
def test_functions_in_cuda_c_are_inlined(files: dict[str, Path], tmp_path: Path) -> None:
    k = module(files.values(), tmp_path).k
    assert k.attributes((F32, "int32[::1]", F32), "sm_90").local_bytes == 0


BROKEN = {
    "other arch": ("f.cubin", lambda f: as_kind(f, "cubin", "sm_80").read_bytes(), "for sm_80"),
    "no cubin": ("f.cubin", lambda _: b"hello", "f.cubin cannot be linked"),
    "no PTX": ("f.ptx", lambda _: b"hello", "f.ptx cannot be linked"),
    "no CUDA C": ("f.cu", lambda _: b"int f() { return g; }", '"g" is undefined'),
}


@WITH_NVJITLINK
@pytest.mark.parametrize("name", BROKEN)
def test_broken_files_for_a_gpu(name: str, files: dict[str, Path], tmp_path: Path) -> None:
    file, write, said = BROKEN[name]
    data = write(files["f.cu"])
    (tmp_path / file).write_bytes(data)
    with pytest.raises(LinkError, match=said) as caught:
        cubin(module([tmp_path / file], tmp_path).k)
    assert str(tmp_path / file) in str(caught.value)


@WITH_NVJITLINK
@pytest.mark.parametrize("file", ["f.cu", "f.ptx"])
def test_a_function_that_is_not_as_declared(
    file: str, files: dict[str, Path], tmp_path: Path
) -> None:
    as_kind(files["f.cu"], "ptx")
    text = HEAD.format(str(tmp_path / file)) + (
        'f = cuda.declare_device("as_numba", "float32(float32, int32)", LINK, abi="c")\n'
        "@kernel\ndef k(a, counts, out):\n    out[0] = f(a[0], 1)\n"
    )
    with pytest.raises(LinkError, match=r"as_numba takes \(.b64, .b32, .b32\)(.|\n)*abi=.numba"):
        cubin(module_from(text, tmp_path).k)


@WITH_NVJITLINK
def test_functions_undefined_for_a_gpu(files: dict[str, Path], tmp_path: Path) -> None:
    files["f.cu"].write_text("")
    with pytest.raises(UndefinedFunctionError) as caught:
        cubin(module(files.values(), tmp_path).k)
    assert {"scaled", "as_numba", "bump", "bump_as_numba"} >= set(caught.value.names) > set()


def test_undefined_functions_are_reported_at_their_declaration(tmp_path: Path) -> None:
    text = HEAD.format([]) + (
        'f = cuda.declare_device("absent", "float32(float32)")\n'
        '@kernel(backend="cpu")\ndef k(a):\n    a[0] = f(a[0])\n'
    )
    loaded = module_from(text, tmp_path)
    with pytest.raises(CompileError) as on_cpu:
        loaded.k[1, 1](np.zeros(1, np.float32))
    with pytest.raises(CompileError) as on_gpu:
        loaded.k.attributes((F32,), "sm_90")
    for caught in (on_cpu, on_gpu):
        assert caught.value.code == "inline-c"
        assert "no linked file defines absent" in str(caught.value)
        assert 'f = cuda.declare_device("absent", "float32(float32)")' in str(caught.value)


def test_no_linker(files: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvjitlink, "nvjitlink", lambda: None)
    files["f.cu"].write_text(files["f.cu"].read_text() + "// of this test\n")
    with pytest.raises(ToolchainError, match=r"pip install 'pycu2c\[link\]'"):
        cubin(module(files.values(), tmp_path).k)


PRINTING = """
@cuda.c_function(link=LINK)
def scaled(x: float32, a: float32[::1], n: int32) -> float32: ...

@kernel
def k(a, counts, out):
    print("it is", scaled(1, a, 3))
"""


@pytest.mark.parametrize("backend", COMPILED)
def test_a_linked_kernel_prints(
    backend: str, files: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    loaded = module_from(HEAD.format([str(f) for f in files.values()]) + PRINTING, tmp_path)
    run(loaded.k, (1, 1), arguments(), backend)
    assert capsys.readouterr().out == "it is 5.0\n"


@WITH_NVJITLINK
def test_host_visible_symbols_exist_after_linking(files: dict[str, Path], tmp_path: Path) -> None:
    loaded = module_from(HEAD.format([str(f) for f in files.values()]) + PRINTING, tmp_path)
    assert b"print_log" in cubin(loaded.k)


# ---- numba's names ---------------------------------------------------------------------------

JIT = """
as_numba = cuda.declare_device("as_numba", sig="float32(float32, int32)")

@cuda.jit("void(float32[:], int32[:], float32[:])", link=LINK)
def k(a, counts, out):
    i = cuda.grid(1)
    out[i] = as_numba(a[i], i)
"""


@pytest.mark.parametrize("backend", COMPILED)
def test_a_kernel_of_jit(
    backend: str, files: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYCU2C_BACKEND", backend)
    inputs = arguments()
    module_from(HEAD.format([str(f) for f in files.values()]) + JIT, tmp_path).k[1, 4](*inputs)
    assert inputs[2].tolist() == [0, 2, 4, 6]


SUM = """
import cffi

ffi = cffi.FFI()
total = cuda.declare_device("total", "float32(CPointer(float32), int32)")

@cuda.jit(link=LINK)
def k(m, a, out):
    i = cuda.grid(1)
    out[i] = total(ffi.from_buffer(m), m.size) + total(ffi.from_buffer(a[i:]), len(a) - i)
"""
TOTAL = """int total(float *result, float *a, int n) {
    *result = 0;
    for (int i = 0; i < n; ++i) *result += a[i];
    return 0;
}
"""


@pytest.mark.parametrize("backend", COMPILED)
def test_arrays_as_numba_passes_them(
    backend: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYCU2C_BACKEND", backend)
    (tmp_path / "f.c").write_text(TOTAL)
    (tmp_path / "f.cu").write_text(f'extern "C" __device__ {TOTAL}')
    program = HEAD.format([str(tmp_path / "f.c"), str(tmp_path / "f.cu")]) + SUM
    m, a = np.ones((3, 4), np.float32), np.arange(3, dtype=np.float32)
    out = np.zeros(3, np.float32)
    module_from(program, tmp_path).k[1, 3](m, a, out)
    assert out.tolist() == [15, 15, 14]


def test_from_buffer_is_of_arrays(target: str) -> None:
    ffi = cffi.FFI()

    @kernel
    def k(m, out):
        out[0] = ffi.from_buffer(m)[5]

    assert run(k, (1, 1), [np.arange(6.0).reshape(2, 3), np.zeros(1)], target)[1][0] == 5

    @kernel
    def wrong(out):
        out[0] = ffi.from_buffer(out[0])

    with pytest.raises(CompileError, match=r"from_buffer\(\) takes an array"):
        wrong.inspect("ir", ("float64[::1]",))


def test_a_device_function_of_jit_is_linked_with_its_kernels(files: dict[str, Path]) -> None:
    with pytest.raises(OptionError, match="link is an option of kernels"):
        cuda.jit(device=True, link=[files["f.c"]])(lambda: None)
    with pytest.raises(OptionError, match="there is no file"):
        cuda.jit(link=["own.cu"])(lambda: None)


def test_pure_functions_only_read_their_arrays(tmp_path: Path) -> None:
    text = "float first(const float *a) { return a[0]; }\n"
    (tmp_path / "f.c").write_text(text)
    (tmp_path / "f.cu").write_text(f'extern "C" __device__ {text}')
    program = HEAD.format([str(tmp_path / "f.c"), str(tmp_path / "f.cu")]) + (
        "@cuda.c_function(link=LINK, pure=True)\ndef first(a: float32[::1]) -> float32: ...\n"
        "@kernel\ndef k(a, counts, out):\n    out[0] = first(a)\n"
    )
    k = module_from(program, tmp_path).k
    assert run(k, (1, 1), arguments(), "cpu")[2][0] == 0
    made = k.launcher.compiler.generate("cuda", parse_signature((F32, "int32[::1]", F32)))
    assert nvrtc.compile(made.text, "k", "sm_90", kind="ptx").log == ""
    assert made.written == {2}


# ---- what is given ---------------------------------------------------------------------------


def compiles_files_as_one(file: Path) -> bool:
    """Whether the compiler does; some installations of gcc cannot."""
    words = [*find_compiler().command, "-flto", "-shared", "-fPIC", "-o", f"{file}.so", str(file)]
    is_gcc = "clang" not in find_compiler().version.lower()
    return is_gcc and subprocess.run(words, capture_output=True, check=False).returncode == 0


def test_a_function_of_c_that_is_not_as_declared(files: dict[str, Path], tmp_path: Path) -> None:
    if not compiles_files_as_one(files["f.c"]):
        return  # nobody looks at it
    text = HEAD.format(str(files["f.c"])) + (
        'f = cuda.declare_device("as_numba", "float32(float32, int32)", LINK, abi="c")\n'
        '@kernel(backend="cpu")\ndef k(out):\n    out[0] = f(out[0], 1)\n'
    )
    with pytest.raises(CompileError, match="type of 'as_numba' does not match") as caught:
        module_from(text, tmp_path).k[1, 1](np.zeros(1, np.float32))
    assert caught.value.line == 6


def test_a_file_of_c_that_does_not_compile(files: dict[str, Path], tmp_path: Path) -> None:
    files["f.c"].write_text("float scaled(void) { return x; }")
    with pytest.raises(LinkError, match=r"f\.c cannot be linked(.|\n)*'x' undeclared"):
        run(module(files.values(), tmp_path).k, (1, 4), arguments(), "cpu")


CUDA_C = """
import numpy as np
from pycu2c import cuda, float32, kernel

FUNCTIONS = cuda.CUSource('''
#include <cuda_runtime.h>
__device__ static float half_of(float x) { return x / 2; }
extern "C" __device__ int as_numba(float *result, float x) {
    *result = max(half_of(x), rsqrtf(4.0f));
    return 0;
}
extern "C" __device__ __forceinline__ float in_both(float x) { return 3 * x; }
extern "C" __device__ float thread() { return threadIdx_or_nothing; }
'''.replace("threadIdx_or_nothing", "{}"))
as_numba = cuda.declare_device("as_numba", "float32(float32)", link=FUNCTIONS)

@cuda.c_function(link=FUNCTIONS)
def in_both(x: float32) -> float32:
    return x + 100

@kernel
def k(a):
    i = cuda.grid(1)
    a[i] = as_numba(a[i]) + in_both(a[i])

@kernel(link=FUNCTIONS)
def python_alone(a):
    a[cuda.grid(1)] += in_both(np.float32(1))
"""


@pytest.mark.parametrize("backend", ["cpu", "cpu-resumable"])
def test_cuda_c_is_compiled_for_the_cpu_if_no_other_code_exists(
    backend: str, tmp_path: Path
) -> None:
    """A Python body comes before it, as does a file of C."""
    k = module_from(CUDA_C.replace("{}", "0"), tmp_path).k
    (a,) = run(k, (1, 4), [np.arange(4, dtype=np.float32)], backend)
    assert a.tolist() == [100.5, 101.5, 103, 104.5]


def test_cuda_c_that_does_not_compile_for_the_cpu(tmp_path: Path) -> None:
    loaded = module_from(CUDA_C.replace("{}", "threadIdx.x"), tmp_path)
    (a,) = run(loaded.python_alone, (1, 1), [np.zeros(1, np.float32)], "cpu")
    assert a == 101
    with pytest.raises(LinkError, match=r"(?s)does not compile as C\+\+ for the CPU.*threadIdx"):
        run(loaded.k, (1, 1), [np.zeros(1, np.float32)], "cpu")


def test_files_are_taken_by_their_suffixes(tmp_path: Path) -> None:
    for name in ("f.cu", "f.c", "f.o", "f.ptx"):
        (tmp_path / name).write_text("")
    inputs = [tmp_path / "f.cu", str(tmp_path / "f.c"), tmp_path / "f.o"]
    links = parse_links(inputs)
    assert [os.path.basename(f) for f in links_for_target(links, "cuda")] == ["f.cu", "f.o"]
    assert [os.path.basename(f) for f in links_for_target(links, "c")] == ["f.cu", "f.c", "f.o"]
    raised = parse_links({"cuda": tmp_path / "f.o", "cpu": [tmp_path / "f.c"]})
    assert [(d, os.path.basename(f)) for d, f in raised] == [("cuda", "f.o"), ("c", "f.c")]
    assert parse_links(None) == ()


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        ("f.cu", "there is no file .*f.cu"),
        ("f.py", "ends in .py: cuda takes .cu, .ptx, .*; cpu takes .c, .so"),
        ("f", "ends in nothing"),
        ({"cpu": "f.ptx"}, r"ends in .ptx: cpu takes .c, .so, .o, .a, .cu$"),
        ({"gpu": "f.cu"}, "for 'cuda' or 'cpu', not for 'gpu'"),
        (3, "named by its path, not by 3"),
        ([3], "named by its path, not by 3"),
    ],
)
def test_wrong_files(inputs: object, said: str) -> None:
    with pytest.raises(BadLink, match=said):
        parse_links(inputs)
    with pytest.raises(OptionError, match=said):
        kernel(link=inputs)(lambda: None)
    with pytest.raises(BadLink, match=said):
        cuda.declare_device("f", "float32(float32)", inputs)


def test_wrong_declarations() -> None:
    with pytest.raises(ValueError, match="not a valid C function name"):
        cuda.declare_device("a b", "float32(float32)")
    with pytest.raises(ValueError, match='abi is "numba" or "c"'):
        cuda.declare_device("f", "float32(float32)", abi="python")
    with pytest.raises(CompileError, match="needs a signature"):
        cuda.declare_device("f", (float32, int32))
    with pytest.raises(CompileError, match="annotate it: def g"):

        @cuda.c_function
        def g(x): ...

    with pytest.raises(TypeError, match="unexpected keyword argument 'gpu'"):
        cuda.c_function(gpu="return 1;")(lambda: None)


COOPERATIVE = """
grid_barrier = cuda.declare_device("grid_barrier", "int32()", LINK, abi="c", use_cooperative=True)

@kernel
def k(out):
    i = cuda.grid(1)
    out[i] = grid_barrier()
"""
GRID_BARRIER = """
#include <cooperative_groups.h>
extern "C" __device__ int grid_barrier() {
    cooperative_groups::this_grid().sync();
    return 7;
}
"""


def test_a_function_that_synchronizes_the_grid(tmp_path: Path) -> None:
    (tmp_path / "f.cu").write_text(GRID_BARRIER)
    k = module_from(HEAD.format([str(tmp_path / "f.cu")]) + COOPERATIVE, tmp_path).k
    signature = parse_signature("void(int32[::1])")
    assert k.launcher.compiler.generate("cuda", signature).needs_cooperative_launch
    with pytest.raises(CompileError, match="grid_barrier has no code for the CPU"):
        run(k, (1, 1), [np.zeros(1, np.int32)], "cpu")
    if driver.available():
        assert run(k, (2, 4), [np.zeros(8, np.int32)], "cuda")[0].tolist() == [7] * 8
