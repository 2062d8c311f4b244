"""Interpret the syntax trees of kernels: an oracle that shares no pass with the compiler."""
