"""Operations of all threads of a block, as device functions: ``pycu2c.cuda.block``.

Each item of the block has a rank. In the blocked arrangement, thread ``t`` has the items from
``t * items_per_thread`` on; in the striped arrangement, every ``threads``-th item from ``t`` on.
Each function ends with a barrier if it uses shared memory, so that calls can follow each other.
"""
