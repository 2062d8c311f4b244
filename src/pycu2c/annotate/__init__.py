"""Show a kernel on one page: Python, CUDA C, C and instructions, line by line.

``annotation.py`` collects the listings, types, notes and resources; ``page.py`` writes HTML.
"""
