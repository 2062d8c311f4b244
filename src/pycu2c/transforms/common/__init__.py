"""Passes that every target runs: legalization, linearization, dead code, array lowering."""
