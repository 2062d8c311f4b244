"""Modules that Python packages of libraries contain. They do not import pycu2c.

``pycu2c.torch`` and ``pycu2c.jax`` use the modules for PyTorch and JAX, too.
"""
