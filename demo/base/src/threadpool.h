/* Launches: a grid of blocks, handed to the workers of a pool. See docs/launch.md. */
#ifndef THREADPOOL_H
#define THREADPOOL_H

enum {
    LANES        = 4,   /* lanes of a block that work on one row */
    LAUNCH_BLOCK = 384, /* lanes in a block */
    TOKEN_TILE   = 64,  /* tokens in a block */
};

struct range {
    int begin, end;
};

/* Computes some rows of the result for some tokens. */
typedef void (*block_fn)(const void *args, struct range rows, struct range tokens);

struct grid {
    int x, y;
};

struct pool;

struct pool *pool_new(int n_threads);
void pool_free(struct pool *p);

/* The grid of a launch over so many rows and tokens. */
struct grid launch_grid(int rows, int tokens);

/* Runs fn over the whole grid and returns when every block is done. */
void launch(struct pool *p, block_fn fn, const void *args, int rows, int tokens);

#endif
