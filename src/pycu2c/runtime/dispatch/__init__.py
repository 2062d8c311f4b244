"""The fast path of launches: a dispatch table in C of launches that have run.

``_dispatch`` is the C extension; ``extension`` has its types, or Python classes of the same names
where it is missing. ``guards`` and ``table`` describe a launch that has run as an entry of the
table. A launch that misses the table takes the Python slow path, which raises all errors.

Imports the runtime's argument and configuration modules; knows neither kernels nor compilers.
"""
