"""The typed intermediate representation (IR): nodes, builders, traversal, printer, verifier.

``docs/ir.md`` describes the nodes and their text form. Imports ``base`` and ``ops``.
"""
