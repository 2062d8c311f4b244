"""
Game of Life
============

*Integer arithmetic with the meaning of Python, and coordinates that wrap around.*

Conway's Game of Life is a cellular automaton. A cell is alive in the next generation if it has
three living neighbours, or if it has two and is alive now. The board is a torus: the left edge is
joined to the right edge, and the top edge to the bottom edge.
"""

import matplotlib.pyplot as plt
import numpy as np

from pycu2c import cuda, kernel

# %%
# The kernel
# ----------
#
# ``%`` has the meaning of Python: ``-1 % width`` is ``width - 1``, the last column. In CUDA C,
# ``-1 % width`` is -1. pycu2c generates the code for Python's result.
#
# The loops over the tuples ``(-1, 0, 1)`` are unrolled when the kernel is compiled, and the test
# ``if dx or dy`` is evaluated then.


@kernel(block=(32, 8))
def next_generation(now, new):
    x, y = cuda.grid(2)
    height, width = now.shape
    if x >= width or y >= height:
        return
    neighbours = 0
    for dy in (-1, 0, 1):
        for dx in (-1, 0, 1):
            if dx or dy:
                neighbours += now[(y + dy) % height, (x + dx) % width]
    new[y, x] = neighbours == 3 or (neighbours == 2 and now[y, x])


# %%
# Gosper's glider gun
# -------------------
#
# The gun emits a glider every 30 generations. A glider moves by one cell along the diagonal in
# four generations.

GUN = """
........................O...........
......................O.O...........
............OO......OO............OO
...........O...O....OO............OO
OO........O.....O...OO..............
OO........O...O.OO....O.O...........
..........O.....O.......O...........
...........O...O....................
............OO......................
""".strip().splitlines()


def board_with_gun(height, width):
    board = np.zeros((height, width), bool)
    for row, line in enumerate(GUN):
        board[5 + row, 5 : 5 + len(line)] = [cell == "O" for cell in line]
    return board


def play(board, generations):
    now, new = cuda.to_device(board), cuda.device_array_like(board)
    for _ in range(generations):
        next_generation(now, new)
        now, new = new, now
    return now.copy_to_host()


start = board_with_gun(60, 80)
boards = {generations: play(start, generations) for generations in (0, 150)}

# %%
# Check
# -----
#
# ``np.roll`` shifts an array that wraps around, so the sum of eight shifted copies is the number
# of neighbours.


def play_numpy(board, generations):
    shifts = [(dy, dx) for dy in (-1, 0, 1) for dx in (-1, 0, 1) if dy or dx]
    for _ in range(generations):
        neighbours = sum(np.roll(board, shift, (0, 1)).astype(int) for shift in shifts)
        board = (neighbours == 3) | (board & (neighbours == 2))
    return board


soup = np.random.default_rng(1).random((64, 100)) < 0.4  # living cells also at the edges
assert np.array_equal(play(soup, 200), play_numpy(soup, 200))
assert np.array_equal(boards[150], play_numpy(start, 150))
living = {generations: int(board.sum()) for generations, board in boards.items()}
print("living cells by generation:", living)
assert living[150] == living[0] + 5 * 5  # five gliders of five cells

# %%
# The boards
# ----------

fig, axes = plt.subplots(1, 2, figsize=(6.4, 3.3), layout="constrained", sharey=True)
for ax, (generations, board) in zip(axes, boards.items()):
    ax.imshow(board, cmap="cividis", interpolation="nearest")
    ax.set(title=f"generation {generations}", xlabel="column")
axes[0].set_ylabel("row")
fig.suptitle("Gosper's glider gun")

# %%
# How it compiled
# ---------------
#
# Point at a line to see its lines in the other languages.

next_generation
