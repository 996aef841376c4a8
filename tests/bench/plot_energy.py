#!/usr/bin/env python3
"""Draws the energy of all bodies over time from what `fem_bench --csv` wrote: one figure a file, kinetic, elastic and
potential energy and their sum, potential energy counted from its least value.

    tests/bench/plot_energy.py OUT.png RUN.csv [OTHER_RUN.csv ...]

Says for each file by how much of the start's energy the sum ever rose. Needs nothing but Python.
"""
import sys

from plot import HEIGHT, WIDTH, Picture, draw, read


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    picture = Picture(WIDTH, (len(sys.argv) - 2) * HEIGHT)
    for k, path in enumerate(sys.argv[2:]):
        table = read(path)
        least = min(table["potential_j"])
        potential = [value - least for value in table["potential_j"]]
        total = [sum(parts) for parts in zip(table["kinetic_j"], table["elastic_j"], potential)]
        print("%s: %.6g J at the start, at most %.4f and in the end %.4f of it" % (
            path, total[0], max(total) / total[0], total[-1] / total[0]))
        name = path.rsplit("/", 1)[-1].rsplit(".", 1)[0]
        draw(picture, k * HEIGHT, name + ": energy, J", [("sum", total), ("kinetic", table["kinetic_j"]),
                                                        ("elastic", table["elastic_j"]), ("potential", potential)])
    picture.write(sys.argv[1])


if __name__ == "__main__":
    main()
