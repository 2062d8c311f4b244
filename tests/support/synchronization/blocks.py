"""Barriers in every position where they are allowed."""

from __future__ import annotations

import numpy as np

from pycu2c import cuda, device, float32, int32, int64
from support.synchronization.program import array, ints, program, shuffled, zeros


@program(2, 64, ints(100), zeros(100))
def early_return(a, out):
    tile = cuda.shared.array(64, int32)
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    if i >= len(a):
        return
    tile[t] = a[i]
    cuda.syncthreads()
    live = min(64, len(a) - cuda.blockIdx.x * 64)
    out[i] = tile[live - 1 - t]


@early_return.gives
def _(a, out):
    out[:64], out[64:] = a[:64][::-1], a[64:][::-1]


@program(1, 96, ints(96), zeros(96))
def returns_between_barriers(a, out):
    tile = cuda.shared.array(96, int32)
    t = cuda.threadIdx.x
    tile[t] = a[t]
    cuda.syncthreads()
    if t % 3 == 0:
        out[t] = tile[95 - t]
        return
    cuda.syncthreads()
    tile[t] += 1000
    cuda.syncthreads()
    if t % 3 == 1:
        out[t] = tile[t + 1]
        return
    cuda.syncthreads()
    out[t] = tile[t - 1]


@returns_between_barriers.gives
def _(a, out):
    out[0::3] = a[::-1][0::3]
    out[1::3] = a[2::3] + 1000
    out[2::3] = a[1::3] + 1000


@program(3, 32, ints(3), zeros(96))
def whole_blocks_return(a, out):
    tile = cuda.shared.array(32, int32)
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    if b == 1:
        return
    tile[t] = a[b] * t
    cuda.syncthreads()
    out[b * 32 + t] = tile[(t + 1) % 32]


@whole_blocks_return.gives
def _(a, out):
    for b in (0, 2):
        out[b * 32 : b * 32 + 32] = np.roll(a[b] * np.arange(32), -1)


@program(1, 32, zeros(32), 7)
def nested_loops(out, n):
    tile = cuda.shared.array(32, int32)
    t = cuda.threadIdx.x
    tile[t] = t
    cuda.syncthreads()
    for i in range(n):
        if i == 2:
            continue
        for j in range(n):
            if j == i:
                break
            value = tile[(t + j + 1) % 32]
            cuda.syncthreads()
            tile[t] = (tile[t] + value) % 1000
            cuda.syncthreads()
        if i == 5:
            break
    out[t] = tile[t]


@nested_loops.gives
def _(out, n):
    tile = np.arange(32)
    for i in (1, 3, 4, 5):
        for j in range(i):
            tile = (tile + np.roll(tile, -j - 1)) % 1000
    out[:] = tile


@program(2, 32, ints(64), zeros(64), 0)
def both_arms(a, out, which):
    tile = cuda.shared.array(32, int32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    if which:
        tile[t] = a[i]
        cuda.syncthreads()
        out[i] = tile[31 - t]
    else:
        tile[31 - t] = a[i] * 2
        cuda.syncthreads()
        out[i] = tile[t] + 1


@both_arms.gives
def _(a, out, which):
    rows = a.reshape(2, 32)[:, ::-1]
    out[:] = (rows if which else rows * 2 + 1).ravel()


both_arms.also(2, 32, ints(64), zeros(64), 1)


@program(4, 32, ints(128), zeros(128))
def arms_by_block(a, out):
    tile = cuda.shared.array(32, int32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    if cuda.blockIdx.x % 2 == 0:
        tile[t] = a[i]
        cuda.syncthreads()
        out[i] = tile[(t + 1) % 32]
    elif cuda.blockIdx.x == 1:
        tile[t] = -a[i]
        cuda.syncthreads()
        cuda.syncthreads()
        out[i] = tile[(t + 2) % 32]
    else:
        out[i] = a[i]


@arms_by_block.gives
def _(a, out):
    rows = a.reshape(4, 32)
    parts = [np.roll(rows[0], -1), -np.roll(rows[1], -2), np.roll(rows[2], -1), rows[3]]
    out[:] = np.concatenate(parts)


@program(4, 16, array([3, 0, 5, 1]), ints(64), zeros(64))
def rounds_from_data(count, a, out):
    tile = cuda.shared.array(16, int32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    tile[t] = a[i]
    for _ in range(count[cuda.blockIdx.x]):
        cuda.syncthreads()
        value = tile[(t + 1) % 16]
        cuda.syncthreads()
        tile[t] = value
    cuda.syncthreads()
    out[i] = tile[t]


@rounds_from_data.gives
def _(count, a, out):
    rows = a.reshape(4, 16)
    out[:] = np.concatenate([np.roll(row, -n) for row, n in zip(rows, count)])


@program(2, 32, shuffled(64))
def sorts_until_nothing_moves(a):
    tile = cuda.shared.array(32, int32)
    moved = cuda.shared.array(1, int32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    tile[t] = a[i]
    go_on = True
    while go_on:
        cuda.syncthreads()
        moved[0] = 0
        for odd in (0, 1):
            cuda.syncthreads()
            j = 2 * t + odd
            if j + 1 < 32 and tile[j] > tile[j + 1]:
                tile[j], tile[j + 1] = tile[j + 1], tile[j]
                moved[0] = 1
        cuda.syncthreads()
        go_on = moved[0] != 0
    a[i] = tile[t]


@sorts_until_nothing_moves.gives
def _(a):
    a[:] = np.sort(a.reshape(2, 32), axis=1).ravel()


@device
def exchanged(tile, t, value):
    cuda.syncthreads()
    tile[t] = value
    cuda.syncthreads()
    return tile[len(tile) - 1 - t]


@program(1, 48, ints(48), zeros(48))
def barrier_in_a_function(a, out):
    tile = cuda.shared.array(48, int32)
    t = cuda.threadIdx.x
    x = exchanged(tile, t, a[t])
    y = exchanged(tile, t, x * t)
    out[t] = x + 3 * y


@barrier_in_a_function.gives
def _(a, out):
    x = a[::-1]
    out[:] = x + 3 * (x * np.arange(48))[::-1]


@device
def block_sum(value):
    parts = cuda.shared.array(64, int64)
    t = cuda.threadIdx.x
    parts[t] = value
    s = 32
    while s > 0:
        cuda.syncthreads()
        if t < s:
            parts[t] += parts[t + s]
        s //= 2
    cuda.syncthreads()
    total = parts[0]
    cuda.syncthreads()
    return total


@program(2, 64, ints(128), zeros(128, dtype=np.int64), 3)
def function_with_shared_memory_in_a_loop(a, out, n):
    i = cuda.grid(1)
    x = int64(a[i])
    for k in range(n):
        x = block_sum(x) % (17 + k) + x
    out[i] = x


@function_with_shared_memory_in_a_loop.gives
def _(a, out, n):
    x = a.astype(np.int64).reshape(2, 64)
    for k in range(n):
        x = x.sum(axis=1, keepdims=True) % (17 + k) + x
    out[:] = x.ravel()


@device
def counted(counter, is_first):
    """Count calls in a shared array, which all calls use."""
    calls = cuda.shared.array(1, int32)
    if is_first and cuda.threadIdx.x == 0:
        calls[0] = 0
    cuda.syncthreads()
    cuda.atomic.add(calls, 0, 1)
    cuda.syncthreads()
    counter[cuda.grid(1)] = calls[0]
    cuda.syncthreads()


@device
def counted_twice(counter):
    counted(counter, False)
    counted(counter, False)


@program(2, 40, zeros(80))
def shared_array_of_several_calls(counts):
    counted(counts, True)
    counted_twice(counts)
    if counts[cuda.grid(1)] > 0:
        counted(counts, False)


@shared_array_of_several_calls.gives
def _(counts):
    counts[:] = 4 * 40


@program(1, 64, ints(64), zeros(64), zeros(64, dtype=np.float32))
def memory_used_again(a, out, halves):
    numbers = cuda.shared.array(64, int32)
    parts = cuda.shared.array((8, 8), float32)
    t = cuda.threadIdx.x
    numbers[t] = a[t]
    parts[t // 8, t % 8] = a[t] / 2
    cuda.syncthreads()
    x, y = numbers[63 - t], parts[t % 8, t // 8]
    cuda.syncthreads()
    numbers[t] = x + 1
    parts[t // 8, t % 8] = y + 1
    cuda.syncthreads()
    out[t] = numbers[t ^ 1]
    halves[t] = parts[t % 8, t // 8]


@memory_used_again.gives
def _(a, out, halves):
    out[:] = (a[::-1] + 1)[np.arange(64) ^ 1]
    halves[:] = a / 2 + 1


@program(1, 64, ints(64, low=0, high=9), zeros(64))
def barrier_after_loops_of_different_length(a, out):
    tile = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    total = 0
    for k in range(a[t]):
        if k == 6:
            break
        total += k
    tile[t] = total
    cuda.syncthreads()
    out[t] = tile[(t + 5) % 64]


@barrier_after_loops_of_different_length.gives
def _(a, out):
    n = np.minimum(a, 6)
    out[:] = np.roll(n * (n - 1) // 2, -5)


@program(2, 32, ints(64), zeros(64, dtype=np.float64))
def much_lives_across(a, out):
    """Values of several types, an array of the thread's own, and a tuple live across a barrier."""
    tile = cuda.shared.array(32, int32)
    own = cuda.local.array(3, int32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    small, wide, half, pair = a[i] % 7, int64(a[i]) << 20, float32(a[i]) / 2, (t, t * t)
    flag = a[i] > 0
    for k in range(3):
        own[k] = a[i] + k
    tile[t] = a[i]
    cuda.syncthreads()
    value = tile[(t + 1) % 32]
    cuda.syncthreads()
    tile[t] = value
    cuda.syncthreads()
    last = own[2] if flag else own[0]
    out[i] = small + wide + half + pair[1] - pair[0] + last + tile[t]


@much_lives_across.gives
def _(a, out):
    t = np.tile(np.arange(32), 2)
    wide = a.astype(np.int64) << 20
    last = np.where(a > 0, a + 2, a)
    turned = np.roll(a.reshape(2, 32), -1, axis=1).ravel()
    out[:] = a % 7 + wide + a / 2 + t * t - t + last + turned


@program(1, (8, 4), ints(4, 8), zeros(8, 4))
def two_axes(a, out):
    tile = cuda.shared.array((4, 9), int32)
    x, y = cuda.grid(2)
    tile[y, x] = a[y, x]
    cuda.syncthreads()
    number = y * 8 + x
    out[number // 4, number % 4] = tile[number % 4, number // 4]


@two_axes.gives
def _(a, out):
    out[:] = a.T


@program((2, 1, 2), (4, 3, 2), ints(4, 3, 8), zeros(4, 3, 8))
def three_axes(a, out):
    tile = cuda.shared.array((2, 3, 4), int32)
    x, y, z = cuda.grid(3)
    i, j, k = cuda.threadIdx.x, cuda.threadIdx.y, cuda.threadIdx.z
    tile[k, j, i] = a[z, y, x]
    cuda.syncthreads()
    out[z, y, x] = tile[1 - k, 2 - j, 3 - i]


@three_axes.gives
def _(a, out):
    parts = a.reshape(2, 2, 3, 2, 4)
    out[:] = parts[:, ::-1, ::-1, :, ::-1].reshape(4, 3, 8)


@program(1, 32, ints(32), zeros(32), 3)
def chosen_by_match(a, out, mode):
    tile = cuda.shared.array(32, int32)
    t = cuda.threadIdx.x
    tile[t] = a[t]
    match mode:
        case 1:
            cuda.syncthreads()
            out[t] = tile[31 - t]
        case 2 | 3:
            cuda.syncthreads()
            value = tile[t ^ 3]
            cuda.syncthreads()
            tile[t] = value * 2
            cuda.syncthreads()
            out[t] = tile[31 - t]
        case _:
            out[t] = -1


@chosen_by_match.gives
def _(a, out, mode):
    if mode == 1:
        out[:] = a[::-1]
    else:
        out[:] = 2 * a[np.arange(32) ^ 3][::-1] if mode in (2, 3) else -1


chosen_by_match.also(1, 32, ints(32), zeros(32), 1)
chosen_by_match.also(1, 32, ints(32), zeros(32), 9)


@program(1, 64, ints(64), zeros(64))
def halves_work_in_turns(a, out):
    """The first half makes, the second uses, a step later."""
    slots = cuda.shared.array((2, 32), int32)
    t = cuda.threadIdx.x
    total = 0
    for step in range(5):
        if t < 32:
            if step < 4:
                slots[step % 2, t] = a[t] * (step + 1)
        elif step > 0:
            total += slots[(step - 1) % 2, t - 32]
        cuda.syncthreads()
    out[t] = total if t >= 32 else -1


@halves_work_in_turns.gives
def _(a, out):
    out[:32], out[32:] = -1, a[:32] * 10
