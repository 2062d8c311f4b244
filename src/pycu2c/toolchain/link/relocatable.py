"""A kernel's text and files of the user's -> one cubin. CUDA C among the files is compiled first.

Functions are called by their names alone, so what each of them takes and gives is compared with how
it was declared, in PTX, which tells it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

from pycu2c.toolchain.link import file_identity, nvjitlink
from pycu2c.toolchain.link.inputs import Input
from pycu2c.toolchain.nvrtc.program import Job, Kind, compiled, tried
from pycu2c.toolchain.toolchain_errors import LinkError, Unlinked

FLAGS = ("--relocatable-device-code=true",)
OF_KIND: dict[Kind, tuple[str, ...]] = {"cubin": FLAGS, "ptx": FLAGS, "ltoir": ("-dlto",)}

# .extern .func  (.param .b32 func_retval0) f\n(\n\t.param .b32 f_param_0\n)
_FUNCTION = re.compile(
    r"^\.(extern|visible)\s+\.func\s*(\([^)]*\))?\s*([\w$]+)\s*(\([^)]*\))?", re.MULTILINE
)
_PARAMETER = re.compile(r"\.param\s+((?:\.align\s+\d+\s+)?\.\w+)\s+[\w$]+(\[\d+\])?")


def linked(job: Job, files: Sequence[str]) -> tuple[bytes, str]:
    """The cubin and the log. Raises RejectedCode, LinkError, ToolchainError."""
    linker = nvjitlink.find_linker()
    kernel, _ = compiled(_of_kind(job, linker.takes))
    inputs = [Input(linker.takes, kernel, job.name)]
    inputs += [_input(path, job, linker.takes) for path in files]
    _check_prototypes(job, files)
    try:
        return linker.link(inputs, job.arch, job.options)
    except Unlinked:
        raise
    except LinkError:
        compiled(_of_kind(job, "cubin"))  # says what the assembler has against the kernel itself
        raise


def _of_kind(job: Job, kind: Kind) -> Job:
    return job._replace(kind=kind, more=OF_KIND[kind])


def _input(path: str, job: Job, kind: Kind) -> Input:
    suffix = os.path.splitext(path)[1]
    if suffix == ".cu":
        return Input(kind, _of_file(path, job, kind), path)
    return Input(nvjitlink.OF_SUFFIX[suffix], file_identity.content(path), path)


def _of_file(path: str, job: Job, kind: Kind) -> bytes:
    """CUDA C of the user's. It finds what it includes beside it."""
    text = file_identity.content(path).decode("utf-8", "replace")
    beside = (*OF_KIND[kind], f"--include-path={os.path.dirname(path)}")
    made, log = tried(job._replace(text=text, name=path, kind=kind, more=beside))
    if made is None:
        raise LinkError(f"{path} does not compile:\n{log}")
    return made


def _check_prototypes(job: Job, files: Sequence[str]) -> None:
    """Linkers say nothing of a function that is called otherwise than it is."""
    ptx, _ = compiled(_of_kind(job, "ptx"))
    declared = {name: types for how, name, types in _functions(ptx) if how == "extern"}
    for path in files:
        for how, name, types in _functions(_ptx_of(path, job)):
            if how == "visible" and types != declared.get(name, types):
                raise LinkError(
                    f"{name} {_said(types)} in {path}, and {_said(declared[name])} where it is "
                    "declared: they must agree. (By numba's rules a function gives a status, and "
                    'its value through a pointer that comes first: abi="numba".)'
                )


def _ptx_of(path: str, job: Job) -> bytes:
    suffix = os.path.splitext(path)[1]
    if suffix == ".cu":
        return _of_file(path, job, "ptx")
    return file_identity.content(path) if suffix == ".ptx" else b""


def _functions(ptx: bytes) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """How each is there, its name, and what it gives and takes."""
    for how, result, name, parameters in _FUNCTION.findall(ptx.decode("utf-8", "replace")):
        yield how, name, (_types(result)[:1] or ("",)) + _types(parameters)


def _types(text: str) -> tuple[str, ...]:
    return tuple(kind + extent for kind, extent in _PARAMETER.findall(text))


def _said(types: tuple[str, ...]) -> str:
    result, *taken = types
    return f"takes ({', '.join(taken)}) and gives {result or 'nothing'}"
