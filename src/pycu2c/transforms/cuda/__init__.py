"""Passes of the CUDA target."""
