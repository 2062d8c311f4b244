"""Tune kernels: find the constants, options and blocks with which a kernel is fastest.

``tuned_kernel`` defines kernels that launch with the best known configuration, ``tuner`` measures
candidates in the process of ``worker``. May import everything up to the devices.
"""
