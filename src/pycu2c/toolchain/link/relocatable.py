"""Link a kernel's CUDA C and files of the user to one cubin; compile CUDA C files first.

Linkers resolve functions by name alone, so the PTX prototypes of declarations and definitions are
compared before.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

from pycu2c.toolchain.link import file_identity, nvjitlink
from pycu2c.toolchain.link.nvjitlink import LinkInput
from pycu2c.toolchain.nvrtc.program import BinaryKind, NvrtcJob, compile_job, try_compile
from pycu2c.toolchain.toolchain_errors import LinkError, UndefinedFunctionError

FLAGS = ("--relocatable-device-code=true",)
FLAGS_BY_KIND: dict[BinaryKind, tuple[str, ...]] = {
    "cubin": FLAGS,
    "ptx": FLAGS,
    "ltoir": ("-dlto",),
}

# .extern .func  (.param .b32 func_retval0) f\n(\n\t.param .b32 f_param_0\n)
_FUNCTION = re.compile(
    r"^\.(extern|visible)\s+\.func\s*(\([^)]*\))?\s*([\w$]+)\s*(\([^)]*\))?", re.MULTILINE
)
_PARAMETER = re.compile(r"\.param\s+((?:\.align\s+\d+\s+)?\.\w+)\s+[\w$]+(\[\d+\])?")


def link(job: NvrtcJob, files: Sequence[str]) -> tuple[bytes, str]:
    """Return the cubin and the log. Raises RejectedCodeError, LinkError, ToolchainError."""
    nvjitlink.require()
    kernel, _ = compile_job(_with_kind(job, "ltoir"))
    inputs = [LinkInput("ltoir", kernel, job.name), *(_link_input(path, job) for path in files)]
    _check_prototypes(job, files)
    try:
        return nvjitlink.link(inputs, job.arch, job.options)
    except UndefinedFunctionError:
        raise
    except LinkError:
        compile_job(_with_kind(job, "cubin"))  # raises RejectedCodeError if the kernel is at fault
        raise


def _with_kind(job: NvrtcJob, kind: BinaryKind) -> NvrtcJob:
    return job._replace(kind=kind, extra_flags=FLAGS_BY_KIND[kind])


def _link_input(path: str, job: NvrtcJob) -> LinkInput:
    suffix = os.path.splitext(path)[1]
    if suffix == ".cu":
        return LinkInput("ltoir", _compile_file(path, job, "ltoir"), path)
    return LinkInput(nvjitlink.KIND_BY_SUFFIX[suffix], file_identity.read_file(path), path)


def _compile_file(path: str, job: NvrtcJob, kind: BinaryKind) -> bytes:
    """Compile CUDA C of the user, with its folder as an include path."""
    text = file_identity.read_file(path).decode("utf-8", "replace")
    flags = (*FLAGS_BY_KIND[kind], f"--include-path={os.path.dirname(path)}")
    data, log = try_compile(job._replace(text=text, name=path, kind=kind, extra_flags=flags))
    if data is None:
        raise LinkError(f"{path} does not compile:\n{log}")
    return data


def _check_prototypes(job: NvrtcJob, files: Sequence[str]) -> None:
    """Compare prototypes, which linkers ignore: a mismatch would be undefined behavior."""
    ptx, _ = compile_job(_with_kind(job, "ptx"))
    declared = {name: types for linkage, name, types in _functions(ptx) if linkage == "extern"}
    for path in files:
        for linkage, name, types in _functions(_ptx_of(path, job)):
            if linkage == "visible" and types != declared.get(name, types):
                raise LinkError(
                    f"{name} {_prototype_text(types)} in {path}, and "
                    f"{_prototype_text(declared[name])} in the declaration: they must agree. "
                    "(With numba's ABI a function returns a status, and stores its value through "
                    'its first argument, a pointer: abi="numba".)'
                )


def _ptx_of(path: str, job: NvrtcJob) -> bytes:
    suffix = os.path.splitext(path)[1]
    if suffix == ".cu":
        return _compile_file(path, job, "ptx")
    return file_identity.read_file(path) if suffix == ".ptx" else b""


def _functions(ptx: bytes) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield linkage, name, and the types of result and parameters of each function."""
    for linkage, result, name, parameters in _FUNCTION.findall(ptx.decode("utf-8", "replace")):
        yield linkage, name, (_types(result)[:1] or ("",)) + _types(parameters)


def _types(text: str) -> tuple[str, ...]:
    return tuple(kind + extent for kind, extent in _PARAMETER.findall(text))


def _prototype_text(types: tuple[str, ...]) -> str:
    result, *parameters = types
    return f"takes ({', '.join(parameters)}) and returns {result or 'nothing'}"
