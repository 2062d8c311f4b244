"""Define the class of the functions that kernels call."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Generic, NoReturn, ParamSpec, TypeVar

from pycu2c.base.numba_typing import type_of_function
from pycu2c.base.records import replace
from pycu2c.base.source import Source
from pycu2c.kernels.decorated_functions import check_subset, parse_declared, source_of
from pycu2c.kernels.kernel_pickling import Pickled

P = ParamSpec("P")
R = TypeVar("R")


class DeviceFunction(Pickled, Generic[P, R]):
    """A function that kernels call. Outside of kernels, a call runs the Python function.

    Attributes
    ----------
    python : function
        The Python function.
    """

    _numba_type_ = property(type_of_function)

    def __init__(self, function: Callable[P, R], *, signature: object = None) -> None:
        __tracebackhide__ = True
        functools.update_wrapper(self, function)
        self.python = function
        source = self._read(function)
        declared = () if signature is None else parse_declared(source, signature)
        self.__pycu2c_device__ = replace(  # the front end reads it
            source, signature=declared[0] if len(declared) == 1 else None
        )
        check_subset(source, may_return_value=True)

    @staticmethod
    def _read(function: object) -> Source:
        return source_of(function)

    def __call__(self, *arguments: P.args, **named: P.kwargs) -> R:
        """Run the Python function.

        Parameters
        ----------
        *arguments, **named : object
            The arguments of the function.

        Returns
        -------
        object
            Its result.
        """
        return self.python(*arguments, **named)

    def __getitem__(self, configuration: object) -> NoReturn:
        name = self.__pycu2c_device__.name
        raise TypeError(
            f"{name} is a device function, which kernels call: decorate it with @kernel to launch "
            f"it, or call {name}(…) in Python"
        )

    def __repr__(self) -> str:
        return f"<device function {self.__pycu2c_device__.name}>"
