"""Compile C and C++ to shared objects with a compiler of the system (gcc, clang, zig)."""
