"""The constructs of the language, one entry each: what ``docs/guide/language.md`` lists and
``language/test_constructs.py`` runs on every target, against plain Python.

A row's body stands in a kernel with these names: ``a`` (float32, 1-D), ``b`` (int32, 1-D), ``m``
(float64, 2-D), ``n`` (5), ``x`` (2.5), ``out`` (float64, one element for each thread) and ``i``.
"""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import dedent


@dataclass(frozen=True)
class Construct:
    section: str
    title: str
    body: str


HEADER = """
import cmath
import math
from collections import namedtuple
import numpy as np

SCALE = 3
OFFSETS = (1, 2, 3)
WEIGHTS = np.array([0.25, 0.5, 0.25], np.float32)
Point = namedtuple("Point", "x y")
ORIGIN = Point(1, 2)

@device
def clamp(v, low, high):
    if v < low:
        return low
    return high if v > high else v

@device
def divided(p, q):
    return p // q, p % q

@device
def scaled(v, factor=2, *, plus=0):
    return v * factor + plus

@device
def total(first, *rest):
    for r in rest:
        first += r
    return first

@device
def applied(f, v):
    return f(v) + 1

@device
def row_sum(row):
    s = 0.0
    for j in range(row.shape[0]):
        s += row[j]
    return s

@device
def put(array, index, value):
    array[index] = value

@device
def fibonacci(k: int) -> int:
    return k if k < 2 else fibonacci(k - 1) + fibonacci(k - 2)

def adder(number):
    @device
    def added(v):
        return v + number

    return added

@cuda.c_function("return k * k + 1;", cpu="return k * k + 1;")
def squared(k: np.int32) -> np.int32:
    return k * k + 1

@device
def or_else(value, default):
    return default if value is None else value
"""


def rows_of(section: str, text: str) -> list[Construct]:
    """Blocks that begin with ``# title``."""
    rows = []
    for block in dedent(text).strip().split("\n\n"):
        title, _, body = block.partition("\n")
        rows.append(Construct(section, title.removeprefix("# "), body))
    return rows


EXPRESSIONS = rows_of(
    "Expressions",
    """
    # names and literals: `1`, `2.5`, `True`, `2j`
    out[i] = 1 + 2.5 + True + (2j * 1j).real

    # arithmetic: `+ - * / // % **`
    out[i] = (i + 7) / 2 - (i - 3) // 2 * 3 + (i - 4) % 3 + x ** 2 - 2 ** i

    # signs and bitwise operators: `-x`, `+x`, `~x`, `& | ^ << >>`
    out[i] = -i + +n + ~i + (i & 6 | 1 ^ i) + (i << 2) + (i - 9 >> 1)

    # comparisons, also chained: `a < b <= c`
    out[i] = (1 < i <= 4) + (i == 3 != n) * 2 + (i >= 2) * 4

    # `and`, `or`, `not`: return an operand, as in Python
    out[i] = (i and n) + (i % 3 or 7) + (not i)

    # conditional expression
    out[i] = a[i] if i % 2 else -1

    # `in`, `not in`
    out[i] = (i in (1, 4, n)) + 2 * (b[i] not in OFFSETS)

    # `is None`, `is not None`
    out[i] = (1 if None is None else 2) + or_else(None, i) + or_else(x, i)

    # `is` with True and False
    out[i] = ((i > 2) is True) + 2 * ((i % 2 == 0) is not False)

    # assignment expression
    if (half := i // 2) > 1:
        out[i] = half

    # assignment expression in the condition of a loop
    k = 0
    while (square := k * k) < i + 10:
        k += 1
    out[i] = square

    # element: `a[i]`, `m[i, j]`, `m[i][j]`
    out[i] = a[i] + m[i, 1] + m[i][2]

    # negative index
    out[i] = a[-1] + a[i - 3] + m[-1, -i - 1 + i]

    # slice of an array: returns a view
    part = a[1:n]
    out[i] = part[i % part.shape[0]] + len(part) + a[i:][0]

    # slice with a step, also negative
    out[i] = a[::2][i // 2] + a[::-1][i] + len(a[6:1:-2])

    # assignment of a number, an array or a tuple to a slice
    m[i] = 2
    m[i, 1:] *= x
    m[i, ::2] = (3, a[i])
    m[i, :-1] -= WEIGHTS[1:]
    out[i] = m[i, 0] + 10 * m[i, 1] + 100 * m[i, 2]

    # slice with a computed step
    s = n // 2 if i % 2 else -1 - i % 3
    part = a[::s]
    out[i] = part[0] + part[-1] + len(part) * 10
    out[i] += len(a[i:1:s]) + len(a[:i:s]) + a[7 : i // 2 : -n][0]

    # tuple as an index
    place = (i, 1)
    out[i] = m[place] + m[place[0], ...][2]
    m[place] = 5
    out[i] += m[i][1]

    # rows and columns: `m[i]`, `m[:, j]`, `m[..., 0]`
    out[i] = row_sum(m[i]) + m[:, 2][i] + m[..., 0][i]

    # transposed view: `m.T`
    out[i] = m.T[1, i] + m.T.shape[0]

    # `.reshape`, `.ravel` of a contiguous array: return views
    out[i] = a.reshape(2, -1)[1, i % 4] + m.reshape(-1)[i + 2]
    out[i] += m[2:].reshape((3, 2, 3))[i % 3, 1, -1]
    out[i] += m.ravel().reshape(n - 1, 6)[1:][i % 3].size + row_sum(m.reshape(12, 2)[i])

    # `.view` of integers or floats as a type of the same or of a larger size
    out[i] = a.view(np.int32)[i] % 97 + WEIGHTS[:2].view(np.float64)[0]

    # `.copy` of an array whose shape is known: a local array
    weights = WEIGHTS[::-1].copy()
    weights[0] += i
    out[i] = weights[0] + weights.sum()

    # `.shape`, `.ndim`, `.size`, `len()`
    out[i] = m.shape[0] * 100 + m.shape[1] * 10 + m.ndim + m.size + len(a)

    # `.strides`, in bytes
    out[i] = m.strides[0] + m.strides[1] + a[::2].strides[0]

    # attribute of a module: `math.pi`, `np.e`
    out[i] = math.pi + np.e

    # global numbers and tuples
    out[i] = SCALE * i + OFFSETS[1] + len(OFFSETS)

    # global array, in constant memory
    out[i] = WEIGHTS[i % 3] + WEIGHTS[-1] + WEIGHTS.shape[0]

    # global named tuple
    out[i] = ORIGIN.x + ORIGIN[1] * i

    # named tuple, created in the kernel
    p = Point(i, y=n)
    if i % 2:
        p = Point(y=x, x=p.y)
    out[i] = p.x * 10 + p[1] + sum(p)

    # nested tuple
    t = (i, (x, n))
    out[i] = t[0] + t[1][0] * t[-1][1]

    # list display of a fixed length
    values = [i, 2 * i, 4.5]
    out[i] = values[1] + values[-1] + len(values)

    # slices, `+` and `*` of tuples
    t = (i, n, 3) + (4,) * 2
    out[i] = t[1:][0] + t[-1] + len(t) + t[::-1][4]

    # item of a range, unpacking of a range
    out[i] = range(3, 9)[2] + sum((*range(4), i))

    # unpacking in a tuple: `(*t, 1)`
    t = (i, n)
    out[i] = sum((*t, 1, *t))

    # comparison of tuples
    out[i] = ((i, n) == (3, 5)) + ((i, 1) != (i, 1)) * 2

    # order of tuples: lexicographic
    out[i] = ((i, 2) < (3, 4)) + ((i, x) >= (i, 2.5)) * 2 + ((1, i) > (1, 3, 0)) * 4

    # computed index of a tuple of numbers, or of tuples whose items have the same types
    t = (3, 1, n, 1)
    pairs = ((i, 1), (n, 2))
    out[i] = t[i % 4] + t[-1 - i % 4] * 10 + pairs[i % 2][0] * 100
    for k in range(3):
        out[i] += OFFSETS[k] * (k + 1)

    # `in range(…)`
    out[i] = (i in range(2, n)) + (i not in range(0, 8, 3)) * 2 + (x * i in range(n, -1, -1)) * 4

    # list comprehension
    out[i] = sum([k * i for k in range(4) if k != 2])

    # nested comprehension over tuples
    out[i] = sum([p * q for p in (1, i) for q in OFFSETS])

    # generator expression
    out[i] = any(b[i] == k for k in OFFSETS) + 2 * all(k < 3 for k in (i, n))

    # lambda
    double = lambda v: 2 * v + i
    out[i] = double(3) + applied(lambda v: v * x, n)

    # conditional expression of tuples
    t = (i, 1) if i % 2 else (2, n)
    out[i] = t[0] * 10 + t[1]

    # strings: compile-time constants
    mode = "fast"
    out[i] = (1 if mode == "fast" else 2) + 10 * (mode in ("slow", "fast")) + len(mode)

    # view of a view, and a store through a view
    part = out[i : i + 1]
    part[0] = m[1:, 1:][i % 3, 1]
    part[-1] += 1

    # view in a variable that is assigned twice
    row = m[i]
    if i % 2:
        row = m[i - 1]
    out[i] = row[0] + row[-1]

    # view in a variable, independent of later changes of its index
    k = i % 3
    row = m[k]
    k = i % 2 + 3
    out[i] = row[0] + k * 100

    # variables that refer to different arrays, and are swapped
    source, target = m, m[1:]
    for k in range(i):
        source, target = target, source
    out[i] = source[1, 1] + row_sum(target[0] if i % 3 else source[:, 1])

    # `float16`: rounds after every operation
    h = np.float16(x) * np.float16(0.1) + 1
    out[i] = h / 3

    # vector: `cuda.float4(x, y, z, w)`, with components that can be read and assigned
    v = cuda.float4(i, x, 1, a[i])
    v.x += v.y
    v['z'] = v.x * 2
    out[i] = v.x + v.z * v.w

    # vector built from a vector and numbers, and unpacked
    p, q, r = cuda.float3(cuda.float2(i, x), n)
    out[i] = p + 10 * q + 100 * r

    # numpy integers wrap, and Python literals take their type
    c = np.uint8(200) + np.uint8(i) * 9
    out[i] = c

    # complex numbers
    z = complex(i, 1.0) * (2 - 1j) / (1 + 2j)
    out[i] = z.real + 2 * z.imag + abs(z) + z.conjugate().imag

    # methods of numbers
    ones = i.bit_count() + (n << i).bit_length() + b[i % 5].bit_count()
    out[i] = ones + (x * i).is_integer() + a[i % 5].view(np.int32) % 97 + a[i % 5].item()
    """,
)

CALLS = rows_of(
    "Calls",
    """
    # device function
    out[i] = clamp(a[i], 2, n)

    # tuple result
    q, r = divided(i + 7, 3)
    out[i] = q * 10 + r + divided(i, 2)[1]

    # keyword and default arguments
    out[i] = scaled(i) + scaled(i, plus=1) + scaled(plus=2, v=i, factor=3)

    # `*args`
    out[i] = total(i) + total(i, 1, 2.5) + total(*OFFSETS)

    # recursion: annotations are the signature of a recursive function
    out[i] = fibonacci(i + 3)

    # [function in C](external_functions.md)
    out[i] = squared(i)

    # function that makes a device function, called with constants
    out[i] = adder(10)(x) + adder(number=2 * len(OFFSETS))(i) + adder(SCALE)(i)

    # arrays and views as arguments
    put(out, i, row_sum(a[: i + 1]))

    # function as argument
    out[i] = applied(scaled, i) + applied(abs, -x)

    # None as argument
    out[i] = or_else(None, 7) + or_else(i, 7)

    # nested function
    def shifted(v, by=1):
        return v * n + by
    out[i] = shifted(i) + shifted(2, by=x)

    # nested function that reads an array
    def smoothed(k):
        return (a[k - 1] + a[k]) / 2
    out[i] = smoothed(i) + smoothed(1)

    # `int()`, `float()`, `bool()`, `complex()`
    out[i] = int(x * i) + float(i) / 2 + bool(i) + complex(i, 1).imag

    # dtypes as conversions
    out[i] = np.float32(0.1) * i + np.int8(i + 3) + np.uint16(7)

    # dtype of an array as a conversion
    out[i] = a.dtype.type(0.1) * i + b.dtype.type(x) + a.dtype.itemsize

    # `abs`, `min`, `max`, `round`, `divmod`
    out[i] = abs(i - 4) + min(i, 3, x) + max((i, 2)) + round(a[i] * 1.5) + divmod(i + 9, 4)[1]

    # `sum`, `any`, `all`, `len`, `enumerate`, `zip`, `reversed` of tuples
    s = 0
    for k, (p, q) in enumerate(zip(OFFSETS, reversed(OFFSETS))):
        s += k * p + q
    out[i] = s + sum(OFFSETS)

    # `isinstance`, `np.result_type`
    half = np.result_type(x).type(0.5) if isinstance(a, np.ndarray) else 1
    out[i] = half + (2 if isinstance(i, (tuple, np.floating)) else 3)

    # `math`
    out[i] = math.sqrt(a[i] + 1) + math.atan2(i, 2) + math.floor(-x) + math.hypot(3, i)

    # numpy functions of scalars
    out[i] = np.sin(x) + np.minimum(i, 3) + np.exp2(float(a[i])) + np.maximum(a[i], 1.5)

    # numpy functions of arrays, with an output array: `np.sqrt(x, out)`
    np.multiply(m[i], WEIGHTS, m[i])
    np.sqrt(m[i], out=m[i])
    np.add(m[i, 1:], x, m[i, 1:])
    out[i] = m[i, 0] + 10 * m[i, 1]

    # reductions of all elements of an array: `np.sum(a)`, `m.max()`, `np.nanmean(m)`
    out[i] = b.sum() + m[i].max() + np.argmin(m) + np.count_nonzero(m[:, i % 3])
    out[i] += np.any(b) + a.mean(dtype=np.float64) + np.nanmean(m[: i + 1])

    # numpy functions that are operators: `np.add`, `np.where`, `np.clip`
    out[i] = np.where(np.greater(a[i], 1), np.clip(a[i], 2, 3), np.multiply(x, 2)) + np.sign(x)

    # `np.clip` with only one limit
    out[i] = np.clip(x * i, None, 5) + np.clip(i, 2, None) + np.clip(a[i], min=1, max=n)

    # `math.modf`, `math.frexp`, `math.ldexp`
    rest, whole = math.modf(x * i - 3)
    part, exponent = math.frexp(a[i])
    out[i] = rest + whole * 10 + part + exponent * 100 + math.ldexp(x, i - 2)

    # `math.prod`, `math.dist`, `math.hypot`, `math.isclose`
    out[i] = math.prod((i, 2, n)) + math.dist((i, 2), (n, x)) + math.hypot(i, 3, 4)
    out[i] += math.isclose(i, 3.0000000001) + math.isclose(x, i, rel_tol=0.3) * 2

    # `pow`
    out[i] = pow(i, 2) + pow(2, -1) + pow(x, exp=i)

    # `max` and `min` of tuples: lexicographic
    best = (a[0], 0)
    for j in range(1, n):
        best = max(best, (a[j] - j, -j))
    value, place = min((x, i), best, (a[i], n))
    out[i] = best[0] + best[1] + value * 10 + place

    # `math` of ints
    out[i] = math.gcd(n + 7, 18, 8) + math.comb(6, 2) + math.isqrt(99) + math.floor(2**53 + i)

    # `round` to digits, `math.log` to a base
    out[i] = round(x * 1.111, 2) + math.log(n, 2) + round(n * 17, -1)

    # `cmath` and numpy of complex numbers
    z = cmath.exp(1j * i) + np.sqrt(-1.0 + 0j)
    out[i] = z.real + z.imag
    """,
)

STATEMENTS = rows_of(
    "Statements",
    """
    # assignment to names and elements
    y = i * 2
    out[i] = y

    # chained assignment
    p = q = i + 1
    out[i] = p + q

    # unpacking, swap
    p, q = i, n
    p, q = q, p + q
    out[i] = p * 10 + q

    # nested and starred unpacking
    (p, q), *rest = (i, n), 3, 4, i
    first, *middle, last = 1, 2, 3, i
    out[i] = p + q + rest[2] + len(rest) + sum(middle) + last + first

    # unpacking a row of an array
    p, q, r = m[i]
    out[i] = p + 10 * q + 100 * r

    # augmented assignment
    y = i
    y += 2
    y *= n
    y //= 3
    y <<= 1
    out[i] = 1
    out[i] += y

    # annotated assignment: declares the type
    y: np.float32 = 0.1
    out[i] = y

    # variable that is reassigned with another type
    y = i // 2
    out[i] = y
    y = 1.5
    out[i] += y

    # `if`, `elif`, `else`
    if i < 2:
        y = 1
    elif i == 3:
        y = 2
    else:
        y = 3
    out[i] = y

    # `if` with a compile-time condition
    if SCALE > 2:
        out[i] = 1
    else:
        out[i] = not_defined_anywhere

    # `while`, `break`, `continue`
    k = s = 0
    while True:
        k += 1
        if k % 2:
            continue
        if k > i + 4:
            break
        s += k
    out[i] = s

    # `while … else`
    k = 0
    while k < i:
        if k == 3:
            break
        k += 1
    else:
        k = 100
    out[i] = k

    # `for` over `range`
    s = 0
    for k in range(i):
        s += k
    for k in range(10, -i, -3):
        s += k
    out[i] = s

    # `for … else`
    for k in range(5):
        if k == i:
            break
    else:
        k = -1
    out[i] = k

    # `for` over a tuple
    s = 0.0
    for v in (i, 2.5, n):
        s += v
    out[i] = s

    # `for` over a tuple, with `break`
    s = 0
    for v in OFFSETS:
        if v > i:
            break
        s += v
    out[i] = s

    # `for` over an array
    s = 0.0
    for v in a:
        s += v
    out[i] = s

    # `for` over all elements of an array, in C order
    s = 0.0
    for v in m.T.flat:
        s = s / 2 + v
    out[i] = s

    # `for` over the rows of an array
    s = 0.0
    for row in m:
        s += row[1]
    out[i] = s

    # `for` over `enumerate` and `zip` of arrays
    s = 0.0
    for k, (p, q) in enumerate(zip(a, b), 1):
        s += k * p * q
    out[i] = s

    # `for` over `reversed`
    s = 0
    for k in reversed(range(i)):
        s = s * 2 + k
    out[i] = s

    # early `return`
    if i % 2:
        out[i] = -1
        return
    out[i] = i

    # `match` on numbers
    match i:
        case 0 | 1:
            out[i] = 10
        case 2:
            out[i] = 20
        case k if k > 5:
            out[i] = k * 2
        case _:
            out[i] = -1

    # `match` on tuples
    match (i % 2, n):
        case (0, 5):
            out[i] = 1
        case (p, q):
            out[i] = p + q

    # `del`, `pass`, `...`
    y = i
    del y
    pass
    ...
    out[i] = 1

    # `assert`
    assert i >= 0, "never evaluated"
    out[i] = i

    # `print`, f-strings
    print(f"thread {i}: {a[i]:.2f}", b[i], sep=", ")
    out[i] = i

    # `raise` ends the thread
    if i == 3:
        raise ValueError("thread 3")
    out[i] = i

    # docstring, comment, string
    # a comment
    if i == 1:
        "a string statement"
        out[i] = 1
    out[i] = i
    """,
)

MEMORY = rows_of(
    "Memory",
    """
    # atomics: change an element and return its old value
    out[i] = cuda.atomic.add(b, i, n) - cuda.atomic.max(b, (i,), 12)
    cuda.atomic.xor(b, i, 3)

    # compare and swap
    if cuda.atomic.cas(b, i, 1, 7) == 1:
        out[i] = b[i]
    """,
)

RANDOM = rows_of(
    "Random numbers",
    """
    # `cuda.random` without a state: from a seed, a subsequence and an offset
    out[i] = cuda.random.philox_uniform_float32(n, i, 3) + cuda.random.philox_uint32(n, 0, i)
    p, q = cuda.random.philox_uniform_float64x2(n, i, 0)
    out[i] += p + 10 * q
    """,
)

CONSTRUCTS = [*EXPRESSIONS, *CALLS, *STATEMENTS, *MEMORY, *RANDOM]
