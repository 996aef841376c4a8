#!/usr/bin/env python3
"""Draws deflection and breaking load of thin things over their number of tets, as shares of theory, from what
`build/fem_tests theory.plate_` printed: two figures a file, one line a case, theory in black.

    FEM_PLAIN_TETS=1 build/fem_tests theory.plate_ > plain_tets.txt   (which fails, as it should)
    build/fem_tests theory.plate_ > now.txt; tests/bench/plot_plates.py OUT.png [plain_tets.txt ...] now.txt

Shares beyond the figure are drawn at its edge. Needs nothing but Python.
"""
import math
import re
import sys

from plot import BOTTOM, COLORS, HEIGHT, LEFT, RIGHT, TOP, WIDTH, Picture

LINE = re.compile(r"^ +(?!tests/| )(.*), (baked|prisms|Kuhn|five-tet), (\d+) tets, (deflection|breaking load) / theory: "
                  r"expected 1, got ([^,]+),")
MOST = {"deflection": 1.5, "breaking load": 5.0}  # shares that a figure has room for
LEAST_TETS, MOST_TETS = 80, 4000


def read(path):
    """{(deflection or breaking load): {case: [(tets, share)]}}"""
    cases = {"deflection": {}, "breaking load": {}}
    with open(path) as file:
        for line in file:
            match = LINE.match(line)
            if match:
                share = float(match.group(5))
                cases[match.group(4)].setdefault(match.group(1), []).append((int(match.group(3)), share))
    return cases


def draw(picture, top, title, cases, most):
    width, height = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def place(tets, share):
        along = math.log(tets / LEAST_TETS) / math.log(MOST_TETS / LEAST_TETS)
        up = min(max(share, 0.0), most) / most if math.isfinite(share) else 1.0
        return round(LEFT + along * width), round(top + TOP + (1.0 - up) * height)

    picture.text(LEFT, top + 6, title)
    for share in (0.0, 1.0, most):
        x, y = place(LEAST_TETS, share)
        picture.line(x, y, x + width, y, (0, 0, 0) if share == 1.0 else (200, 200, 200))
        picture.text(6, y - 4, "%.1f" % share)
    for tets in (100, 300, 1000, 3000):
        x, y = place(tets, 0.0)
        picture.text(x - 12, y + 8, str(tets))
    for k, (name, points) in enumerate(sorted(cases.items())):
        color = COLORS[k % len(COLORS)]
        for point in points:
            x, y = place(*point)
            for d in range(9):
                picture.dot(x + d % 3 - 1, y + d // 3 - 1, color)
        picture.text(WIDTH - RIGHT + 8, top + TOP + 14 * k, name[:20], color)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    files = sys.argv[2:]
    picture = Picture(WIDTH, 2 * len(files) * HEIGHT)
    for k, path in enumerate(files):
        cases = read(path)
        for f, what in enumerate(("deflection", "breaking load")):
            shares = [share for points in cases[what].values() for _, share in points]
            if not shares:
                sys.exit("%s has no line of the tests theory.plate_: give it what build/fem_tests printed." % path)
            print("%s: %s / theory from %.3g to %.3g" % (path, what, min(shares), max(shares)))
            name = path.rsplit("/", 1)[-1].rsplit(".", 1)[0]
            draw(picture, (2 * k + f) * HEIGHT, "%s: %s / theory" % (name, what), cases[what], MOST[what])
    picture.write(sys.argv[1])


if __name__ == "__main__":
    main()
