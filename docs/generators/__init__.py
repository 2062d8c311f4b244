"""Texts that are generated from the tables of the compiler, one module for each."""
