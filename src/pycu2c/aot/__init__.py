"""Ahead-of-time compilation: build a library of kernels for C, C++, CMake and Python.

``exported_kernels`` lowers kernels for each signature, index width and target. ``c_library``,
``c_interface`` and ``images`` write text for them. ``library_files`` collects it with the files of
``runtime``, which launch kernels in C, and of ``templates``. ``artifact`` compiles the library.
"""
