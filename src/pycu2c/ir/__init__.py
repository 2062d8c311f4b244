"""The typed intermediate representation (IR): nodes, builders, traversal, printer, verifier.

``docs/how_it_works/ir.md`` describes the nodes and their text form. Imports ``base`` and ``ops``.
"""
