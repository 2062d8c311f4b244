static void ${name}_begin(const void *arguments, int64_t index, void *shared, void *threads) {
    const struct ${name}_args *const args = arguments;
    struct ${name}_block *const block = shared;
    struct ${name}_thread *self = threads;
    block->blockIdx.x = index % args->gridDim[0];
    block->blockIdx.y = (index / args->gridDim[0]) % args->gridDim[1];
    block->blockIdx.z = (index / args->gridDim[0]) / args->gridDim[1];
    for (int64_t z = 0; z < args->blockDim[2]; ++z) {
        for (int64_t y = 0; y < args->blockDim[1]; ++y) {
            for (int64_t x = 0; x < args->blockDim[0]; ++x) {
                *self = (struct ${name}_thread){.threadIdx = {x, y, z}};
                ++self;
            }
        }
    }
}

static void ${name}_run(const void *arguments, void *shared, void *threads, uint32_t lanes,
                 ${space}uint64_t *waits) {
    for (; lanes; lanes &= lanes - 1) {
        const int lane = __builtin_ctz(lanes);
        struct ${name}_thread *const self = (struct ${name}_thread *)threads + lane;
        const uint64_t reason = ${name}_step(arguments, shared, self);
        waits[lane] = reason | (uint64_t)self->pc << 3$mask;
    }
}

static void ${name}_publish(void *shared, void *threads, int64_t warp, uint32_t lanes,
                     ${space}int32_t is_first) {
    struct ${name}_block *const block = shared;
$cleared
    for (; lanes; lanes &= lanes - 1) {
        const int64_t lane = __builtin_ctz(lanes);
        const struct ${name}_thread *const self = (struct ${name}_thread *)threads + lane;
        switch (self->pc) {
$cases
        }
    }
}

static void ${name}_set_cluster(void *shared, void *const *cluster) {
    struct ${name}_block *const block = shared;
    block->cluster = (struct ${name}_block *const *)cluster;
}

const struct coroutine_kernel $name = {
    ${name}_begin,
    ${name}_run,
    $publish,
    sizeof(struct ${name}_block),
    sizeof(struct ${name}_thread),
    $waits_for_blocks,
    {$cluster},
    $set_cluster,
};
