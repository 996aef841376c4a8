#!/usr/bin/env python3
"""Checks by text search that a user of Godot reaches every setting of the engine, and that each is written down and tested.

    tests/check_settings.py [FOLDER]      (default: the repository this script is in)

Every member of a def that callers fill (FemWorldDef and so on) must be set somewhere under gdextension/, or stand in
ELSEWHERE with the reason why not. Every project setting must be in the addon's README and in a test under tests/godot/.
(That every property is in the class reference and has a default that is tested is the business of Godot's own suites.)
Prints "FAIL ..." for each fault and "settings: N passed, M failed" at the end.
"""
import pathlib
import re
import sys

DEFS = ("FemWorldDef", "FemMaterialDef", "FemMeshDef", "FemBodyDef", "FemColliderDef", "FemShapeDef", "FemSplintersDef", "FemJoinedDef",
        "FemBakeDef", "FemCutDef", "FemViewDef")

# Members that no setting of Godot leads to.
ELSEWHERE = {
    "cookie": "set by fem_default_*_def()",
    "FemWorldDef.jobs": "threads of a host program; in Godot the world has its own, see worker_count",
    "FemBodyDef.tet_toughness": "DestructibleBody.apply_damage() weakens places",
    "FemJoinedDef.tet_pieces": "pieces follow the splinters, which may be the artist's own",
    "FemBakeDef.progress": "jobs have a share of their own, which signals tell",
    "FemBakeDef.progress_context": "as progress",
    "FemCutDef.progress": "as FemBakeDef.progress",
    "FemCutDef.progress_context": "as progress",
}

PROJECT_SETTINGS = "gdextension/simulation/project_settings.c"


def members(headers, name):
    """Names of the members of a struct."""
    body = re.search(r"typedef struct %s \{(.*?)\n\} %s;" % (name, name), headers, re.S)
    if not body:
        return []
    text = re.sub(r"//.*", "", body.group(1))
    found = []
    for declaration in text.split(";"):
        for part in re.sub(r"\[.*?\]", "", declaration).split(","):
            match = re.search(r"(\w+)\s*$", part)
            if match:
                found.append(match.group(1))
    return found


def is_set(source, member):
    """Whether a member of this name is given a value."""
    word = re.escape(member)
    return re.search("|".join((
        r"(\.|->)%s\b(\[[^]]*\])?(\.\w+)?\s*=[^=]" % word,  # assigned
        r"&[\w.>()-]+(\.|->)%s\b" % word,  # written through its address
        r"^(WHOLE|NUMBER)\(\w+, %s\b" % word,  # in a table of accessors
        r"WORLD_SETTING\(%s," % word,
    )), source, re.M)


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent)
    headers = "".join(path.read_text() for path in sorted((root / "src").glob("fem_*.h")))
    source = "".join(path.read_text() for path in sorted((root / "gdextension").rglob("*.[ch]")))
    source = re.sub(r"//.*", "", source)
    readme = (root / "addons/fem_destruction/README.md").read_text()
    tests = "".join(path.read_text() for path in sorted((root / "tests/godot/cases").glob("*.gd")))
    faults, passed = [], 0
    for name in DEFS:
        found = members(headers, name)
        if not found:
            faults.append("there is no struct %s in the public headers" % name)
        for member in found:
            if member in ELSEWHERE or "%s.%s" % (name, member) in ELSEWHERE or is_set(source, member):
                passed += 1
            else:
                faults.append("%s.%s is set nowhere in gdextension/: give it a setting, or take it out" % (name, member))
    text = (root / PROJECT_SETTINGS).read_text()
    settings = re.findall(r'"physics/fem_destruction/(\w+)"', text) + re.findall(r"WORLD_SETTING\((\w+), [A-Z]", text)
    for setting in settings:
        for where, words, quoted in (("the addon's README", readme, "`%s`"), ("a test in tests/godot/cases", tests, '"%s"')):
            if quoted % setting in words:
                passed += 1
            else:
                faults.append("the project setting %s is not in %s" % (setting, where))
    if len(settings) < 20:
        faults.append("only %d project settings were found in %s" % (len(settings), PROJECT_SETTINGS))
    for fault in faults:
        print("FAIL " + fault)
    print("settings: %d passed, %d failed" % (passed, len(faults)))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
