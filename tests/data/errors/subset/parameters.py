"""Parameters that a kernel cannot have."""

# ruff: noqa


def rest(x, *more, **named):  # E[parameter-kind]: named
    def inner(y, z={}, *, w={1}, **more):  # E[dict-set]: {}  # E[dict-set]: {1}  # E[parameter-kind]: more
        return y

    return x
