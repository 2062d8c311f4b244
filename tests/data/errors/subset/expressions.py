"""Expressions that a kernel cannot have."""

# ruff: noqa


def collections(x):
    y = {1, 2}  # E[dict-set]: {1, 2}
    y = {1: 2}  # E[dict-set]: {1: 2}
    y = {i for i in x}  # E[comprehension]: {i for i in x}
    y = {i: 1 for i in x}  # E[comprehension]: {i: 1 for i in x}
    y = (i for i in x)  # E[generator]: (i for i in x)
    for i in (f(j) for j in x):  # E[generator]: (f(j) for j in x)
        pass
    y = [{i} for i in x if {} for j in {1}]  # E[dict-set]: {i}  # E[dict-set]: {}  # E[dict-set]: {1}
    y = [i for x[0] in x]  # E[assignment-target]: x[0]
    y = sum(i for i, x.y in x)  # E[assignment-target]: x.y


async def awaited(x):  # E[async]: async def
    y = [i async for i in x]  # E[async]: x
    await y  # E[async]: await y
    y = await f(y)  # E[async]: await f(y)
    async for i in x:  # E[async]: async for
        pass
    async with x:  # E[async]: async with
        y = {}  # E[dict-set]: {}


def strings(x, name):
    """Only this one is a docstring."""
    y = b"bytes"  # E[string]: b"bytes"
    y = f"{x}"  # E[string]: f"{x}"
    y = f(x, f"{x}")  # E[string]: f"{x}"
    y = "".join(x)  # E[string]: ""
    y = "%d" % x  # E[string]: "%d" % x
    y = name + "x"  # E[string]: name + "x"
    print(f"{x}", f"{ {} }")  # E[dict-set]: {}
    print(f"{x:{ {1} }}", sep=f"{x}")  # E[dict-set]: {1}  # E[string]: f"{x}"


def constants(x):
    y = f(...)  # E[subset]: ...
    y = 18446744073709551616  # E[constant-range]: 18446744073709551616
    y = -9223372036854775809  # E[constant-range]: -9223372036854775809
    y = 1 + -1_0000_0000_0000_0000_0000  # E[constant-range]: -1_0000_0000_0000_0000_0000


def comparisons(x, y):
    a = x is y  # E[comparison]: x is y
    a = x is y[0]  # E[comparison]: x is y[0]
    a = 0 < x is not y  # E[comparison]: 0 < x is not y
    a = None is x is y  # E[comparison]: None is x is y
    a = x in {1, 2}  # E[dict-set]: {1, 2}


def calls(x, y):
    (x + 1)(y)  # E[call]: x + 1
    (-x)(y)  # E[call]: -x
    x[1, 32](y)  # E[call]: x[1, 32]
    f(1, **y)  # E[starred]: **y
    f(key={y})  # E[dict-set]: {y}
    f((1, {y}), *{x})  # E[dict-set]: {y}  # E[dict-set]: {x}
    f({})({1})  # E[dict-set]: {}  # E[dict-set]: {1}
    (lambda a={}: {a})()  # E[dict-set]: {}  # E[dict-set]: {a}
    (lambda **a: 1)()  # E[parameter-kind]: a


def operators(x, y):
    z = x @ y  # E[matmul]: x @ y
    z @= y  # E[matmul]: z @= y
    z = x + (y @ {1})  # E[matmul]: y @ {1}  # E[dict-set]: {1}
    z = (a := {x}) + 1  # E[dict-set]: {x}
    z = not {x}  # E[dict-set]: {x}
    z = x and {y} or {}  # E[dict-set]: {y}  # E[dict-set]: {}
    z = {x} if {} else {1}  # E[dict-set]: {x}  # E[dict-set]: {}  # E[dict-set]: {1}
    if {x}:  # E[dict-set]: {x}
        z = 1
    elif {}:  # E[dict-set]: {}
        z = {1}  # E[dict-set]: {1}


def subscripts(a, i):
    x = a[None]  # E[slice]: None
    x = a[:, None]  # E[slice]: None
    x = a[{1}:{2}:{3}]  # E[dict-set]: {1}  # E[dict-set]: {2}  # E[dict-set]: {3}
    x = a[i, *a]  # E[starred]: *a
    x = a["x"].y[{}]  # E[dict-set]: {}
    x = a[
        {1,  # E[dict-set]: {1,
         2}
    ]


def characters(a):
    ä = a["ö"]; ü = {ä}  # E[dict-set]: {ä}
