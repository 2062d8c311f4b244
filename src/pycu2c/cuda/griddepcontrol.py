"""Export control of dependent launches: ``from pycu2c.cuda import griddepcontrol``."""

from pycu2c.device_library.griddepcontrol import launch_dependents, wait

__all__ = ["launch_dependents", "wait"]
