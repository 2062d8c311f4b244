"""Parse compiler options of users, for NVRTC and for the C++ compiler."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pycu2c.base.records import dataclass
from pycu2c.compat.cuda_text.source_text import CudaSource

_ARCH_OPTIONS = ("-arch=", "--gpu-architecture=")
_MACRO_OPTIONS = ("-D", "-U", "--define-macro", "--undefine-macro")
_OPTIONS_WITH_VALUE = ("-I", "-D", "-U", "--include-path", "--define-macro", "--undefine-macro")


@dataclass(frozen=True, slots=True)
class CompilerOptions:
    """Options of NVRTC or nvcc, one per word: ``--std=c++17``, ``-DN=3``, ``-Ifolder``."""

    words: tuple[str, ...] = ()

    @property
    def arch(self) -> str | None:
        """Return the architecture option, if any."""
        return next((w.partition("=")[2] for w in self.words if w.startswith(_ARCH_OPTIONS)), None)

    @property
    def without_macros(self) -> tuple[str, ...]:
        """Return the options without macros, which the text defines after the headers instead."""
        return tuple(word for word in self.words if not word.startswith(_MACRO_OPTIONS))

    def for_nvrtc(self, arch: str) -> tuple[str, ...]:
        """Return the options for NVRTC, without macros."""
        words = self.without_macros
        return words if self.arch else (f"--gpu-architecture={arch}", *words)

    def with_macros(self, text: CudaSource) -> str:
        """Return the source, preceded by definitions of the macros."""
        return "\n".join([*self.macros, f'#line 1 "{text.name}"', text.code])

    @property
    def folders(self) -> tuple[str, ...]:
        """Return the include directories."""
        return tuple(
            value for name, value in self._option_values if name in ("-I", "--include-path")
        )

    @property
    def macros(self) -> tuple[str, ...]:
        """Return the macro options as preprocessor directives."""
        directives = []
        for option, definition in self._option_values:
            name, equals, value = definition.partition("=")
            if option in ("-D", "--define-macro"):
                directives.append(f"#define {name} {value if equals else 1}")
            elif option in ("-U", "--undefine-macro"):
                directives.append(f"#undef {name}")
        return tuple(directives)

    @property
    def standard(self) -> str | None:
        """Return the C++ standard option, such as ``c++17``."""
        names = ("-std=", "--std=")
        return next((w.partition("=")[2] for w in self.words if w.startswith(names)), None)

    @property
    def uses_fast_math(self) -> bool:
        return any(w.lstrip("-") in ("use_fast_math", "use_fast_math=true") for w in self.words)

    @property
    def allows_contraction(self) -> bool:
        """Return whether a multiplication and an addition may be contracted to an FMA."""
        return not any(w.lstrip("-") in ("fmad=false",) for w in self.words)

    @property
    def _option_values(self) -> Iterator[tuple[str, str]]:
        for word in self.words:
            for name in _OPTIONS_WITH_VALUE:
                if word.startswith(name):
                    yield name, word.removeprefix(name).removeprefix("=")
                    break


def options_of(options: Iterable[str] | str | None) -> CompilerOptions:
    """Return options from a list, or from one option as a string.

    ``-I`` and its folder may be two items of the list.

    Raises
    ------
    TypeError
        If a word is not a string.
    """
    words: list[str] = []
    for word in [options] if isinstance(options, str) else list(options or ()):
        if not isinstance(word, str):
            raise TypeError(f"options are strings, such as '-DN=3', not {word!r}")
        if words and words[-1] in _OPTIONS_WITH_VALUE:
            words[-1] += ("=" if words[-1].startswith("--") else "") + word
        else:
            words.append(word)
    return CompilerOptions(tuple(words))
