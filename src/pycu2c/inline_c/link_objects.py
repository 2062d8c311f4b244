"""Define link inputs in memory, ``link=[cuda.CUSource("…")]``, with numba's names."""

from __future__ import annotations

import os
import re
from typing import Any, ClassVar

from pycu2c.base.hashing import digest_of
from pycu2c.toolchain.cache.cache_directory import sibling_folder


class LinkableCode:
    """A link input in memory: ``link=[cuda.CUSource("…")]``. The subclass defines its kind.

    Parameters
    ----------
    data : str, bytes or file
        The content; a file is open for reading.
    name : str, optional
        The name in messages.
    setup_callback, teardown_callback : None, optional
        Not supported.
    nrt : bool, optional
        Not supported.

    Raises
    ------
    NotImplementedError
        If callbacks or numba's runtime are requested.
    """

    suffix: ClassVar[str] = ""

    def __init__(
        self,
        data: Any,
        name: str | None = None,
        setup_callback: object = None,
        teardown_callback: object = None,
        nrt: bool = False,
    ) -> None:
        if setup_callback is not None or teardown_callback is not None or nrt:
            raise NotImplementedError(
                "setup_callback, teardown_callback and nrt are not supported: code is linked into "
                "each kernel, and there is no numba runtime"
            )
        content = data.read() if hasattr(data, "read") else data
        self.data = content.encode() if isinstance(content, str) else bytes(content)
        self.name = name or type(self).__name__

    def __fspath__(self) -> str:
        """Return the path of a content-addressed file with the data; write it if it is missing."""
        stem = re.sub(r"\W", "_", self.name)
        file = f"{stem}-{digest_of(self.data)[:12]}{self.suffix}"
        path = os.path.join(sibling_folder("linked"), file)
        if not os.path.isfile(path):
            temporary = f"{path}.{os.getpid()}-{os.urandom(4).hex()}"
            with open(temporary, "xb") as file_handle:
                file_handle.write(self.data)
            os.replace(temporary, path)
        return path


class CSource(LinkableCode):
    """C source, for the CPU."""

    suffix = ".c"


class CUSource(LinkableCode):
    """CUDA C source."""

    suffix = ".cu"


class PTXSource(LinkableCode):
    """A PTX text."""

    suffix = ".ptx"


class Cubin(LinkableCode):
    """A binary for one GPU architecture."""

    suffix = ".cubin"


class Fatbin(LinkableCode):
    """Binaries for several GPU architectures."""

    suffix = ".fatbin"


class LTOIR(LinkableCode):
    """LTO-IR, which NVRTC and nvcc generate with ``-dlto``."""

    suffix = ".ltoir"


class Object(LinkableCode):
    """An object file."""

    suffix = ".o"


class Archive(LinkableCode):
    """A static library."""

    suffix = ".a"
