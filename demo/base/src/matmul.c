#include "kernels.h"
#include "vec.h"

struct matmul_args {
    float *y;
    const struct tensor *w;
    const float *x;
};

static void matmul_block(const void *args, struct range rows, struct range tokens)
{
    const struct matmul_args *a = args;
    const int d_out = a->w->rows, d_in = a->w->cols;

    for (int t = tokens.begin; t < tokens.end; t++) {
        const float *x = a->x + (size_t)t * d_in;
        float *y = a->y + (size_t)t * d_out;
        for (int r = rows.begin; r < rows.end; r++)
            y[r] = vec_dot(a->w->data + (size_t)r * d_in, x, d_in);
    }
}

void matmul(struct pool *p, float *y, const struct tensor *w, const float *x, int tokens)
{
    const struct matmul_args args = { .y = y, .w = w, .x = x };

    launch(p, matmul_block, &args, w->rows, tokens);
}
