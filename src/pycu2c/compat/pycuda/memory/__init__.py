"""Implement device memory, host memory, copies and memory pools."""
