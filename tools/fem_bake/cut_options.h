// The options of the command line that say how a mesh is cut into splinters.
#ifndef FEM_BAKE_CUT_OPTIONS_H
#define FEM_BAKE_CUT_OPTIONS_H

#include "fem_baking.h"

typedef enum FemOptionResult { FEM_OPTION_UNKNOWN, FEM_OPTION_GOOD, FEM_OPTION_BAD } FemOptionResult;

// Bad ones have been complained about on stderr.
FemOptionResult fem_cut_option(const char *name, const char *value, FemCutDef *out);
void fem_cut_options_help(void);

#endif
