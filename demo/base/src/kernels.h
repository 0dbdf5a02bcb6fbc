/* The kernels. Activations are [tokens, width], row-major. */
#ifndef KERNELS_H
#define KERNELS_H

#include "engine.h"
#include "threadpool.h"

/* y[t, r] = dot(w[r], x[t]) */
void matmul(struct pool *p, float *y, const struct tensor *w, const float *x, int tokens);

/* y = x / sqrt(mean(x^2) + eps) * w */
void rmsnorm(float *y, const float *x, const struct tensor *w, int tokens, float eps);

/* Rotates each head of x [tokens, heads * head_dim] in place; token t stands at pos + t. */
void rope(float *x, int tokens, int heads, int head_dim, int pos, float theta);

struct attention_shape {
    int n_heads, n_kv_heads, head_dim;
};

/* Causal attention of q [tokens, heads * head_dim] at positions pos + t over
 * the cached keys and values [positions, kv heads * head_dim]. */
void attention(struct pool *p, float *y, const float *q, const float *keys, const float *values,
               const struct attention_shape *shape, int tokens, int pos);

/* gate = w_gate x, up = w_up x, y = silu(gate) * up */
void swiglu(struct pool *p, float *y, float *gate, float *up, const struct tensor *w_gate,
            const struct tensor *w_up, const float *x, int tokens);

#endif
