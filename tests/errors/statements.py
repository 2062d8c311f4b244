"""Statements that kernels do not have. ``# E[code]: text`` stands on the line of the carets."""


def exceptions(a):
    try:  # E[exceptions]: try
        a[0] = 1
    except ValueError:
        pass
    raise ValueError("x")  # E[exceptions]: raise ValueError("x")


def asserting(a):
    assert a[0] > 0  # E[exceptions]: assert a[0] > 0


def managed(a):
    with open("x") as f:  # E[context-manager]: with
        a[0] = 1


def nested(a):
    def inner():  # E[nested-function]: def
        return 1

    class Inside:  # E[class]: class
        pass

    f = lambda x: x  # E[nested-function]: lambda x: x
    a[0] = 1


def importing(a):
    import math  # E[import]: import math
    from math import sin  # E[import]: from math import sin


def counting(a):
    global count  # E[global-statement]: global count
    count = 1


def deleting(a):
    x = 1
    del x  # E[delete]: del x


def matching(a):
    match a[0]:  # E[match]: match
        case 1:
            pass


def loops(a):
    for i in range(3):
        pass
    else:  # E[loop-else]: else
        a[0] = 1
    while a[0] > 0:
        a[0] = 0
    else:  # E[loop-else]: else
        a[0] = 1


def generator(a):
    yield a[0]  # E[generator]: yield a[0]
