"""Launches like one before, checked and started by C: plans, and what makes and runs them."""
