"""Code in memory that kernels are linked with, instead of files: ``link=[cuda.CUSource("…")]``.
Names and parameters are numba's."""

from __future__ import annotations

import os
import re
from typing import Any, ClassVar

from pycu2c.base.hashing import digest_of
from pycu2c.toolchain.cache.cache_directory import sibling_folder


class LinkableCode:
    """Something to link. Which kind it is, its class says."""

    suffix: ClassVar[str] = ""

    def __init__(
        self,
        data: Any,
        name: str | None = None,
        setup_callback: object = None,
        teardown_callback: object = None,
        nrt: bool = False,
    ) -> None:
        """data: text, bytes, or a file that is open for reading. name: what messages call it."""
        if setup_callback is not None or teardown_callback is not None or nrt:
            raise NotImplementedError(
                "setup_callback, teardown_callback and nrt mean nothing here: code is linked into "
                "each kernel, and there is no runtime of numba"
            )
        read = data.read() if hasattr(data, "read") else data
        self.data = read.encode() if isinstance(read, str) else bytes(read)
        self.name = name or type(self).__name__

    def __fspath__(self) -> str:
        """A file that has it: the same for the same code."""
        stem = re.sub(r"\W", "_", self.name)
        file = f"{stem}-{digest_of(self.data)[:12]}{self.suffix}"
        path = os.path.join(sibling_folder("linked"), file)
        if not os.path.isfile(path):
            temporary = f"{path}.{os.getpid()}-{os.urandom(4).hex()}"
            with open(temporary, "xb") as written:
                written.write(self.data)
            os.replace(temporary, path)
        return path


class CSource(LinkableCode):
    """C, for the CPU."""

    suffix = ".c"


class CUSource(LinkableCode):
    """CUDA C."""

    suffix = ".cu"


class PTXSource(LinkableCode):
    """PTX."""

    suffix = ".ptx"


class Cubin(LinkableCode):
    """Code for one GPU architecture."""

    suffix = ".cubin"


class Fatbin(LinkableCode):
    """Code for several GPU architectures."""

    suffix = ".fatbin"


class LTOIR(LinkableCode):
    """What NVRTC and nvcc make with ``-dlto``."""

    suffix = ".ltoir"


class Object(LinkableCode):
    """An object file."""

    suffix = ".o"


class Archive(LinkableCode):
    """A library of object files."""

    suffix = ".a"
