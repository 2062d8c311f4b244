#ifdef __CUDACC__
template <typename LayoutA, typename LayoutB>
__device__ void mma_of_tiles(float *c, int c_step, nvcuda::wmma::layout_t order, const __half *a,
                             int a_row, int a_column, const __half *b, int b_row, int b_column,
                             int depth) {
    using namespace nvcuda::wmma;
    fragment<accumulator, 16, 16, 16, float> sum;
    __syncwarp();  // lanes read elements that other lanes wrote
    load_matrix_sync(sum, c, c_step, order);
    for (int k = 0; k < depth; k += 16) {
        fragment<matrix_a, 16, 16, 16, __half, LayoutA> left;
        fragment<matrix_b, 16, 16, 16, __half, LayoutB> right;
        load_matrix_sync(left, a + k * a_column, a_row > a_column ? a_row : a_column);
        load_matrix_sync(right, b + k * b_row, b_row > b_column ? b_row : b_column);
        mma_sync(sum, left, right, sum);
    }
    store_matrix_sync(c, sum, c_step, order);
    __syncwarp();
}
#endif

// ==== c += a @ b
using namespace nvcuda::wmma;
const layout_t order = c_stride1 == 1 ? mem_row_major : mem_col_major;
const int step = c_stride1 == 1 ? c_stride0 : c_stride1, depth = a_shape1;
if (a_stride1 == 1 && b_stride1 == 1) {
    mma_of_tiles<row_major, row_major>(c, step, order, a, a_stride0, 1, b, b_stride0, 1, depth);
} else if (a_stride1 == 1) {
    mma_of_tiles<row_major, col_major>(c, step, order, a, a_stride0, 1, b, 1, b_stride1, depth);
} else if (b_stride1 == 1) {
    mma_of_tiles<col_major, row_major>(c, step, order, a, 1, a_stride1, b, b_stride0, 1, depth);
} else {
    mma_of_tiles<col_major, col_major>(c, step, order, a, 1, a_stride1, b, 1, b_stride1, depth);
}
