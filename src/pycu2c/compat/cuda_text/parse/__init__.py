"""Parse CUDA C heuristically: tokens, functions, statements, declarations and macros.

The parser has no types and does not run the preprocessor, so its results are not proofs. May
import ``base`` and ``cuda_text.source_text``.
"""
