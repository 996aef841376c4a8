#!/usr/bin/env python3
"""Drops and strikes baked meshes, of mesh_set.py's folder or made by code, and prints what came of it.

  mesh_drops.py [--folder FOLDER] [--only NAME] [--elements N] [--materials A,B] [--sizes M,M] [--quick] [--check]

Each is as large as its size along its longest side, falls from as high, and lies for two seconds; then a ball of a tenth
of its mass strikes it at 10 m/s. Eight seconds later all must be asleep or slower than 0.05 m/s; no piece may ever have
been faster than twice the fastest thing before the blow, and each must be drawn by a splinter or known to be bare, by
triangles that follow one piece, of which a host was told. The
columns: pieces, how many of them splinters draw, how many are bare, share of the splinters' vertices that end below the floor, speeds (m/s) before the blow, after it
and at the end, and ms of a tick in the two seconds after the blow. With --check the last line is "N passed, M failed".
"""
import argparse
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile

import mesh_set

PATTERNS = {"oak": "wood", "pine": "wood", "plywood": "wood", "pane_glass": "glass", "tempered_glass": "glass"}


def bake(options, path, pattern, elements):
    """A baked file, or why there is none."""
    out = tempfile.NamedTemporaryFile(suffix=".femmesh", delete=False)
    out.close()
    try:
        done = subprocess.run([options.bake, path, out.name, "--elements", str(elements), "--pattern", pattern, "--quiet"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=600)
        if done.returncode == 0:
            return out.name, ""
        error = done.stderr.decode().strip()[-100:]
    except subprocess.TimeoutExpired:
        error = "more than 600 s"
    os.remove(out.name)
    return None, error


def drop(options, root, baked, material, size):
    environment = dict(os.environ, FEM_DROP_FILE=baked, FEM_DROP_MATERIAL=material, FEM_DROP_SIZE=str(size))
    done = subprocess.run([options.tests, "mesh_drops.of_a_file"], cwd=root, env=environment, stdout=subprocess.PIPE,
                          timeout=1200)
    for line in done.stdout.decode().splitlines():
        if line.startswith("DROP "):
            return json.loads(line[5:].replace("nan", "NaN"))
    return {"error": "no result: %s" % done.stdout.decode()[-100:]}


def judge(row):
    if "error" in row:
        return row["error"]
    wrong = []
    if not row["valid"]:
        wrong.append("not valid")
    if not row["after"] <= 2.0 * row["before"]:
        wrong.append("fast")
    if not row["end"] < 0.05:
        wrong.append("not at rest")
    if row["drawn"] + row["bare"] != row["pieces"]:
        wrong.append("not drawn")
    if row["torn"] or row["untold"]:
        wrong.append("torn")
    return ", ".join(wrong)


def rows_of(options, root, path):
    name = os.path.splitext(os.path.basename(path))[0]
    for material in options.materials.split(","):
        baked, error = bake(options, path, PATTERNS.get(material, "voronoi"), options.elements)
        for size in options.sizes.split(","):
            row = drop(options, root, baked, material, size) if baked else {"error": error}
            yield dict(row, name=name, material=material, size=size)
        if baked:
            os.remove(baked)


def print_row(row):
    head = "%-26s %-9s %5s m" % (row["name"][:26], row["material"], row["size"])
    if "error" in row:
        print(head, row["error"])
    else:
        print("%s  pieces %4d  drawn %4d  bare %3d  low %5.2f %%  before %6.2f  after %6.2f  end %5.3f  tick %6.2f ms  %s" % (
            head, row["pieces"], row["drawn"], row["bare"], 100.0 * row["low"] / max(row["vertices"], 1), row["before"], row["after"],
            row["end"], row["tick_ms"], judge(row) or "ok"))
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    parser.add_argument("--folder", default=os.path.join(root, "build", "mesh_set"))
    parser.add_argument("--bake", default=os.path.join(root, "build", "fem_bake"))
    parser.add_argument("--tests", default=os.path.join(root, "build", "fem_tests"))
    parser.add_argument("--elements", type=int, default=300)
    parser.add_argument("--materials", default="ceramic,oak,concrete")
    parser.add_argument("--sizes", default="0.1,1,10")
    parser.add_argument("--only", default="")
    parser.add_argument("--quick", action="store_true", help="shapes made by code alone")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    os.makedirs(options.folder, exist_ok=True)
    paths = mesh_set.made_meshes(options.folder) + ([] if options.quick else mesh_set.fetched_meshes(options.folder))
    paths = [path for path in paths if options.only in os.path.basename(path)]
    count = wrong = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for rows in pool.map(lambda path: list(rows_of(options, root, path)), paths):
            for row in rows:
                print_row(row)
                count += 1
                wrong += bool(judge(row))
    print("%d passed, %d failed" % (count - wrong, wrong))
    return 1 if options.check and wrong else 0


if __name__ == "__main__":
    sys.exit(main())
