"""The C helper functions of generated code, as text templates; ``catalog`` has them by name.

The headers in this folder define the C types of textures, surfaces and half floats. Imports
``base`` and, for their operations, ``ops``.
"""
