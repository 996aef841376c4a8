#!/usr/bin/env python3
"""Draws tick times of the bench level (tests/bench/level.sh --csv FILE) as an SVG, on a logarithmic scale.

    tests/bench/level_plot.py OUT.svg NAME=FILE[:COLUMN] ...      (COLUMN: ours_ms, the default, or jolt_ms)
"""
import csv
import math
import sys

WIDTH, HEIGHT, LEFT, BOTTOM = 900, 360, 60, 40  # px
LOW, HIGH = 0.5, 3000.0  # ms
COLOURS = ("#d62728", "#1f77b4", "#7f7f7f", "#2ca02c")


def read(path, column):
    """Times of one column, in ms."""
    with open(path, newline="", encoding="utf-8") as file:
        return [float(row[column]) for row in csv.DictReader(file) if row[column]]


def height_of(ms):
    """px from the top."""
    share = math.log(max(ms, LOW) / LOW) / math.log(HIGH / LOW)
    return (HEIGHT - BOTTOM) * (1.0 - min(share, 1.0)) + 10


def draw(curves):
    """The whole picture as text."""
    longest = max(len(times) for _, times in curves)
    out = ['<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="12">' % (WIDTH, HEIGHT + 20),
           '<rect width="100%" height="100%" fill="white"/>']
    for ms in (1, 4, 16, 100, 1000):
        y = height_of(ms)
        out.append('<line x1="%d" x2="%d" y1="%.1f" y2="%.1f" stroke="#ddd"/>' % (LEFT, WIDTH, y, y))
        out.append('<text x="%d" y="%.1f" text-anchor="end">%d ms</text>' % (LEFT - 6, y + 4, ms))
    for i, (name, times) in enumerate(curves):
        points = " ".join("%.1f,%.1f" % (LEFT + (WIDTH - LEFT) * k / longest, height_of(ms)) for k, ms in enumerate(times))
        colour = COLOURS[i % len(COLOURS)]
        out.append('<polyline fill="none" stroke="%s" stroke-width="1.2" points="%s"/>' % (colour, points))
        out.append('<text x="%d" y="%d" fill="%s">%s</text>' % (LEFT + 10 + 260 * i, HEIGHT + 8, colour, name))
    out.append("</svg>")
    return "\n".join(out)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    curves = []
    for argument in sys.argv[2:]:
        name, _, rest = argument.partition("=")
        path, _, column = rest.partition(":")
        curves.append((name, read(path, column or "ours_ms")))
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write(draw(curves))


if __name__ == "__main__":
    main()
