"""Implement CUDA arrays, texture references and surface references."""
