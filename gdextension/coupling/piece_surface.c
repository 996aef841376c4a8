#include "coupling/piece_surface.h"

#include <stdlib.h>

void piece_surface_free(PieceSurface *surface) {
	free(surface->pieces);
	free(surface->triangles);
	free(surface->first);
	*surface = (PieceSurface){0};
}

// Its place in the list, or -1. Tets of a piece lie together, so the place of the tet before is a good guess.
static int32_t find_piece(const PieceSurface *surface, FemPieceNumber piece, int32_t guess) {
	for (int32_t i = 0; i < surface->piece_count; i++) {
		int32_t index = (guess + i) % surface->piece_count;
		if (surface->pieces[index] == piece) {
			return index;
		}
	}
	return -1;
}

// For each node the place of its piece in the list: pieces have no nodes in common.
static void mark_nodes(const PieceSurface *surface, FemBodyId body, const int32_t *corners, int32_t tet_count,
	int32_t *node_pieces, int32_t node_count) {
	int32_t index = 0;
	for (int32_t t = 0; t < tet_count; t++) {
		FemPieceNumber piece = fem_body_get_tet_piece(body, t);
		int32_t found = piece ? find_piece(surface, piece, index) : -1;
		index = found >= 0 ? found : index;
		for (int k = 0; k < 4 && found >= 0; k++) {
			int32_t node = corners[4 * (size_t)t + (size_t)k];
			if (node >= 0 && node < node_count) {
				node_pieces[node] = found;
			}
		}
	}
}

// Counting sort.
static void group(PieceSurface *surface, const int32_t *triangles, int32_t count, const int32_t *node_pieces) {
	for (int32_t i = 0; i < count; i++) {
		surface->first[node_pieces[triangles[3 * (size_t)i]] + 1]++;
	}
	for (int32_t i = 0; i < surface->piece_count; i++) {
		surface->first[i + 1] += surface->first[i];
	}
	for (int32_t i = 0; i < count; i++) {
		int32_t at = surface->first[node_pieces[triangles[3 * (size_t)i]]]++;
		for (size_t k = 0; k < 3; k++) {
			surface->triangles[3 * (size_t)at + k] = triangles[3 * (size_t)i + k];
		}
	}
	for (int32_t i = surface->piece_count; i > 0; i--) { // filling has moved each to the next
		surface->first[i] = surface->first[i - 1];
	}
	surface->first[0] = 0;
}

bool piece_surface_read(FemBodyId body, PieceSurface *out) {
	int32_t tets = fem_body_get_tet_count(body), nodes = fem_body_get_node_count(body);
	int32_t count = fem_body_get_surface(body, NULL, 0), pieces = fem_body_get_pieces(body, NULL, 0);
	*out = (PieceSurface){0};
	if (tets <= 0 || nodes <= 0 || count < 0 || pieces <= 0) {
		return pieces == 0; // all of them were removed
	}
	int32_t *corners = malloc((size_t)tets * 4 * sizeof(int32_t));
	int32_t *node_pieces = calloc((size_t)nodes, sizeof(int32_t));
	int32_t *triangles = malloc((size_t)(count > 0 ? count : 1) * 3 * sizeof(int32_t));
	out->pieces = malloc((size_t)pieces * sizeof(FemPieceNumber));
	out->triangles = malloc((size_t)(count > 0 ? count : 1) * 3 * sizeof(int32_t));
	out->first = calloc((size_t)pieces + 1, sizeof(int32_t));
	bool is_good = corners && node_pieces && triangles && out->pieces && out->triangles && out->first;
	if (is_good) {
		out->piece_count = pieces;
		fem_body_get_pieces(body, out->pieces, pieces);
		tets = fem_body_get_tets(body, corners, tets);
		fem_body_get_surface(body, triangles, count);
		mark_nodes(out, body, corners, tets, node_pieces, nodes);
		group(out, triangles, count, node_pieces);
	} else {
		piece_surface_free(out);
	}
	free(corners);
	free(node_pieces);
	free(triangles);
	return is_good;
}
