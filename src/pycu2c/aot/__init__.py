"""Ahead-of-time compilation: build a library of kernels for C, C++, CMake and Python.

1. ``export`` generates code for each kernel, signature and target: ``python_kernels``,
   ``cuda_text_kernels`` and ``elementwise_and_reduction`` return an ``ExportedLibrary``.
2. ``library_files`` collects the files of the library. ``headers``, ``launch_functions``,
   ``bindings`` and ``images`` write some; others are in ``runtime``, ``templates`` and
   ``python_package``.
3. ``compilation`` compiles the files.
"""
