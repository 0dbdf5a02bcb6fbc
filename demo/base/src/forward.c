#include "engine.h"
#include "kernels.h"

#include <stdio.h>
#include <string.h>

static void trace(struct context *c, int layer, const char *name, const float *data, int rows, int cols)
{
    char full[64];

    if (!c->trace)
        return;
    if (layer < 0)
        snprintf(full, sizeof full, "%s", name);
    else
        snprintf(full, sizeof full, "blk%d.%s", layer, name);
    c->trace(c->trace_user, full, data, rows, cols);
}

static void add(float *x, const float *y, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] += y[i];
}

static void attention_part(struct context *c, int layer, int n, int pos)
{
    const struct model *m = c->model;
    const struct layer *l = &m->layers[layer];
    const struct attention_shape shape = { m->n_heads, m->n_kv_heads, m->head_dim };
    const int d = m->d_model, q = l->wq.rows, kv = l->wk.rows;
    float *keys = c->k_cache + (size_t)layer * m->n_ctx * kv;
    float *values = c->v_cache + (size_t)layer * m->n_ctx * kv;

    rmsnorm(c->xn, c->x, &l->attn_norm, n, m->rms_eps);
    trace(c, layer, "attn_norm", c->xn, n, d);
    matmul(c->pool, c->q, &l->wq, c->xn, n);
    trace(c, layer, "q", c->q, n, q);
    matmul(c->pool, c->k, &l->wk, c->xn, n);
    trace(c, layer, "k", c->k, n, kv);
    matmul(c->pool, c->v, &l->wv, c->xn, n);
    trace(c, layer, "v", c->v, n, kv);
    rope(c->q, n, m->n_heads, m->head_dim, pos, m->rope_theta);
    trace(c, layer, "q_rope", c->q, n, q);
    rope(c->k, n, m->n_kv_heads, m->head_dim, pos, m->rope_theta);
    trace(c, layer, "k_rope", c->k, n, kv);
    memcpy(keys + (size_t)pos * kv, c->k, (size_t)n * kv * sizeof *keys);
    memcpy(values + (size_t)pos * kv, c->v, (size_t)n * kv * sizeof *values);
    attention(c->pool, c->att, c->q, keys, values, &shape, n, pos);
    trace(c, layer, "attn", c->att, n, q);
    matmul(c->pool, c->out, &l->wo, c->att, n);
    trace(c, layer, "attn_out", c->out, n, d);
    add(c->x, c->out, (size_t)n * d);
    trace(c, layer, "attn_residual", c->x, n, d);
}

static void ffn_part(struct context *c, int layer, int n)
{
    const struct model *m = c->model;
    const struct layer *l = &m->layers[layer];
    const int d = m->d_model;

    rmsnorm(c->xn, c->x, &l->ffn_norm, n, m->rms_eps);
    trace(c, layer, "ffn_norm", c->xn, n, d);
    swiglu(c->pool, c->act, c->gate, c->up, &l->w_gate, &l->w_up, c->xn, n);
    trace(c, layer, "ffn_gate", c->gate, n, l->ffn);
    trace(c, layer, "ffn_up", c->up, n, l->ffn);
    trace(c, layer, "ffn_act", c->act, n, l->ffn);
    matmul(c->pool, c->out, &l->w_down, c->act, n);
    trace(c, layer, "ffn_down", c->out, n, d);
    add(c->x, c->out, (size_t)n * d);
    trace(c, layer, "ffn_residual", c->x, n, d);
}

const float *forward(struct context *c, const int *tokens, int n, int pos, int first)
{
    const struct model *m = c->model;
    const int d = m->d_model;

    if (n < 1 || pos < 0 || pos + n > m->n_ctx || first < 0 || first >= n)
        return NULL;
    for (int t = 0; t < n; t++)
        memcpy(c->x + (size_t)t * d, m->tok_emb.data + (size_t)tokens[t] * d, (size_t)d * sizeof *c->x);
    trace(c, -1, "embd", c->x, n, d);
    for (int layer = 0; layer < m->n_layers; layer++) {
        attention_part(c, layer, n, pos);
        ffn_part(c, layer, n);
    }
    rmsnorm(c->xn, c->x + (size_t)first * d, &m->out_norm, n - first, m->rms_eps);
    trace(c, -1, "result_norm", c->xn, n - first, d);
    matmul(c->pool, c->logits, &m->tok_emb, c->xn, n - first);
    trace(c, -1, "result_output", c->logits, n - first, m->vocab.size);
    return c->logits;
}
