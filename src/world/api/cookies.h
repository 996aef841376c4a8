// Marks that fem_default_*_def() leaves in a def, so that a def made otherwise is refused. They change with the layout.
#ifndef FEM_WORLD_COOKIES_H
#define FEM_WORLD_COOKIES_H

// Letters of the kind and a version, which changes with the record.
#define FEM_COOKIE_WORLD 0x46570102u
#define FEM_COOKIE_MATERIAL 0x464d0102u
#define FEM_COOKIE_MESH 0x46480102u
#define FEM_COOKIE_BODY 0x46420103u
#define FEM_COOKIE_COLLIDER 0x46430101u
#define FEM_COOKIE_SPLINTERS 0x46530101u
#define FEM_COOKIE_LIMITS 0x464c0101u
#define FEM_COOKIE_SHED 0x46440101u
#define FEM_COOKIE_BUDGET 0x46470101u
#define FEM_COOKIE_JOINED 0x464a0101u

#endif
