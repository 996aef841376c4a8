#ifndef FEM_BASE_TIMING_H
#define FEM_BASE_TIMING_H

// Milliseconds of a clock that never goes back.
double fem_time_ms(void);

#endif
