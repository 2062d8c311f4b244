"""Functions whose bodies are C or PTX of the user's, and files that kernels are linked with."""
