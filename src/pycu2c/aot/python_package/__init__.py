"""The module ``launch`` that the Python package of each library contains; imports only NumPy."""
