"""What a kernel's lines cost on a GPU, and the change that removes each cost."""
