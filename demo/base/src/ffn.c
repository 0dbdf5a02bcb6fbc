#include "kernels.h"
#include "vec.h"

#include <math.h>

struct swiglu_args {
    float *y, *gate, *up;
    const struct tensor *w_gate, *w_up;
    const float *x;
};

static float silu(float v)
{
    return v / (1.0f + expf(-v));
}

static void swiglu_block(const void *args, struct range rows, struct range tokens)
{
    const struct swiglu_args *a = args;
    const int d_in = a->w_gate->cols, ffn = a->w_gate->rows;

    for (int t = tokens.begin; t < tokens.end; t++) {
        const float *x = a->x + (size_t)t * d_in;
        const size_t at = (size_t)t * ffn;
        for (int r = rows.begin; r < rows.end; r++) {
            a->gate[at + r] = vec_dot(a->w_gate->data + (size_t)r * d_in, x, d_in);
            a->up[at + r] = vec_dot(a->w_up->data + (size_t)r * d_in, x, d_in);
            a->y[at + r] = silu(a->gate[at + r]) * a->up[at + r];
        }
    }
}

void swiglu(struct pool *p, float *y, float *gate, float *up, const struct tensor *w_gate,
            const struct tensor *w_up, const float *x, int tokens)
{
    const struct swiglu_args args = {
        .y = y, .gate = gate, .up = up, .w_gate = w_gate, .w_up = w_up, .x = x,
    };

    launch(p, swiglu_block, &args, w_gate->rows, tokens);
}
