"""Ahead-of-time compilation: build a library of kernels for C, C++, CMake and Python.

1. ``python_kernels`` generates code for each kernel, signature and target: an
   ``ExportedLibrary``.
2. ``library_files`` collects the files of the library. ``c_header``, ``cpp_header``,
   ``launch_functions``, ``bindings`` and ``images`` generate C. ``package_files`` fills
   ``templates`` for CMake and Python. ``runtime`` and ``python_package`` contain files that are
   copied.
3. ``compilation`` compiles the files, and ``output_folder`` writes them.
"""
