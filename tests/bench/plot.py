#!/usr/bin/env python3
"""Draws what `fem_bench --csv` wrote as Parker & O'Brien 2009 draw their glass explosion: the time of a step with one or
more numbers of threads (figure 6), its phases on each other (figure 7), and how much there is to do (figure 8).

    tests/bench/plot.py OUT.png ONE_THREAD.csv [TWO_THREADS.csv ...]

Figures 7 and 8 are of the last file. Files of the same run made several times may be given with commas between them: each
step then counts with its least time, which keeps other load on the machine out. Needs nothing but Python.
"""
import csv
import struct
import sys
import zlib

WIDTH, HEIGHT = 900, 300  # of one figure
LEFT, RIGHT, TOP, BOTTOM = 60, 170, 24, 34
COLORS = [(31, 119, 180), (255, 127, 14), (44, 160, 44), (214, 39, 40), (148, 103, 189), (140, 86, 75), (227, 119, 194),
          (127, 127, 127), (188, 189, 34), (23, 190, 207)]
SCALES = [1, 2, 5, 10]

# 3 x 5 dots a letter, row by row in octal.
FONT = dict(zip("0123456789abcdefghijklmnopqrstuvwxyz.,:()+-/ ", """
75557 26227 71747 71717 55711 74717 74757 71222 75757 75717 25755 65656 34443 65556 74647 74644 34553 55755 72227 11152
55655 44447 57755 65555 25552 65644 25563 65655 34216 72222 55557 55552 55775 55255 55222 71247 00002 00024 02020 12221
42224 02720 00700 11244 00000""".split()))


class Picture:
    def __init__(self, width, height):
        self.width, self.height = width, height
        self.rows = [bytearray(b"\xff" * (3 * width)) for _ in range(height)]

    def dot(self, x, y, color):
        if 0 <= x < self.width and 0 <= y < self.height:
            self.rows[y][3 * x:3 * x + 3] = bytes(color)

    def line(self, x0, y0, x1, y1, color):
        steps = max(abs(x1 - x0), abs(y1 - y0), 1)
        for k in range(steps + 1):
            self.dot(round(x0 + (x1 - x0) * k / steps), round(y0 + (y1 - y0) * k / steps), color)

    def text(self, x, y, words, color=(0, 0, 0), size=2):
        for letter in words.lower():
            for row, bits in enumerate(FONT.get(letter, FONT["-"])):
                for column in range(3):
                    if int(bits) >> (2 - column) & 1:
                        for k in range(size * size):
                            self.dot(x + size * column + k % size, y + size * row + k // size, color)
            x += 4 * size

    def write(self, path):
        def chunk(kind, data):
            return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

        head = struct.pack(">IIBBBBB", self.width, self.height, 8, 2, 0, 0, 0)
        data = zlib.compress(b"".join(b"\0" + bytes(row) for row in self.rows), 9)
        with open(path, "wb") as file:
            file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", data) + chunk(b"IEND", b""))


def tick_of(top):
    unit = 10.0 ** (len(str(int(top))) - 2) if top >= 1 else 0.1
    return next((unit * s for s in SCALES if top / (unit * s) <= 6), unit * 10)


def draw(picture, y0, title, series, stacked=False):
    """Each of `series` is a name and its values, one a step."""
    count = len(series[0][1])
    sums = [[0.0] * count]
    for _, values in series:
        sums.append([a + b for a, b in zip(sums[-1], values)] if stacked else list(values))
    ordered = sorted(v for values in sums[1:] for v in values)
    top = max(ordered[-1], 1e-9) * 1.05
    wide, high = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
    base = y0 + TOP + high

    def place(step, value):
        return LEFT + round(step * (wide - 1) / max(count - 1, 1)), base - round(value / top * high)

    tick = tick_of(top)
    value = 0.0
    while value <= top:
        y = place(0, value)[1]
        picture.line(LEFT, y, LEFT + wide, y, (225, 225, 225))
        picture.text(6, y - 5, "%g" % round(value, 3))
        value += tick
    for step in range(0, count, 30 * (1 + count // 500)):
        picture.text(place(step, 0)[0] - 8, base + 8, str(step))
    picture.text(LEFT + wide + 8, base + 8, "step")
    picture.text(LEFT, y0 + 6, title)
    for k, (name, _) in enumerate(series):
        color = COLORS[k % len(COLORS)]
        for step in range(count):
            x, y = place(step, sums[k + 1][step])
            if stacked:
                for column in range(x, place(min(step + 1, count - 1), 0)[0] + 1):
                    picture.line(column, place(step, sums[k][step])[1], column, y, color)
            elif step:
                picture.line(*place(step - 1, sums[k + 1][step - 1]), x, y, color)
        picture.text(LEFT + wide + 12, y0 + TOP + 18 * k, name.replace("_ms", "").replace("_", " "), color)
    picture.line(LEFT, y0 + TOP, LEFT, base, (0, 0, 0))
    picture.line(LEFT, base, LEFT + wide, base, (0, 0, 0))


def read(paths):
    """Columns of the files, with the least of each time."""
    tables = []
    for path in paths.split(","):
        with open(path, newline="") as file:
            rows = list(csv.DictReader(file))
        tables.append({name: [float(row[name]) for row in rows] for name in rows[0]})
    return {name: [min(values) for values in zip(*(table[name] for table in tables))] for name in tables[0]}


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    tables = [read(paths) for paths in sys.argv[2:]]
    last = tables[-1]
    phases = [name for name in last if name.endswith("_ms") and name != "step_ms"]
    others = [sum(last[name][s] for name in phases if name != "fracture_ms") for s in range(len(last["step"]))]
    shares = sorted(f / o for f, o in zip(last["fracture_ms"], others) if o > 0 and f > 0)
    if shares:
        print("fracture / all other phases of the same step: median %.3f, p95 %.3f, most %.3f" % (
            shares[len(shares) // 2], shares[int(0.95 * (len(shares) - 1))], shares[-1]))
    for k, table in enumerate(tables):
        times = sorted(table["step_ms"][10:])
        print("run %d: step %.3f ms median, %.3f p99, %.3f mean" % (
            k + 1, times[len(times) // 2], times[int(0.99 * (len(times) - 1))], sum(times) / len(times)))
    picture = Picture(WIDTH, 4 * HEIGHT)
    draw(picture, 0, "ms a step (figure 6)", [("run %d" % (k + 1), t["step_ms"]) for k, t in enumerate(tables)])
    draw(picture, HEIGHT, "phases, ms (figure 7)", [(name, last[name]) for name in phases], stacked=True)
    draw(picture, 2 * HEIGHT, "work (figure 8)",
         [(name, last[name]) for name in ("sleeping_tets", "live_tets", "live_nodes", "contacts")])
    draw(picture, 3 * HEIGHT, "pieces and splits", [(name, last[name]) for name in ("pieces", "splits", "faces", "tree_builds")])
    picture.write(sys.argv[1])


if __name__ == "__main__":
    main()
