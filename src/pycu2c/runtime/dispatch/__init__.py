"""The dispatch table of launches: how a launch becomes an entry of the table.

``guards`` and ``table`` describe the arguments and the kernel of an entry. The C extension
(``pycu2c.native``) checks and starts the launches that match one. A launch that misses the table
takes the Python slow path, which raises all errors.

May import the argument and configuration modules of the runtime.
"""
