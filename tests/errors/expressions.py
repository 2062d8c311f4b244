"""Expressions that kernels do not have."""


def collections(a):
    x = [1, 2]  # E[list]: [1, 2]
    y = {1, 2}  # E[dict-set]: {1, 2}
    z = {"a": 1}  # E[dict-set]: {"a": 1}
    w = [i for i in range(3)]  # E[comprehension]: [i for i in range(3)]
    v = sum(i for i in range(3))  # E[comprehension]: (i for i in range(3))


def slices(a):
    b = a[1:3]  # E[slice]: 1:3
    c = a[None]  # E[slice]: None
    a[0] = a[...]  # E[slice]: ...


def comparisons(a):
    if a[0] in (1, 2):  # E[comparison]: a[0] in (1, 2)
        a[0] = 1
    if a[0] is None:  # E[comparison]: a[0] is None
        a[0] = 1
    if a[0] is not 3:  # E[comparison]: a[0] is not 3
        a[0] = 1


def literals(a):
    a[0] = 1j  # E[complex]: 1j
    a[1] = "text"  # E[string]: "text"
    a[2] = 2**64 + 99999999999999999999  # E[constant-range]: 99999999999999999999
    a[3] = f"{a[0]}"  # E[string]: f"{a[0]}"
    a[4] = None  # E[none]: None


def calls(a):
    print(a[0])  # E[print]: print(a[0])
    x = max(*a)  # E[starred]: *a
    y = (z := 3)  # E[walrus]: z := 3
    w = a @ a  # E[matmul]: a @ a


def targets(a):
    a.x = 1  # E[assignment-target]: a.x
    b, *c = a[0], 1, 2  # E[starred]: *c


def defaults(a, n=3):  # E[parameter-kind]: 3
    a[0] = n


def keyword_only(a, *, n):  # E[parameter-kind]: n
    a[0] = n


def rest(a, *n):  # E[parameter-kind]: n
    a[0] = 1


def undefined(a):
    a[0] = later  # E[name]: later
    later = 1
