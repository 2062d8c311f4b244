"""Parameters that a kernel cannot have."""

# ruff: noqa


def defaults(x, y=1, z=[]):  # E[parameter-kind]: 1  # E[parameter-kind]: []
    return x


def positional_only(x, /, y):  # E[parameter-kind]: x
    return x


def keyword_only(x, *, y, z=2):  # E[parameter-kind]: y  # E[parameter-kind]: z  # E[parameter-kind]: 2
    return x


def rest(x, *more, **named):  # E[parameter-kind]: more  # E[parameter-kind]: named
    return x
