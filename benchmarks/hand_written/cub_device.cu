// CUB's device-wide algorithms as C functions, for benchmarks/algorithms.py.
//
// As in CUB, a call whose temporary memory is null only stores its number of bytes.
#include <cub/cub.cuh>

#define CUB(name) extern "C" int name(void *temporary, size_t *bytes, int n,

struct IsSmall {
    __device__ bool operator()(float x) const { return x < 0.5f; }
};

CUB(reduce) const float *in, float *out)
{
    return cub::DeviceReduce::Sum(temporary, *bytes, in, out, n);
}

CUB(scan_float32) const float *in, float *out)
{
    return cub::DeviceScan::InclusiveSum(temporary, *bytes, in, out, n);
}

CUB(scan_int32) const int *in, int *out)
{
    return cub::DeviceScan::InclusiveSum(temporary, *bytes, in, out, n);
}

CUB(select_small) const float *in, float *out, int *count)
{
    return cub::DeviceSelect::If(temporary, *bytes, in, out, count, n, IsSmall());
}

CUB(sort_keys) const unsigned *keys, unsigned *keys_out)
{
    return cub::DeviceRadixSort::SortKeys(temporary, *bytes, keys, keys_out, n);
}

CUB(sort_pairs) const unsigned *keys, const unsigned *values, unsigned *keys_out,
                unsigned *values_out)
{
    return cub::DeviceRadixSort::SortPairs(temporary, *bytes, keys, keys_out, values, values_out,
                                           n);
}

CUB(histogram) const unsigned char *in, int *counts)
{
    return cub::DeviceHistogram::HistogramEven(temporary, *bytes, in, counts, 257, 0, 256, n);
}

CUB(segmented_reduce) const float *in, const int *offsets, float *out)
{
    return cub::DeviceSegmentedReduce::Sum(temporary, *bytes, in, out, n, offsets, offsets + 1);
}
