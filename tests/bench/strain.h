// How far things are strained in what is published: brittle ones must break before they visibly bend.
#ifndef FEM_BENCH_STRAIN_H
#define FEM_BENCH_STRAIN_H

#include "fem_destruction.h"

typedef struct StrainWatch StrainWatch;

// Takes the bodies' shape of now as their rest shape. Null when memory fails.
StrainWatch *strain_watch_open(const FemBodyId *bodies, int32_t body_count);
void strain_watch_close(StrainWatch *watch);

// Share of all tets whose largest principal strain (Green's) is above `limit` in the shape published last.
double strain_watch_share(StrainWatch *watch, double limit);

#endif
