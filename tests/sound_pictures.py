#!/usr/bin/env python3
"""Strikes things with fem_bake and draws what is heard: waveform above, spectrum below, one row a thing.

  tests/sound_pictures.py          writes build/test_renders/sounds.png and sound_*.wav beside it

Checks that no sound is silent, cut off, has a mean or a click, and that the loudest pitch is one of the modes that
fem_bake lists. Prints "ok NAME" or "FAIL NAME: CAUSE". The rows, from the top: chime, plate, glass, plank, sheet, stone.
"""
import array
import cmath
import math
import pathlib
import struct
import subprocess
import sys
import wave
import zlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUT = ROOT / "build" / "test_renders"
RATE = 48000
FFT = 1 << 15
WIDTH, WAVE_HEIGHT, SPECTRUM_HEIGHT = 900, 80, 120


def box(x, y, z):
    corners = [(0, 0, 0), (x, 0, 0), (x, y, 0), (0, y, 0), (0, 0, z), (x, 0, z), (x, y, z), (0, y, z)]
    faces = [(1, 4, 3, 2), (5, 6, 7, 8), (1, 2, 6, 5), (3, 4, 8, 7), (2, 3, 7, 6), (1, 5, 8, 4)]
    return corners, faces


def tube(length, outer, inner, around=24):
    corners = [(r * math.cos(math.tau * i / around), r * math.sin(math.tau * i / around), z)
               for z in (0, length) for r in (outer, inner) for i in range(around)]
    n, faces = around, []
    for i in range(n):
        j = (i + 1) % n
        quads = [(i, j, 2 * n + j, 2 * n + i), (n + j, n + i, 3 * n + i, 3 * n + j), (j, i, n + i, n + j),
                 (2 * n + i, 2 * n + j, 3 * n + j, 3 * n + i)]
        faces += [tuple(k + 1 for k in quad) for quad in quads]
    return corners, faces


# name, shape, E, nu, rho, a1, a2, where it is struck, striker s
THINGS = [
    ("chime", tube(0.505, 0.0125, 0.0115), 6.8e10, 0.33, 2700, 1e-7, 0.5, (0.0125, 0, 0.25), 5e-5),
    ("plate", box(0.4, 0.004, 0.4), 6.8e10, 0.33, 2700, 1e-7, 1, (0, 0.004, 0), 5e-5),
    ("glass", box(0.6, 0.005, 0.4), 7e10, 0.22, 2500, 8e-8, 3, (0.15, 0.005, 0.1), 4e-5),
    ("plank", box(1.2, 0.03, 0.15), 1.1e10, 0.3, 720, 2e-6, 20, (0.1, 0.03, 0), 2e-4),
    ("sheet", box(1.0, 0.001, 0.6), 2e11, 0.3, 7800, 3e-8, 1.5, (0.2, 0.001, 0.2), 3e-5),
    ("stone", box(0.4, 0.2, 0.2), 5e10, 0.25, 2700, 6e-7, 12, (0.4, 0.2, 0.2), 5e-5),
]


def strike(thing, elements=None):
    name, (corners, faces), young, poisson, density, a1, a2, place, striker = thing
    elements = elements or (6000 if name == "chime" else 3000)
    shape = OUT / f"{name}.obj"
    shape.write_text("".join("v %.9g %.9g %.9g\n" % c for c in corners) +
                     "".join("f " + " ".join(map(str, f)) + "\n" for f in faces))
    wav = OUT / f"sound_{name}.wav"
    said = subprocess.run(
        [ROOT / "build/fem_bake", shape, OUT / f"{name}.femmesh", "--elements", str(elements), "--modes", "60", "--quiet",
         "--young", str(young), "--poisson", str(poisson), "--density", str(density), "--damping", f"{a1},{a2}",
         "--strike", ",".join(map(str, place)), "--striker", str(striker), "--wav", wav, "--seconds", "2"],
        check=True, capture_output=True, text=True).stdout
    shape.unlink()
    (OUT / f"{name}.femmesh").unlink()
    modes = [float(line.split()[2]) for line in said.splitlines() if line.startswith("mode ")]
    with wave.open(str(wav)) as file:
        samples = array.array("h", file.readframes(file.getnframes()))
    return [hertz for hertz in modes if hertz > 0], [s / 32768 for s in samples]


def spectrum(samples):
    """Power by bin of the first FFT samples under Hann's window."""
    values = [complex(s * (0.5 - 0.5 * math.cos(math.tau * n / FFT))) for n, s in enumerate(samples[:FFT])]
    bits = FFT.bit_length() - 1
    values = [values[int(format(n, f"0{bits}b")[::-1], 2)] for n in range(FFT)]
    size = 2
    while size <= FFT:
        turns = [cmath.exp(-1j * math.tau * k / size) for k in range(size // 2)]
        for start in range(0, FFT, size):
            for k, turn in enumerate(turns):
                a, b = values[start + k], turn * values[start + k + size // 2]
                values[start + k], values[start + k + size // 2] = a + b, a - b
        size *= 2
    return [abs(v) ** 2 for v in values[: FFT // 2]]


def say(name, faults):
    suite = pathlib.Path(sys.argv[0]).stem
    print(f"FAIL {suite}.{name}: {', '.join(faults)}" if faults else f"ok {suite}.{name}")
    return not faults


def judge(name, modes, samples, power):
    peak, mean = max(map(abs, samples)), sum(samples) / len(samples)
    loudest = max(range(1, len(power)), key=power.__getitem__) * RATE / FFT
    nearest = min(modes, key=lambda hertz: abs(hertz - loudest))
    # A sound of pitches up to f and peak p has no steps above 2 pi f p / rate; a click has them anywhere.
    late = samples[RATE // 10:]
    step = max(abs(a - b) for a, b in zip(late, late[1:]))
    faults = []
    if not 0.85 < peak < 0.95:
        faults.append(f"its peak is {peak:.3f}")
    if abs(mean) > 2e-3:
        faults.append(f"its mean is {mean:.5f}")
    if abs(nearest - loudest) > 2 * RATE / FFT + 0.005 * loudest:
        faults.append(f"its loudest pitch, {loudest:.1f} Hz, is none of its modes")
    if step > max(map(abs, late)) * min(2.0, math.tau * 20000 / RATE):
        faults.append(f"it steps by {step:.3f}")
    print(f"{name}: loudest {loudest:.1f} Hz, lowest mode {modes[0]:.1f} Hz, peak {peak:.2f}, mean {mean:.5f}")
    return say(name, faults)


def write_png(picture, width, height, pixels):
    lines = b"".join(b"\0" + bytes(pixels[3 * width * y: 3 * width * (y + 1)]) for y in range(height))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    (OUT / picture).write_bytes(
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b""))


def draw(rows, picture):
    height = len(rows) * (WAVE_HEIGHT + SPECTRUM_HEIGHT)
    pixels = bytearray(b"\x16\x18\x1d" * (WIDTH * height))

    def put(x, y, color):
        if 0 <= x < WIDTH and 0 <= y < height:
            pixels[3 * (y * WIDTH + x): 3 * (y * WIDTH + x) + 3] = bytes(color)

    for row, (modes, samples, power) in enumerate(rows):
        top = row * (WAVE_HEIGHT + SPECTRUM_HEIGHT)
        shown = samples[: RATE // 2]
        for x in range(WIDTH):
            part = shown[x * len(shown) // WIDTH: (x + 1) * len(shown) // WIDTH + 1]
            for y in range(int((1 - max(part)) / 2 * WAVE_HEIGHT), int((1 - min(part)) / 2 * WAVE_HEIGHT) + 1):
                put(x, top + y, (110, 190, 255))
        base, most = top + WAVE_HEIGHT, max(power)

        def place(hertz):
            return int(math.log(hertz / 20) / math.log(1000) * WIDTH)

        for hertz in (100, 1000, 10000):
            for y in range(SPECTRUM_HEIGHT):
                put(place(hertz), base + y, (70, 74, 84))
        for hertz in modes:
            for y in range(6):
                put(place(hertz), base + SPECTRUM_HEIGHT - 1 - y, (255, 120, 90))
        columns = {}
        for n in range(1, len(power)):
            hertz = n * RATE / FFT
            if hertz >= 20:
                columns[place(hertz)] = max(columns.get(place(hertz), 0.0), power[n])
        value = 0.0
        for x in range(WIDTH):
            value = columns.get(x, value)  # low bins are wider than a pixel
            level = max(0.0, 1.0 + 10 * math.log10(max(value / most, 1e-12)) / 90)
            for y in range(int((1 - level) * (SPECTRUM_HEIGHT - 12)) + 4, SPECTRUM_HEIGHT - 6):
                put(x, base + y, (250, 210, 110))
    write_png(picture, WIDTH, height, pixels)


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    rows, failed = [], 0
    for thing in THINGS:
        modes, samples = strike(thing)
        power = spectrum(samples)
        failed += not judge(thing[0], modes, samples, power)
        rows.append((modes, samples, power))
    draw(rows, "sounds.png")
    print(f"sounds: {len(THINGS) - failed} passed, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
