"""Statements that only their types show to be wrong."""

# ruff: noqa
from pycu2c import cuda, device, float32, int32, kernel

typed = kernel(signature="float32[:], float32[:, :], int, float")


@typed
def iterables(a, b, n, x):
    for i in n:  # E[iterable]: n
        pass
    for i in a[0]:  # E[iterable]: a[0]
        pass
    for i in len:  # E[iterable]: len
        pass
    for i, y in enumerate(range(0, 5, n)):  # E[constant-needed]: n
        pass
    for i in reversed(zip(a, a)):  # E[iterable]: zip(a, a)
        pass
    for i, y in zip(a, a, strict=True):  # E[argument-count]: strict=True
        pass
    for i, y in enumerate(a, 0.5):  # E[argument-type]: 0.5
        pass
    for i, y in enumerate(a, 1, 2):  # E[argument-count]: enumerate(a, 1, 2)
        pass
    for i in range(x):  # E[argument-type]: x
        pass
    for i in range(0, n, 0):  # E[argument-type]: 0
        pass
    for i in range(1, 2, 3, 4):  # E[argument-count]: range(1, 2, 3, 4)
        pass
    for i in zip(*a):  # E[starred]: *a
        pass
    for i in (1,) * 2000:  # E[constant-needed]: (1,) * 2000
        pass


@typed
def targets(a, b, n, x):
    for i, j in range(n):  # E[unpack]: i, j
        pass
    for i, j in ((1, 2), (3, 4, 5)):  # E[unpack]: i, j
        pass
    for i, (j, k) in enumerate(a):  # E[unpack]: (j, k)
        pass


@typed
def each_mistake_is_told_once(a, b, n, x):
    for i in (1, 2.5, 3):
        a[0] = missing  # E[name]: missing
        y = ~0.5  # E[operand-type]: 0.5


@typed
def a_round_of_its_own(a, b, n, x):
    for i in (0, 0.5):
        a[i] = 1  # E[index-type]: i


@typed
def matched(a, b, n, x):
    match a:
        case 1:  # E[match]: 1
            pass
    match n:
        case 1 if missing:  # E[name]: missing
            pass
    match n:
        case missing.Mode:  # E[name]: missing
            pass
    match n:
        case (y, 1):
            z = missing  # it is never a tuple
        case y if y > 1:
            z = ~x  # E[operand-type]: x


@typed
def ended(a, b, n, x):
    if n:
        raise 5  # E[exceptions]: 5
    if x:
        raise int(5)  # E[exceptions]: int
    raise ValueError(missing)  # E[name]: missing


@typed
def asserted(a, b, n, x):
    assert missing  # E[name]: missing
    assert n, f"{missing}"  # E[name]: missing


@typed
def deleted(a, b, n, x):
    y = 1
    del y
    a[0] = y  # E[name]: y


@typed
def deleted_before(a, b, n, x):
    del y  # E[name]: y
    y = 1


@typed
def declared(a, b, n, x):
    y: int32 = 1
    y: float32 = 2  # E[join]: float32
    z: len = 1  # E[dtype]: len


@typed
def too_large(a, b, n, x):
    tile = cuda.shared.array((300, 300), float32)  # E[shape]: (300, 300)
    own = cuda.local.array(2**40, float32)  # E[shape]: 2**40


@typed
def extreme_of_one(a, b, n, x):
    a[0] = max(n)  # E[argument-count]: max(n)
    a[0] = min(a[1])  # E[argument-count]: min(a[1])
    a[0] = max((n,))


@typed
def slices_in_steps(a, b, n, x):
    c = a[::x]  # E[index-type]: x
    d = b[0, n :: b[0, 0]]  # E[index-type]: b[0, 0]
    e = a[:: n if n else 0.5]  # E[index-type]: n if n else 0.5
    f = a[:: n > 2]  # E[index-type]: n > 2
