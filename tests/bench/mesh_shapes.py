"""Shapes made by code that are hard to fill with tets: limbs, handles, loose planks, open and hollow things.

Each function returns (vertices, triangles); SHAPES names them. Lengths are about 1.
"""
import itertools
import math


class Mesh:
    def __init__(self):
        self.vertices, self.triangles = [], []

    def add(self, vertices, triangles):
        first = len(self.vertices)
        self.vertices += vertices
        self.triangles += [tuple(first + v for v in t) for t in triangles]
        return self

    def result(self):
        return self.vertices, self.triangles


def box(low, high):
    (a, b, c), (d, e, f) = low, high
    vertices = [(a, b, c), (d, b, c), (d, e, c), (a, e, c), (a, b, f), (d, b, f), (d, e, f), (a, e, f)]
    quads = [(0, 3, 2, 1), (4, 5, 6, 7), (0, 1, 5, 4), (2, 3, 7, 6), (1, 2, 6, 5), (0, 4, 7, 3)]
    return vertices, [t for p, q, r, s in quads for t in ((p, q, r), (p, r, s))]


def revolve(profile, sides, capped=True):
    """A profile of (radius, height) round the y axis; open at its ends unless they lie on the axis or are capped."""
    vertices, triangles = [], []
    for radius, height in profile:
        for i in range(sides):
            angle = 2.0 * math.pi * i / sides
            vertices.append((radius * math.cos(angle), height, radius * math.sin(angle)))
    for row in range(len(profile) - 1):
        for i in range(sides):
            a, b = row * sides + i, row * sides + (i + 1) % sides
            triangles += [(a, a + sides, b), (b, a + sides, b + sides)]
    if capped:
        for row, flip in ((0, False), (len(profile) - 1, True)):
            for i in range(1, sides - 1):
                t = (row * sides, row * sides + i, row * sides + i + 1)
                triangles.append(t[::-1] if flip else t)
    return vertices, triangles


# ---- smooth single shells, from a signed distance

def faces(vertices, triangle, direction):
    p, q, r = (vertices[v] for v in triangle)
    u, v = [y - x for x, y in zip(p, q)], [y - x for x, y in zip(p, r)]
    n = (u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0])
    return sum(x * y for x, y in zip(n, direction)) > 0.0


_PATHS = ((1, 3), (1, 5), (2, 3), (2, 6), (4, 5), (4, 6))  # corners of a cube from 0 to 7, round its diagonal


def surface_of(parts, low, cell):
    """Marching tetrahedra over the union of parts, (signed distance, low, high) each: six tets of each cube of a grid."""
    at = lambda i, j, k: (low[0] + cell * i, low[1] + cell * j, low[2] + cell * k)
    values, cubes = {}, set()
    for distance, part_low, part_high in parts:
        ranges = [range(int((l - o) / cell) - 2, int((h - o) / cell) + 4) for l, h, o in zip(part_low, part_high, low)]
        for node in itertools.product(*ranges):
            values[node] = min(values.get(node, 1.0), distance(*at(*node)) or 1e-9)
            cubes.add(node)
    vertices, names, triangles = [], {}, []

    def crossing(a, b):
        key = (a, b) if a < b else (b, a)
        if key not in names:
            t = values[key[0]] / (values[key[0]] - values[key[1]])
            t = min(max(t, 0.02), 0.98)
            p, q = at(*key[0]), at(*key[1])
            names[key] = len(vertices)
            vertices.append(tuple(x + t * (y - x) for x, y in zip(p, q)))
        return names[key]

    for i, j, k in sorted(cubes):
        cube = [(i + (c & 1), j + (c >> 1 & 1), k + (c >> 2)) for c in range(8)]
        inside = [values.get(c, 1.0) < 0.0 for c in cube]
        if all(inside) or not any(inside):
            continue
        for m, n in _PATHS:
            tet = [cube[0], cube[m], cube[n], cube[7]]
            within = [c for c in tet if values[c] < 0.0]
            without = [c for c in tet if values[c] >= 0.0]
            if not within or not without:
                continue
            if len(within) == 2:
                (a, b), (c, d) = within, without
                ring = [crossing(a, c), crossing(a, d), crossing(b, d), crossing(b, c)]
                made = [(ring[0], ring[1], ring[2]), (ring[0], ring[2], ring[3])]
            elif len(within) == 1:
                made = [tuple(crossing(within[0], c) for c in without)]
            else:
                made = [tuple(crossing(c, without[0]) for c in within)]
            outward = [sum(c[x] for c in without) / len(without) - sum(c[x] for c in within) / len(within)
                       for x in range(3)]
            triangles += [t if faces(vertices, t, outward) else t[::-1] for t in made]
    return vertices, triangles


def capsule(a, b, ra, rb):
    """A limb from a to b, with the radius going from ra to rb."""
    ab = [y - x for x, y in zip(a, b)]
    length = sum(x * x for x in ab)

    def at(x, y, z):
        p = (x - a[0], y - a[1], z - a[2])
        t = min(max(sum(u * v for u, v in zip(p, ab)) / length, 0.0), 1.0)
        return math.sqrt(sum((u - t * v) ** 2 for u, v in zip(p, ab))) - ra - t * (rb - ra)
    most = max(ra, rb)
    return at, [min(x, y) - most for x, y in zip(a, b)], [max(x, y) + most for x, y in zip(a, b)]


def figure():
    """A figure with limbs and fingers, one shell."""
    parts = [capsule((0, .95, 0), (0, 1.35, 0), .14, .16), capsule((0, 1.6, 0), (0, 1.68, 0), .1, .09),
             capsule((0, 1.3, 0), (0, 1.6, 0), .06, .05)]
    for s in (-1, 1):
        parts += [capsule((s * .09, .95, 0), (s * .12, .5, 0), .08, .055),
                  capsule((s * .12, .5, 0), (s * .12, .06, 0), .055, .04),
                  capsule((s * .12, .05, 0), (s * .13, .04, .16), .04, .03),
                  capsule((s * .15, 1.42, 0), (s * .42, 1.3, 0), .055, .045),
                  capsule((s * .42, 1.3, 0), (s * .68, 1.3, 0), .045, .03)]
        for f in range(5):
            z = (f - 2) * .022
            parts.append(capsule((s * .68, 1.3, z * .5), (s * .8, 1.3 + (.03 if f == 0 else 0), z * 1.6), .017, .013))
    return surface_of(parts, (-.85, -.02, -.1), .012)


def tree():
    """A trunk whose branches fork three times, one shell."""
    parts = []

    def branch(at, direction, length, radius, depth):
        end = tuple(p + length * d for p, d in zip(at, direction))
        parts.append(capsule(at, end, radius, radius * .65))
        if depth == 0:
            return
        for n in range(3):
            angle = 2.1 * n + depth
            side = (math.cos(angle) * .75, .7, math.sin(angle) * .75)
            mixed = tuple(d * .6 + s for d, s in zip(direction, side))
            norm = math.sqrt(sum(m * m for m in mixed))
            branch(end, tuple(m / norm for m in mixed), length * .7, radius * .6, depth - 1)
    branch((0, 0, 0), (0, 1, 0), .4, .09, 3)
    return surface_of(parts, (-.8, -.1, -.8), .014)


def mug():
    """A mug with walls and a handle, one shell."""
    handle = lambda x, y, z: math.sqrt((math.sqrt((x - .3) ** 2 + y * y) - .2) ** 2 + z * z) - .035

    def at(x, y, z):
        r = math.sqrt(x * x + z * z)
        outside = max(r - .3, abs(y) - .35)
        hollow = max(r - .26, -.3 - y)
        grip = max(handle(x, y, z), .28 - r)
        return min(max(outside, -hollow), grip)
    return surface_of([(at, (-.35, -.4, -.35), (.6, .4, .35))], (-.35, -.4, -.35), .027)


def chair():
    """Seat, legs and back, boxes that run into each other."""
    mesh = Mesh().add(*box((0, .43, 0), (.45, .47, .45)))
    for x in (.01, .41):
        for z in (.01, .41):
            mesh.add(*box((x, 0, z), (x + .03, .95 if z > .2 else .44, z + .03)))
    for y in (.6, .72, .84):
        mesh.add(*box((.02, y, .415), (.43, y + .05, .43)))
    return mesh.result()


def crate():
    """Loose planks that touch, run into each other or leave gaps."""
    mesh = Mesh()
    for i in range(5):
        a, b = .2 * i + .005, .2 * i + .195
        mesh.add(*box((a, 0, 0), (b, .02, 1))).add(*box((a, .98, 0), (b, 1, 1)))
        mesh.add(*box((0, a, -.01), (1, b, .01))).add(*box((0, a, .99), (1, b, 1.01)))
    for x in (-.02, .98):
        for i in range(5):
            mesh.add(*box((x, .2 * i + .005, 0), (x + .03, .2 * i + .195, 1)))
    return mesh.result()


def open_head():
    """A head without a neck's end or eyes: open edges, and a brow that crosses the skull."""
    ball = lambda r, n: [(r * math.sin(math.pi * i / n), -r * math.cos(math.pi * i / n)) for i in range(n + 1)]
    profile = [(r, y * 1.2) for r, y in ball(.4, 16)][2:]
    profile[-1] = (1e-4, profile[-1][1])
    vertices, triangles = revolve(profile, 24, capped=False)
    eyes = [i for i, t in enumerate(triangles)
            if math.dist([sum(vertices[v][x] for v in t) / 3 for x in range(3)], (.37, .1, .12)) < .06]
    mesh = Mesh().add(vertices, [t for i, t in enumerate(triangles) if i not in eyes])
    for z in (-.3, .3):
        ear, faces = revolve([(.001, -.16), (.05, -.1), (.06, 0), (.03, .12), (.001, .16)], 10, capped=False)
        mesh.add([(x * .5, y + .1, zz * .5 + z * 1.35) for x, y, zz in ear], faces)
    return mesh.result()


def hollow_head():
    """Two skins, the inner one turned inward."""
    ball = lambda r, n: [(max(r * math.sin(math.pi * i / n), 1e-4), -r * math.cos(math.pi * i / n)) for i in range(n + 1)]
    outer, inner = revolve(ball(.5, 24), 32), revolve(ball(.46, 20), 32)
    return Mesh().add(*outer).add(inner[0], [t[::-1] for t in inner[1]]).result()


def klein_bottle():
    """One side only."""
    rows, sides, vertices = 60, 24, []
    for i in range(rows):
        u = 2 * math.pi * i / rows
        for j in range(sides):
            v = 2 * math.pi * j / sides
            r = 2 + math.cos(u / 2) * math.sin(v) - math.sin(u / 2) * math.sin(2 * v)
            vertices.append((.2 * r * math.cos(u), .2 * (math.sin(u / 2) * math.sin(v) + math.cos(u / 2) * math.sin(2 * v)),
                             .2 * r * math.sin(u)))
    triangles = []
    for i in range(rows):
        for j in range(sides):
            turn = lambda row, side: ((row % rows) * sides + ((-side) % sides if row == rows else side % sides))
            a, b, c, d = turn(i, j), turn(i + 1, j), turn(i + 1, j + 1), turn(i, j + 1)
            triangles += [(a, b, c), (a, c, d)]
    return vertices, triangles


def hand_rail():
    """A long thin bent rod: a helix of two turns."""
    parts, n = [], 48
    at = lambda t: (.4 * math.cos(2 * t * math.tau), t * .8, .4 * math.sin(2 * t * math.tau))
    for i in range(n):
        parts.append(capsule(at(i / n), at((i + 1) / n), .03, .03))
    return surface_of(parts, (-.46, -.05, -.46), .015)


def hedgehog():
    """A ball with 40 needles, one shell each, stuck into it."""
    ball = lambda r, n: [(max(r * math.sin(math.pi * i / n), 1e-4), -r * math.cos(math.pi * i / n)) for i in range(n + 1)]
    mesh = Mesh().add(*revolve(ball(.3, 16), 24))
    for i in range(40):
        y = 1 - 2 * (i + .5) / 40
        r, angle = math.sqrt(1 - y * y), 2.39996 * i
        d = (r * math.cos(angle), y, r * math.sin(angle))
        u = (-d[2], 0, d[0]) if abs(d[1]) < .9 else (1, 0, 0)
        norm = math.sqrt(sum(x * x for x in u))
        u = tuple(x / norm for x in u)
        v = (d[1] * u[2] - d[2] * u[1], d[2] * u[0] - d[0] * u[2], d[0] * u[1] - d[1] * u[0])
        ring = [tuple(.26 * x + .012 * (math.cos(a) * p + math.sin(a) * q) for x, p, q in zip(d, u, v))
                for a in (math.tau * k / 6 for k in range(6))]
        faces = [(k, (k + 1) % 6, 6) for k in range(6)] + [(0, k + 1, k) for k in range(1, 5)]
        mesh.add(ring + [tuple(.5 * x for x in d)], faces)
    return mesh.result()


SHAPES = {f.__name__: f for f in (figure, tree, mug, chair, crate, open_head, hollow_head, hand_rail, hedgehog,
                                  klein_bottle)}


def write_obj(path, vertices, triangles):
    with open(path, "w") as file:
        file.writelines("v %.7g %.7g %.7g\n" % v for v in vertices)
        file.writelines("f %d %d %d\n" % tuple(v + 1 for v in t) for t in triangles)
