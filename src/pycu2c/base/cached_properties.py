"""``functools.cached_property`` without its lock."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property as cached_property
else:

    class cached_property:
        """A property that is computed once; concurrent threads may compute it more often.

        In Python 3.11 ``functools.cached_property`` holds a lock meanwhile, which all instances
        share, and which stays locked in a child that another thread forks.
        """

        def __init__(self, function):
            self._function, self.__doc__ = function, function.__doc__

        def __set_name__(self, owner, name):
            self._name = name

        def __get__(self, instance, owner=None):
            if instance is None:
                return self
            return vars(instance).setdefault(self._name, self._function(instance))
