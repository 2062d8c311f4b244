"""Compute 100 time steps as an operator of PyTorch, on the CPU or on a GPU."""

import heat
import heat.torch
import torch

diffuse = heat.torch.op(
    heat.diffuse,
    "heat::diffuse",
    grid=(2, 8),
    block=(32, 8),
    out={"out": "t"},
)


@torch.compile(fullgraph=True)
def two_steps(plate: torch.Tensor) -> torch.Tensor:
    return diffuse(diffuse(plate, 0.2), 0.2)


plate = torch.zeros(64, 64, device="cuda" if torch.cuda.is_available() else "cpu")
plate[0] = 100  # the first row is hot
for _ in range(50):
    plate = two_steps(plate)
print(f"{plate[5, 32].item():.6f}")
