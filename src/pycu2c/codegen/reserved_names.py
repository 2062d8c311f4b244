"""Names that variables and functions in generated code cannot have.

These are keywords, declarations and macros of the C headers and of CUDA, and the helpers of
``codegen/helpers/catalog.py``.
"""

from __future__ import annotations

import re

from pycu2c.base.dtypes import VECTORS
from pycu2c.codegen.helpers.catalog import helper_named
from pycu2c.codegen.includes import is_math
from pycu2c.csyntax.keywords import KEYWORDS

_BUILT_IN_NAMES = frozenset(
    """
    threadIdx blockIdx blockDim gridDim warpSize dim3 uint3 clock clock64 printf assert std EOF
    memcpy memmove memset strlen main arguments args self block thread first_block last_block
    next_block row_end state
    dynamic_shared
    int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t size_t NULL
    print_log print_record aligned packed texture surface texture_data surface_data
    INFINITY NAN NV_IF_ELSE_TARGET NV_IF_TARGET near far errno float16 bfloat16 complex64 complex128
    """.split()  # noqa: SIM905
)
# the C headers of generated code, the headers that they include, and functions that CUDA overloads
_LIBRARY_NAMES = frozenset(
    """
    a64l abort abs aligned_alloc all alloca any arc4random arc4random_buf arc4random_uniform
    asctime asctime_r at_quick_exit atexit atof atoi atol atoll ballot bcmp bcopy bsearch bzero
    calloc clearenv clock_t clockid_t ctime ctime_r daylight difftime div double_t drand48 dysize
    ecvt erand48 exit explicit_bzero fcvt feclearexcept fedisableexcept feenableexcept fegetenv
    fegetexcept fegetexceptflag fegetmode fegetround feholdexcept femode_t fenv_t feraiseexcept
    fesetenv fesetexcept fesetexceptflag fesetmode fesetround fetestexcept fetestexceptflag
    feupdateenv fexcept_t ffs ffsl ffsll float_t free gcvt getdate getenv getloadavg getsubopt
    gmtime gmtime_r index initstate jrand48 l64a labs lcong48 ldiv lgammaf_r lgammal_r llabs lldiv
    llmax llmin locale_t localtime localtime_r lrand48 malloc max max_align_t mblen mbstowcs mbtowc
    memccpy memchr memcmp min mkdtemp mkstemp mkstemps mktemp mktime mrand48 mul24 nanosleep
    nrand48 offsetof on_exit pid_t posix_memalign pselect ptrdiff_t putenv qecvt qfcvt qgcvt qsort
    quick_exit rand rand_r random realloc reallocarray realpath rindex rpmatch saturate seed48
    select setenv setstate signal srand srand48 srandom stpcpy stpncpy strcasecmp strcasecmp_l
    strcat strchr strcmp strcoll strcoll_l strcpy strcspn strdup strerror strerror_l strerror_r
    strftime strftime_l strncasecmp strncasecmp_l strncat strncmp strncpy strndup strnlen strpbrk
    strptime strrchr strsep strsignal strspn strstr strtod strtof strtok strtok_r strtol strtold
    strtoll strtoq strtoul strtoull strtouq strxfrm strxfrm_l system time time_t timegm timelocal
    timespec_get timespec_getres timezone tzname tzset ullmax ullmin umax umin umul24 unsetenv
    va_arg va_copy va_end va_list va_start valloc wcstombs wctomb
    """.split()  # noqa: SIM905
)
_PATTERN = re.compile(
    # macros
    r"U?INT\w*_(MAX|MIN|C)|(PTRDIFF|SIG_ATOMIC|SIZE|WCHAR|WINT|MB_CUR|RAND)_(MAX|MIN)|M_\w+|FP_\w+"
    r"|HUGE_VAL[FL]?|MATH_ERR\w+|EXIT_(FAILURE|SUCCESS)|FD_\w+|NFDBITS|W[A-Z]+|WAIT_[A-Z]+|ENDED"
    r"|OPERATION|(BYTE|BIG|LITTLE|PDP)_(ORDER|ENDIAN)|(FE|CLOCK|TIMER|TIME)_\w+|CLOCKS_PER_SEC"
    # functions and variables
    r"|math_errhandling|[bl]e(16|32|64)toh|hto[bl]e(16|32|64)|atomic[A-Z]\w*|(clock|timer)_\w+"
    r"|u?int(_(least|fast)(8|16|32|64)|max|ptr)_t|(threadIdx|blockIdx|blockDim|gridDim)_[xyz]"
    r"|(first|last|next)_[xyz]|print_\d+|\w+_packed|(tex|surf)[123]D\w*"
    r"|(texture|surface)_(channel|position|index|element|weights|round|round_half|scale|nearest|linear"
    r"|fetch)"
    r"|cuda[A-Z]\w*"
)
_VECTOR_NAMES = frozenset(
    name
    for vector in VECTORS.values()
    for name in (vector.name, vector.cuda, f"make_{vector.cuda}", f"{vector.c}_unaligned")
)
# global names of <cuda_fp16.h>, <cuda_bf16.h> and <cooperative_groups.h>; variables may hide them
NAMES_OF_CUDA_HEADERS = frozenset(
    "cooperative_groups cuda half nv_bfloat16 nv_bfloat162 nv_half nv_half2".split()  # noqa: SIM905
)


def is_reserved(name: str) -> bool:
    """Return whether C, CUDA or a helper function declares a name."""
    if (
        name in KEYWORDS
        or name in _BUILT_IN_NAMES
        or name in _LIBRARY_NAMES
        or name in _VECTOR_NAMES
        or is_math(name)
    ):
        return True
    return helper_named(name) is not None or _PATTERN.fullmatch(name) is not None
