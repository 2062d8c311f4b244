"""Ahead-of-time compilation: build a library of kernels for C, C++, CMake and Python.

1. ``export`` generates code for each kernel, signature and target: ``python_kernels``,
   ``cuda_text_kernels`` and ``elementwise_and_reduction`` return an ``ExportedLibrary``.
2. ``library_files`` collects the files of the library. ``c_header``, ``cpp_header``,
   ``launch_functions``, ``bindings`` and ``images`` generate C. ``package_files`` fills
   ``templates`` for CMake and Python. ``runtime`` and ``python_package`` contain files that are
   copied.
3. ``compilation`` compiles the files, and ``output_folder`` writes them.
"""
