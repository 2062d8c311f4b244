"""The syntax tree of the generated C, and its printer.

``nodes`` defines the tree, which other modules import ``as c``. ``expression_printer``
and ``printer`` convert the tree to text. Imports only ``base``.
"""
