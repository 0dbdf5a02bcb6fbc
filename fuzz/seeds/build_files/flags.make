# flags
C_FLAGS = -O3 -march=native
C_DEFINES = -DNDEBUG
C_INCLUDES = -I/s/src/include
