"""Export random numbers for kernels, identical on the CPU and on a GPU: ``pycu2c.cuda.random``.

xoroshiro128+ has states, and numba's names and streams. Philox4x32-10 is stateless: a number is a
function of a seed, a subsequence and an offset, as in cuRAND.
"""

from pycu2c.device_library.random.philox import (
    philox4x32,
    philox_normal_float32,
    philox_normal_float32x4,
    philox_normal_float64,
    philox_normal_float64x2,
    philox_uint32,
    philox_uint32x4,
    philox_uniform_float32,
    philox_uniform_float32x4,
    philox_uniform_float64,
    philox_uniform_float64x2,
)
from pycu2c.device_library.random.states import (
    create_xoroshiro128p_states,
    init_xoroshiro128p_states,
    init_xoroshiro128p_states_cpu,
    xoroshiro128p_dtype,
    xoroshiro128p_type,
)
from pycu2c.device_library.random.xoroshiro import (
    init_xoroshiro128p_state,
    uint64_to_unit_float32,
    uint64_to_unit_float64,
    xoroshiro128p_jump,
    xoroshiro128p_next,
    xoroshiro128p_normal_float32,
    xoroshiro128p_normal_float64,
    xoroshiro128p_uniform_float32,
    xoroshiro128p_uniform_float64,
)

__all__ = [
    "create_xoroshiro128p_states",
    "init_xoroshiro128p_state",
    "init_xoroshiro128p_states",
    "init_xoroshiro128p_states_cpu",
    "philox4x32",
    "philox_normal_float32",
    "philox_normal_float32x4",
    "philox_normal_float64",
    "philox_normal_float64x2",
    "philox_uint32",
    "philox_uint32x4",
    "philox_uniform_float32",
    "philox_uniform_float32x4",
    "philox_uniform_float64",
    "philox_uniform_float64x2",
    "uint64_to_unit_float32",
    "uint64_to_unit_float64",
    "xoroshiro128p_dtype",
    "xoroshiro128p_jump",
    "xoroshiro128p_next",
    "xoroshiro128p_normal_float32",
    "xoroshiro128p_normal_float64",
    "xoroshiro128p_type",
    "xoroshiro128p_uniform_float32",
    "xoroshiro128p_uniform_float64",
]
