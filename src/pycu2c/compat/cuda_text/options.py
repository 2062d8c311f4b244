"""What a compiler of CUDA C is told: the words that users give, for NVRTC and for C++. Compiles
nothing."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator

from pycu2c.base.records import dataclass
from pycu2c.compat.cuda_text.source_text import CudaSource
from pycu2c.toolchain.link import file_identity

_ARCH = ("-arch=", "--gpu-architecture=", "-gencode")
_INCLUDE = re.compile(r'(?m)^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+)[">]')
_MACROS = ("-D", "-U", "--define-macro", "--undefine-macro")
_WITH_VALUE = ("-I", "-D", "-U", "--include-path", "--define-macro", "--undefine-macro")


@dataclass(frozen=True, slots=True)
class CompilerOptions:
    """Options of NVRTC's or nvcc's, each a word: ``--std=c++17``, ``-DN=3``, ``-Ifolder``."""

    words: tuple[str, ...] = ()

    @property
    def arch(self) -> str | None:
        """The architecture that they name, if any."""
        return next((w.partition("=")[2] for w in self.words if w.startswith(_ARCH[:2])), None)

    @property
    def without_macros(self) -> tuple[str, ...]:
        """Macros stand in the text: headers in front of it may have such names."""
        return tuple(word for word in self.words if not word.startswith(_MACROS))

    def for_nvrtc(self, arch: str) -> tuple[str, ...]:
        """All but macros."""
        words = self.without_macros
        return words if self.arch else (f"--gpu-architecture={arch}", *words)

    def with_macros(self, text: CudaSource) -> str:
        """A text behind the macros that it is given."""
        return "\n".join([*self.macros, f'#line 1 "{text.name}"', text.code])

    @property
    def folders(self) -> tuple[str, ...]:
        """Where included files are looked for."""
        return tuple(value for name, value in self._values if name in ("-I", "--include-path"))

    @property
    def macros(self) -> tuple[str, ...]:
        """Those that define macros, as lines of a text."""
        found = []
        for option, word in self._values:
            name, equals, value = word.partition("=")
            if option in ("-D", "--define-macro"):
                found.append(f"#define {name} {value if equals else 1}")
            elif option in ("-U", "--undefine-macro"):
                found.append(f"#undef {name}")
        return tuple(found)

    @property
    def standard(self) -> str | None:
        """That of C++ which they ask for: ``c++17``."""
        names = ("-std=", "--std=")
        return next((w.partition("=")[2] for w in self.words if w.startswith(names)), None)

    @property
    def is_fast(self) -> bool:
        return any(w.lstrip("-") in ("use_fast_math", "use_fast_math=true") for w in self.words)

    @property
    def contracts(self) -> bool:
        """Whether a product and a sum of it may be one operation."""
        return not any(w.lstrip("-") in ("fmad=false",) for w in self.words)

    @property
    def _values(self) -> Iterator[tuple[str, str]]:
        for word in self.words:
            for name in _WITH_VALUE:
                if word.startswith(name):
                    yield name, word.removeprefix(name).removeprefix("=")
                    break


def options_of(given: Iterable[str] | str | None) -> CompilerOptions:
    """Options as users give them: a tuple or list of words. ``-I`` and ``folder`` may be two."""
    words: list[str] = []
    for word in [given] if isinstance(given, str) else list(given or ()):
        if not isinstance(word, str):
            raise TypeError(f"options are strings, such as '-DN=3', not {word!r}")
        if words and words[-1] in _WITH_VALUE:
            words[-1] += ("=" if words[-1].startswith("--") else "") + word
        else:
            words.append(word)
    return CompilerOptions(tuple(words))


def included_file_identities(text: str, folders: tuple[str, ...]) -> tuple[str, ...]:
    """What the files hold that a text includes and that lie in these folders."""
    names = dict.fromkeys(_INCLUDE.findall(text))
    paths = (os.path.join(folder, name) for name in names for folder in (*folders, "."))
    return tuple(file_identity.file_identity(path) for path in paths if os.path.isfile(path))
