/* Half precision as it lies in model files: IEEE 754 binary16. */
#ifndef F16_H
#define F16_H

#include <stdint.h>

float f16_to_f32(uint16_t h);

#endif
