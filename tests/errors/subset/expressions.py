"""Expressions that a kernel cannot have."""

# ruff: noqa


def collections(x):
    y = [1, 2]  # E[list]: [1, 2]
    y = {1, 2}  # E[dict-set]: {1, 2}
    y = {1: 2}  # E[dict-set]: {1: 2}
    y = [i for i in x]  # E[comprehension]: [i for i in x]
    y = {i for i in x}  # E[comprehension]: {i for i in x}
    y = {i: 1 for i in x}  # E[comprehension]: {i: 1 for i in x}
    y = sum(i for i in x)  # E[comprehension]: (i for i in x)


def strings(x, name):
    """Only this one is a docstring."""
    y = "text"  # E[string]: "text"
    y = b"bytes"  # E[string]: b"bytes"
    y = f"{x}"  # E[string]: f"{x}"
    y = f(x, "flot32")  # E[string]: "flot32"
    y = x["field"]  # E[string]: "field"
    y = "".join(x)  # E[string]: ""
    y = "float32"  # E[string]: "float32"


def constants(x):
    y = 2j  # E[complex]: 2j
    y = None  # E[none]: None
    y = f(...)  # E[subset]: ...
    y = 18446744073709551616  # E[constant-range]: 18446744073709551616
    y = -9223372036854775809  # E[constant-range]: -9223372036854775809
    y = 1 + -1_0000_0000_0000_0000_0000  # E[constant-range]: -1_0000_0000_0000_0000_0000


def comparisons(x, y):
    a = x in y  # E[comparison]: x in y
    a = x not in (1, 2)  # E[comparison]: x not in (1, 2)
    a = x is y  # E[comparison]: x is y
    a = 0 < x is not y  # E[comparison]: 0 < x is not y
    a = x is None  # E[comparison]: x is None
    a = x == None  # E[comparison]: x == None
    a = (x, y) < (1, 2)  # E[tuple-place]: (x, y)  # E[tuple-place]: (1, 2)


def calls(x, y):
    x()(y)  # E[call]: x()
    x[1, 32](y)  # E[call]: x[1, 32]
    f(*y)  # E[starred]: *y
    f(1, **y)  # E[starred]: **y
    f(key=[y])  # E[list]: [y]
    f((1, [y]), (x, *y))  # E[list]: [y]  # E[starred]: *y
    print("x", x)  # E[print]: print("x", x)
    (lambda: 1)()  # E[call]: lambda: 1


def operators(x, y):
    z = x @ y  # E[matmul]: x @ y
    z @= y  # E[matmul]: z @= y
    z = x + (y @ [1])  # E[matmul]: y @ [1]  # E[list]: [1]
    z = (a := x) + 1  # E[walrus]: a := x
    z = x + (1, 2)  # E[tuple-place]: (1, 2)
    z = not [x]  # E[list]: [x]
    z = x and [y] or {}  # E[list]: [y]  # E[dict-set]: {}
    z = [x] if {} else None  # E[list]: [x]  # E[dict-set]: {}  # E[none]: None
    if [x]:  # E[list]: [x]
        z = 1
    elif {}:  # E[dict-set]: {}
        z = [1]  # E[list]: [1]
    while (n := x) > 0:  # E[walrus]: n := x
        pass


def subscripts(a, i):
    x = a[1:2]  # E[slice]: 1:2
    x = a[:, i]  # E[slice]: :
    x = a[..., i]  # E[slice]: ...
    x = a[None]  # E[slice]: None
    x = a[[1, 2]]  # E[list]: [1, 2]
    x = a[(1, 2), i]  # E[tuple-place]: (1, 2)
    x = a[i, *a]  # E[starred]: *a
    x = (1, 2)[i]  # E[tuple-place]: (1, 2)
    x = a["x"].y[1:]  # E[string]: "x"  # E[slice]: 1:
    x = a[
        [1,  # E[list]: [1,
         2]
    ]


def characters(a):
    ä = a["ö"]; ü = [ä]  # E[string]: "ö"  # E[list]: [ä]
