/* Arrays on disk, in NumPy's format. */
#ifndef NPY_H
#define NPY_H

/* Writes data [rows, cols]; returns 0, or -1 after a message on stderr. */
int npy_write(const char *path, const float *data, int rows, int cols);

#endif
