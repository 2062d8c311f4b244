"""Names that variables and functions in generated code cannot have.

These are keywords, declarations and macros of the C headers and of CUDA, and the helpers of
``codegen/helpers/catalog.py``.
"""

from __future__ import annotations

import functools
import re

from pycu2c.base.dtypes import DTYPES, VECTORS
from pycu2c.codegen.helpers.catalog import helper_named
from pycu2c.codegen.includes import is_math
from pycu2c.csyntax.keywords import KEYWORDS

_WORDS = frozenset(
    """
    threadIdx blockIdx blockDim gridDim warpSize dim3 uint3 clock clock64 printf assert
    memcpy memmove memset strlen main args self block thread first_block last_block state
    dynamic_shared launched globaltimer hadd mulhi rhadd sad uhadd umulhi urhadd usad
    store_line nontemporal_fence
    int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t size_t NULL
    print_log print_record aligned packed texture surface texture_data surface_data
    INFINITY NAN near far errno float16 bfloat16 complex64 complex128
    """.split()  # noqa: SIM905
)
# <stdlib.h>, <time.h>, <fenv.h>, the headers that they include, and functions that CUDA overloads
_LIBRARY = frozenset(
    """
    a64l abort abs aligned_alloc all alloca any arc4random arc4random_buf arc4random_uniform
    asctime asctime_r at_quick_exit atexit atof atoi atol atoll ballot bsearch calloc clearenv
    clock_t ctime ctime_r daylight difftime div drand48 dysize ecvt erand48 exit fcvt
    feclearexcept fedisableexcept feenableexcept fegetenv fegetexcept fegetexceptflag fegetmode
    fegetround feholdexcept femode_t fenv_t feraiseexcept fesetenv fesetexcept fesetexceptflag
    fesetmode fesetround fetestexcept fetestexceptflag feupdateenv fexcept_t free gcvt getdate
    getenv getloadavg getsubopt gmtime gmtime_r index initstate jrand48 l64a labs lcong48 ldiv
    llabs lldiv llmax llmin locale_t localtime localtime_r lrand48 malloc max mblen mbstowcs
    mbtowc min mkdtemp mkstemp mkstemps mktemp mktime mrand48 mul24 nanosleep nrand48 on_exit
    pid_t posix_memalign pselect putenv qecvt qfcvt qgcvt qsort quick_exit rand rand_r random
    realloc reallocarray realpath rindex rpmatch saturate seed48 select setenv setstate signal
    srand srand48 srandom strftime strftime_l strptime strtod strtof strtol strtold strtoll strtoq
    strtoul strtoull strtouq system time time_t timegm timelocal timespec_get timespec_getres
    timezone tzname tzset ullmax ullmin umax umin umul24 unsetenv valloc wcstombs wctomb
    """.split()  # noqa: SIM905
)
_MACROS = (  # names with a capital letter
    r"U?INT\w*_(MAX|MIN|C)|(PTRDIFF|SIG_ATOMIC|SIZE|WCHAR|WINT|MB_CUR|RAND)_(MAX|MIN)|M_\w+|FP_\w+"
    r"|HUGE_VAL[FL]?|MATH_ERR\w+|EXIT_(FAILURE|SUCCESS)|FD_\w+|NFDBITS|W[A-Z]+"
    r"|WAIT_[A-Z]+|ENDED|OPERATION|(threadIdx|blockIdx|blockDim|gridDim)_[xyz]|(BYTE|BIG|LITTLE|PDP)_(ORDER|ENDIAN)|atomic[A-Z]\w*"
    r"|(FE|CLOCK|TIMER|TIME)_\w+|CLOCKS_PER_SEC"
)
_SMALL = (  # names without a capital letter
    r"math_errhandling|(first|last|next)_[xyz]|print_\d+|\w+_packed|(texture|surface)_(number|place|index|element|weights|rounded|scaled|half|nearest|blended|fetch)|[bl]e(16|32|64)toh|hto[bl]e(16|32|64)"
    r"|u?int(_(least|fast)(8|16|32|64)|max|ptr)_t|(clock|timer)_\w+"
)
_VECTORS = frozenset(
    name
    for row in VECTORS.values()
    for name in (row.name, row.cuda, f"make_{row.cuda}", f"{row.c}_anywhere")
)
_CUDA = r"(tex|surf)[123]D\w*|cuda(Texture|Surface|Boundary)\w*"
_SHORT = frozenset(dtype.short for dtype in DTYPES)
# suffixes of helper names; only for these is a module of helpers imported
_ENDS = _SHORT.union(
    """
    bfloat16 double e4m3 e5m2 float half hi int l lc lo longlong of perm r rc rd rn ru rz short
    sync uint ushort
    """.split()  # noqa: SIM905
)


def is_reserved(name: str) -> bool:
    """Return whether C, CUDA or a helper function declares a name."""
    if name in KEYWORDS or name in _WORDS or name in _LIBRARY or name in _VECTORS or is_math(name):
        return True
    if name.isalpha() and name.islower():  # no pattern matches; compiling them takes 2 ms
        return False
    if _is_helper(name) or _small().fullmatch(name):
        return True
    return not name.islower() and bool(_patterns().fullmatch(name))


def _is_helper(name: str) -> bool:
    stem, _, end = name.rpartition("_")
    if stem and end not in _ENDS:
        return False
    helper = helper_named(name)
    if helper is not None and helper.fixed:
        return True
    return end in _SHORT and helper_named(stem) is not None


@functools.cache
def _small() -> re.Pattern[str]:
    return re.compile(_SMALL)


@functools.cache
def _patterns() -> re.Pattern[str]:
    return re.compile(f"{_MACROS}|{_CUDA}")
