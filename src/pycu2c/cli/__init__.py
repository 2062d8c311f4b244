"""Implement the command line, one module per command. May import every other package."""
