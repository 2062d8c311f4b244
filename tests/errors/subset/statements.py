"""Statements that a kernel cannot have."""

# ruff: noqa


def exceptions(out):
    try:  # E[exceptions]: try
        out[0] = []  # E[list]: []
    except ValueError:
        raise  # E[exceptions]: raise
    else:
        print(1)  # E[print]: print(1)
    finally:
        assert out[0] > 0, "text"  # E[exceptions]: assert out[0] > 0, "text"
    raise ValueError("x")  # E[exceptions]: raise ValueError("x")


def groups(out):
    try:  # E[exceptions]: try
        out[0] = 1
    except* ValueError:
        out[0] = [1]  # E[list]: [1]


def opened(path):
    with open(path) as file:  # E[context-manager]: with
        x = {}  # E[dict-set]: {}


def definitions(x):
    def inner(y):  # E[nested-function]: def
        return [y]  # its own scope is not looked at

    async def later(y):  # E[async]: async def
        return {}

    class Point:  # E[class]: class
        x = {}

    f = lambda y: [y]  # E[nested-function]: lambda y: [y]


def imports(x):
    import math  # E[import]: import math
    from math import sin  # E[import]: from math import sin


counter = 0


def globals_(x):
    global counter  # E[global-statement]: global counter
    counter = x


def deleted(a):
    x = 1
    del x  # E[delete]: del x
    del a[0]  # E[delete]: del a[0]


def matched(x):
    match x:  # E[match]: match
        case 1:
            y = [1]  # E[list]: [1]
        case _:
            y = {1}  # E[dict-set]: {1}


def while_else(x):
    while x > 0:
        x -= 1
    else:  # E[loop-else]: else
        x = [1]  # E[list]: [1]


def for_else(x):
    for i in range(x):
        if i:
            break
        else:
            pass
    # a comment
    else :  # E[loop-else]: else
        x = 1


def else_in_one_line(x):
    for i in range(x): break
    else: x = 1  # E[loop-else]: else


def loops(a, b, n):
    for x in a:  # E[for-range]: a
        y = [x]  # E[list]: [x]
    for x in a.rows:  # E[for-range]: a.rows
        pass
    for i, x in enumerate(a):  # E[for-range]: enumerate(a)
        pass
    for x, y in zip(a, b):  # E[for-range]: zip(a, b)
        pass
    for i in reversed(range(n)):  # E[for-range]: reversed(range(n))
        pass
    for x in (1, 2):  # E[for-range]: (1, 2)
        pass
    for x in f(n):  # E[for-range]: f(n)
        pass
    for i, j in range(n):  # E[for-range]: i, j
        pass
    for a[0] in range(n):  # E[for-range]: a[0]
        pass
    for i in range(*a):  # E[starred]: *a
        pass


def effects(x, a):
    ...  # E[unused-value]: ...
    "remark"  # E[unused-value]: "remark"
    x == 1  # E[unused-value]: x == 1
    a[0]  # E[unused-value]: a[0]
    x, a  # E[unused-value]: x, a
    None  # E[unused-value]: None
    [x]  # E[list]: [x]
    yield x  # E[generator]: yield x
    y = yield from a  # E[generator]: yield from a
    return x


def targets(a, x):
    a.x = 1  # E[assignment-target]: a.x
    a.x += 1  # E[assignment-target]: a.x
    a[0]: int = 1  # E[assignment-target]: a[0]
    x, *y = a[0], 1  # E[starred]: *y
    (x, a.y) = 1, 2  # E[assignment-target]: a.y
    a[1:] = x  # E[slice]: 1:


def results(x):
    if x:
        return x, 1  # E[tuple-place]: x, 1
    return [x]  # E[list]: [x]
