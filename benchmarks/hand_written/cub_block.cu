// Kernels of block primitives with CUB, for benchmarks/block_primitives.py.
#include <cub/cub.cuh>

constexpr int THREADS = 256;
constexpr int ITEMS = 8;

template <typename T> __device__ void load(T (&items)[ITEMS], const T *in)
{
    using Load = cub::BlockLoad<T, THREADS, ITEMS, cub::BLOCK_LOAD_TRANSPOSE>;
    __shared__ typename Load::TempStorage storage;
    Load(storage).Load(in + blockIdx.x * THREADS * ITEMS, items);
    __syncthreads();
}

template <typename T> __device__ void store(T *out, T (&items)[ITEMS])
{
    using Store = cub::BlockStore<T, THREADS, ITEMS, cub::BLOCK_STORE_TRANSPOSE>;
    __shared__ typename Store::TempStorage storage;
    Store(storage).Store(out + blockIdx.x * THREADS * ITEMS, items);
}

extern "C" __global__ void reduce_blocks(float *out, const float *in)
{
    using Reduce = cub::BlockReduce<float, THREADS>;
    __shared__ typename Reduce::TempStorage storage;
    float items[ITEMS];
    cub::LoadDirectStriped<THREADS>(threadIdx.x, in + blockIdx.x * THREADS * ITEMS, items);
    float total = Reduce(storage).Sum(items);
    if (threadIdx.x == 0)
        out[blockIdx.x] = total;
}

extern "C" __global__ void scan_blocks(float *out, const float *in)
{
    using Scan = cub::BlockScan<float, THREADS>;
    __shared__ typename Scan::TempStorage storage;
    float items[ITEMS];
    load(items, in);
    Scan(storage).InclusiveSum(items, items);
    __syncthreads();
    store(out, items);
}

extern "C" __global__ void radix_sort_blocks(unsigned *out, const unsigned *in)
{
    using Sort = cub::BlockRadixSort<unsigned, THREADS, ITEMS>;
    __shared__ typename Sort::TempStorage storage;
    unsigned items[ITEMS];
    load(items, in);
    Sort(storage).Sort(items);
    __syncthreads();
    store(out, items);
}

struct Less {
    template <typename T> __device__ bool operator()(const T &a, const T &b) const { return a < b; }
};

extern "C" __global__ void merge_sort_blocks(float *out, const float *in)
{
    using Sort = cub::BlockMergeSort<float, THREADS, ITEMS>;
    __shared__ typename Sort::TempStorage storage;
    float items[ITEMS];
    load(items, in);
    Sort(storage).Sort(items, Less());
    __syncthreads();
    store(out, items);
}
