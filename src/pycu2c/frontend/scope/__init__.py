"""Resolve names: bindings, reaching definitions, live ranges, variables and global objects."""
