"""Statements that a kernel cannot have."""

# ruff: noqa

from pycu2c import kernel


def exceptions(out):
    try:  # E[exceptions]: try
        out[0] = {}  # E[dict-set]: {}
    except ValueError:
        raise  # E[exceptions]: raise
    else:
        print({1})  # E[dict-set]: {1}
    finally:
        assert {2}, {3}  # E[dict-set]: {2}  # E[dict-set]: {3}
    raise ValueError({1})  # E[dict-set]: {1}
    raise {1}  # E[dict-set]: {1}


def groups(out):
    try:  # E[exceptions]: try
        out[0] = 1
    except* ValueError:
        out[0] = {1}  # E[dict-set]: {1}


def opened(path):
    with open(path) as file:  # E[context-manager]: with
        x = {}  # E[dict-set]: {}


def definitions(x):
    @x  # E[nested-function]: x
    def inner(y):
        """A docstring."""
        "a remark"
        return {y}  # E[dict-set]: {y}

    async def later(y):  # E[async]: async def
        return {}  # its own scope is not looked at

    class Point:  # E[class]: class
        x = {}

    f = lambda y: {y}  # E[dict-set]: {y}


def imports(x):
    import math  # E[import]: import math
    from math import sin  # E[import]: from math import sin


counter = 0


def globals_(x):
    global counter  # E[global-statement]: global counter
    counter = x

    def inner():
        nonlocal x  # E[global-statement]: nonlocal x
        x = 1


def deleted(a):
    x = y = z = 1
    del x, (y, a[1])  # E[delete]: a[1]
    del a[0]  # E[delete]: a[0]
    del a.x  # E[delete]: a.x


def matched(x):
    match {x}:  # E[dict-set]: {x}
        case 1 | b"x" if {2}:  # E[string]: b"x"  # E[dict-set]: {2}
            y = {1}  # E[dict-set]: {1}
        case Point(x=1):  # E[match]: Point(x=1)
            pass
        case [{"x": 1}, *_] as z:  # E[match]: {"x": 1}
            pass


def loops(a, b, n):
    for x in {1}:  # E[dict-set]: {1}
        y = {x}  # E[dict-set]: {x}
    else:
        y = {2}  # E[dict-set]: {2}
    while n > {n}:  # E[dict-set]: {n}
        n -= 1
    else:
        y = {2}  # E[dict-set]: {2}
    for a[0] in range(n):  # E[assignment-target]: a[0]
        pass
    for i, (a.x, *j) in enumerate(b):  # E[assignment-target]: a.x
        pass


def effects(x, a):
    ...
    "remark"
    x == 1  # E[unused-value]: x == 1
    a[0]  # E[unused-value]: a[0]
    x, a  # E[unused-value]: x, a
    None  # E[unused-value]: None
    [x]  # E[unused-value]: [x]
    [f(y) for y in {x}]  # E[dict-set]: {x}
    (y := {x})  # E[dict-set]: {x}
    yield x  # E[generator]: yield x
    y = yield from a  # E[generator]: yield from a
    return x


def targets(a, x):
    a.x[0]: int = 1  # E[assignment-target]: a.x[0]
    x: int = {1}  # E[dict-set]: {1}
    x, *a[{}] = a[0], 1  # E[dict-set]: {}
    a[{1}:] = {x}  # E[dict-set]: {1}  # E[dict-set]: {x}


def results(x):
    if x:
        return x, {1}  # E[dict-set]: {1}
    return [{x}]  # E[dict-set]: {x}


@kernel
def results_of_a_kernel(a):
    def inner(x):
        return x

    if a[0] > 1:
        return None
    return inner(a[0])  # E[return-type]: inner(a[0])
