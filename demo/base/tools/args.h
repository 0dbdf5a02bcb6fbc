/* What the three programs share: options, files, tokens. */
#ifndef ARGS_H
#define ARGS_H

#include "engine.h"

struct option_spec {
    const char *name;   /* with its dashes */
    const char **text;  /* takes a word, or */
    int *number;        /* takes a number >= 1, or */
    int *flag;          /* takes nothing */
};

/* Parses argv[first ..]; on a mistake says so and exits with 2. */
void parse_options(int argc, char **argv, int first, const struct option_spec *specs);

/* Exits with 2 and says that the option is missing where value is NULL. */
void require_option(const char *name, const char *value);

/* Loads model and context, or exits with 1. */
struct context *open_context(const char *model, int threads);

/* The tokens of a text file; exits with 1 where it cannot be read. */
int *read_tokens(const struct model *m, const char *path, size_t *n);

/* Prints how kernels are launched, as one line. */
void print_launch(void);

#endif
