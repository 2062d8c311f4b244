"""Binaries, launch configurations and arguments to runs."""
