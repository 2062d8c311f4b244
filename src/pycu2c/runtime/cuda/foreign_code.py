"""What the driver says of code that somebody else has written: its kernels, what these take."""

from __future__ import annotations

from typing import Any

from pycu2c.cuda_driver import driver


def has_kernel(library: Any, name: str) -> bool:
    """Whether loaded code has a kernel of a name."""
    driver.make_current()
    return int(driver.api().cuLibraryGetKernel(library, name.encode())[0]) == 0


def parameter_places(kernel: driver.LoadedKernel) -> list[tuple[int, int]]:
    """Where each parameter of a kernel begins, and how many bytes it takes."""
    found: list[tuple[int, int]] = []
    while True:
        code, *place = driver.api().cuKernelGetParamInfo(kernel.handle, len(found))
        if int(code):  # there are no more
            return found
        offset, size = map(int, place)
        found.append((offset, size))


def attribute_of(kernel: driver.LoadedKernel, name: str) -> int:
    """What the driver says of a kernel: ``CU_FUNC_ATTRIBUTE_`` and the name."""
    which = getattr(driver.api().CUfunction_attribute, f"CU_FUNC_ATTRIBUTE_{name}")
    answer = driver.api().cuKernelGetAttribute(which, kernel.handle, driver.device().handle)
    return int(driver.check(answer, f"read the attribute {name} of a kernel"))


def set_attribute(kernel: driver.LoadedKernel, name: str, value: int) -> None:
    """Change one of those that can be changed."""
    which = getattr(driver.api().CUfunction_attribute, f"CU_FUNC_ATTRIBUTE_{name}")
    answer = driver.api().cuKernelSetAttribute(which, value, kernel.handle, driver.device().handle)
    driver.check(answer, f"set the attribute {name} of a kernel to {value}")
