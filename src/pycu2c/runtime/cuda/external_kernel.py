"""Query kernels that pycu2c has not compiled: parameters and attributes."""

from __future__ import annotations

from typing import Any

from pycu2c.cuda_driver import driver


def has_kernel(library: Any, name: str) -> bool:
    """Return whether a library has a kernel of this name."""
    driver.make_current()
    return int(driver.api().cuLibraryGetKernel(library, name.encode())[0]) == 0


def parameter_layout(kernel: driver.LoadedKernel) -> list[tuple[int, int]]:
    """Return the offset and size in bytes of each parameter of a kernel."""
    found: list[tuple[int, int]] = []
    while True:
        code, *layout = driver.api().cuKernelGetParamInfo(kernel.handle, len(found))
        if int(code):  # there are no more parameters
            return found
        offset, size = map(int, layout)
        found.append((offset, size))


def kernel_attribute(kernel: driver.LoadedKernel, name: str) -> int:
    """Return an attribute of a kernel; ``name`` follows ``CU_FUNC_ATTRIBUTE_``."""
    which = getattr(driver.api().CUfunction_attribute, f"CU_FUNC_ATTRIBUTE_{name}")
    answer = driver.api().cuKernelGetAttribute(which, kernel.handle, driver.device().handle)
    return int(driver.check(answer, f"read the attribute {name} of a kernel"))


def set_kernel_attribute(kernel: driver.LoadedKernel, name: str, value: int) -> None:
    """Set an attribute of a kernel."""
    which = getattr(driver.api().CUfunction_attribute, f"CU_FUNC_ATTRIBUTE_{name}")
    answer = driver.api().cuKernelSetAttribute(which, value, kernel.handle, driver.device().handle)
    driver.check(answer, f"set the attribute {name} of a kernel to {value}")
