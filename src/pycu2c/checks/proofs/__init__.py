"""What is proved of a kernel for a launch, so that less of it is checked when it runs."""
