/* Every kernel against a plain reference in double precision. */
#ifndef SELFTEST_H
#define SELFTEST_H

/* Checks all kernels, and the matmul on one more shape where rows > 0.
 * Prints a line a check and returns how many failed. */
int selftest(int rows, int cols);

#endif
