"""Kernels with branches and loops, and launches of them."""

import numpy as np
from launching import cuda, device, kernel, launch


@device
def clamp(x):
    """Limit a number."""
    if x > 5:
        return 5
    if x < 0:
        return 0
    return x


@device
def search(a, value):
    for position in range(len(a)):
        if a[position] == value:
            return position
    return -1


@device
def never_called(x):
    return x + 1


@device
def factorial(n: int) -> int:
    if n <= 1:
        return 1
    return n * factorial(n - 1)


@kernel
def branches(a, out, n):
    """A docstring."""
    i = cuda.grid(1)
    if i >= n:
        return
    value = (
        clamp(a[i])
        + 1
    )
    if n == 1000:
        value = 0
    elif value > 3 and i != 5:
        value += 1
    else:
        value += 2
    if i < 100: value += 1
    if i > 100: value += 1
    if value < 0:
        pass
    else:
        value += 1
    out[
        i
    ] = value
    del value
    if n == 0:
        out[i] = 1


@kernel
def loops(a, out):
    i = cuda.grid(1)
    total = 0
    for j in range(4):
        if j == 9:
            continue
        if j == 2:
            continue
        total += j
    else:
        total += 1
    for j in range(3):
        if j == 1:
            break
    else:
        total += 100
    while total > 5:
        total -= 1
        if total == 7:
            total -= 1
            continue
        if total == -1:
            break
    else:
        total += 2
    while True:
        total += 1
        if total > 20:
            break
    for j in range(0):
        total += j
    for x in (1, 2, 3):
        if x == 2:
            continue
        total += x
    for x in (1, 2, 3):
        if x == 2:
            break
        total += x
    else:
        total = 0
    for line in a:
        for y in range(2):
            total += line * y
    while True:
        for _ in range(2):
            total += 1
        if total > 100:
            out[i] = search(a, 3) + search(a, 77)
            return


@kernel
def cases(a, out):
    i = cuda.grid(1)

    def twice(x):
        if x > 2:
            return 2 * x
        return x

    def unused(x):
        return x

    value = twice(a[i])
    match value:
        case 0:
            value = 1
        case 1 if i > 100:
            value = 2
        case 2 | 3:
            value = 3
    match i:
        case 0:
            value += 1
        case _:
            value += 2
    match i:
        case 1000:
            value += 1
        case 1001:
            value += 2
    add = lambda x: x + 1  # noqa: E731
    value = add(value)
    value = value if value > 0 else -value
    out[i] = value + sum([k for k in (1, 2)]) + factorial(3)
    assert value >= 0, "negative"
    if value == 12345:
        raise ValueError("value")


@kernel
def barriers(a, out):
    i = cuda.threadIdx.x
    if i < 2:
        out[i] = a[i]
    cuda.syncthreads()
    for step in range(2):
        cuda.syncthreads()
        if step == 1 and i == 3:
            out[i] += 1
        cuda.syncthreads()
    if i == 0:
        return
    cuda.syncthreads()
    out[i] = i


a = np.arange(8)
launch(branches, 8, a, np.zeros(8, np.int64), 6)
launch(loops, 8, a, np.zeros(8, np.int64))
launch(cases, 8, a, np.zeros(8, np.int64))
launch(barriers, 8, a, np.zeros(8, np.int64))
