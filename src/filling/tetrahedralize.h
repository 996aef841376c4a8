// From a triangle soup to tets: one connected body of tets for each member of the soup (see soup_members.h), of about
// the element count asked for, every tet of positive volume.
//
// Compact members are stuffed (stuffing.h): every dihedral angle is at least 8 degrees. What such cells do not cover
// (ears, limbs, handles, spikes) gets smaller ones where it is thin (member_graded.h), with angles down to some 4
// degrees and as many more tets as it takes: no vertex lies farther than 1 % of the mesh's size from the tets, and the
// volume is that of the mesh within 10 % from 1,000 tets on, 5 % from 5,000 on. Plates, panels that are bent by
// up to about a quarter of a ring, and straight beams that such cells could not resolve get layers of stretched cells
// (plate_grid.h): `plate_layers`, or more where cells would else be shorter than thick. Thin walls of other shapes
// (boxes, tubes, bowls, vases) get cells along the wall (wall_cells.h): their volume is that of the mesh within 10 %,
// and no vertex lies farther than 1 % of the mesh's size from the tets, with as many more tets than asked for as that
// takes. Walls between rooms have two skins nowhere: those at right angles or slanting in three families of planes get
// blocks (block_grid.h), those along one axis cells of its plan (plan_walls.h). Else, and in tangled surfaces, walls
// are filled as limbs are; sheets of such shapes are thickened to about one cell, stuffed, and drawn back to the soup
// as far as tets of 8 degrees allow, or of 4 where cells are over 2.5 times as long as the sheet is thick; `members`
// says how each member was filled and how well it came out.
//
// What holds for plates: cells are up to hundreds of times longer than thick, dihedral angles fall with that. Bending
// stiffness against theory, measured with tet_plates = 1 (in brackets without), for cells 1.25, 2.5, 5, 10 times as
// long as the member is thick:
//   one layer of 5-tet cells (strips, beams)  1.14 (3.2)  1.40 (6.7)  1.56 (21)  1.59 (77)
//   one layer of prisms (sheets)              1.2  (5.2)  2.5  (10)   2.5  (31)  2.6  (115)
//   one layer along curved walls              3.1         3.2         3.2        3.3; two layers 1.4
//   thickened walls drawn back                1.7  (2.3)  3.5  (7.2)  24   (80)  420  (1000)
// Panels bent into a quarter of a ring: 2.6 to 2.8 in one layer, 0.8 to 1.2 in more (tests/test_curved_walls.c); sheets
// held on one, two and four sides: 2.2 to 2.8 (tests/test_sheets.c). Square beams of one cell across take no
// correction: about 2.9. FemTetMesh.warning says when a member exceeds a factor of 4. Give the engine's mesh
// quality_clamp 0 when has_plates is set, or flat tets are softened on top.
#ifndef FEM_FILLING_TETRAHEDRALIZE_H
#define FEM_FILLING_TETRAHEDRALIZE_H

#include "fem_baking.h"
#include "geometry/triangle_soup.h"

typedef enum FemMemberKind {
	FEM_MEMBER_COMPACT,   // stuffed with cubic cells
	FEM_MEMBER_PLATE,     // layers of cells along a plate or panel
	FEM_MEMBER_BEAM,      // cells stretched along one axis
	FEM_MEMBER_THIN_WALL, // stuffed with thickened walls
	FEM_MEMBER_SHEET,     // encloses nothing: sheet_thickness was given to it
	FEM_MEMBER_WALL,      // layers of cells along a thin wall of any shape
	FEM_MEMBER_KIND_COUNT,
} FemMemberKind;

typedef struct FemTetMember {
	FemMemberKind kind;
	int32_t first_tet, tet_count, node_count;
	bool whole;               // one body that covers the soup; else the warning says so
	bool hollow;              // its wall has the thickness that was asked for
	bool has_given_thickness; // it encloses nothing, and nobody said how thick it is
	float volume;             // m^3, of the tets
	float input_volume;       // m^3, that the soup encloses, about
	float min_dihedral;       // degrees
	float cell;               // m, lattice cell (plates: the longer side)
	int32_t layers;           // of cells through plates and beams; 0 for stuffed members
	float thickness;          // m, of plates, walls and beams (the thinnest side)
	float thicker;            // times the wall of the mesh, where that is too thin to be computed; 0: it is not
	float stiffness_excess;   // estimate: bending stiffness / theory with the plate correction; 1 for compact members
} FemTetMember;

typedef struct FemTetMesh {
	int32_t node_count, tet_count, member_count, vertex_count;
	int32_t asked_count;                        // tets that were asked for
	FemVec3 *nodes;                             // m
	int32_t *tets;                              // 4 a tet
	float *tet_plates;                          // plate correction strength c of each tet, for FemMeshDef
	int32_t *tet_members;                       // [tet]
	FemTetMember *members;                      // [member]
	int32_t *vertex_members;                    // [soup vertex]: its member, -1 for vertices of no (kept) triangle
	float min_dihedral, max_dihedral;           // degrees, over all tets
	float volume;                               // m^3
	int32_t left_out_parts, left_out_triangles; // small parts that enclose nothing and have no tets
	int32_t thickened_count; // surfaces that enclose nothing, beside other parts, whose thickness nobody told ...
	float thickened_by;      // ... m, and what the thickest was given
	bool has_plates;         // some tet_plates are not 0: use quality_clamp 0
	bool cancelled;
	char warning[256]; // a sentence with its remedy, or empty
} FemTetMesh;

// FEM_OK, or a sentence about the first setting that makes no sense.
FemResult fem_bake_def_check(const FemBakeDef *def);

// On failure `out` is empty and fem_last_error() names cause and remedy. A stop by `progress` answers FEM_ERROR_LIMIT
// with out->cancelled set.
FemResult fem_tetrahedralize(const FemSoup *soup, const FemBakeDef *def, FemTetMesh *out);
void fem_tet_mesh_free(FemTetMesh *mesh);

#endif
