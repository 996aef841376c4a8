#!/usr/bin/env python3
"""What the texts for developers say must be there, and what comments refer to must be in the repository.

    tests/check_docs.py RULE [FOLDER]      (default: the repository this script is in)

Prints one line for each offence against the rule and nothing when it holds; tests/check_layers.sh runs all of them.
"""
import fnmatch
import os
import re
import subprocess
import sys

TEXTS = ["ARCHITECTURE.md", "docs/*.md"]
CODE = (".c", ".h", ".inl", ".cpp", ".py", ".sh", ".gd", ".gdshader", ".gdshaderinc")
ELSEWHERE = {"metis.h", "license_data.c", "pthread.h"}  # of other projects, or made by the build
COLUMNS = 120  # of a line in the editor: a longer one counts as several
PARAGRAPH_LINES = 6

# Words of documents that were never part of the repository.
FOREIGN = re.compile(r"\b[Ss]pec [A-D]\d|\bdesign \d|\bperformance notes\b|\bvalidation table\b")


def list_files():
    try:
        listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], capture_output=True, check=True, text=True).stdout.split("\n")
        return [name for name in listed if name and os.path.isfile(name)]
    except (OSError, subprocess.CalledProcessError):
        found = []
        for folder, folders, names in os.walk("."):
            folders[:] = [f for f in folders if f not in ("build", ".git", ".godot", "bin")]
            found += [os.path.relpath(os.path.join(folder, name)) for name in names]
        return found


def read(name):
    with open(name, encoding="utf-8", errors="replace") as file:
        return file.read()


def comments(name):
    """Pairs of line and text: each run of comment lines is one text, since sentences are wrapped."""
    mark = "//" if name.endswith((".c", ".h", ".inl", ".cpp", ".gdshader", ".gdshaderinc")) else "#"
    begun, words = 0, []
    for number, line in enumerate(read(name).split("\n") + [""], 1):
        at = line.find(mark)
        if at >= 0:
            begun = begun or number
            words.append(line[at + len(mark):].strip(" /#"))
        if words and (at < 0 or line[:at].strip()):  # code before the mark: the next line is another comment
            yield begun, " ".join(words)
            begun, words = 0, []


def code_files(files):
    return [f for f in files if (f.endswith(CODE) or f == "SConstruct") and not f.startswith("tests/fuzz/corpus")]


def texts_of(files):
    return [f for f in files if any(fnmatch.fnmatch(f, t) for t in TEXTS)]


def documents(files):
    """Comments name no text that is not in the repository."""
    names = {os.path.basename(f) for f in files}
    for name in code_files(files):
        if name == "tests/check_docs.py":
            continue
        for number, comment in comments(name):
            for path in re.findall(r"[\w./-]*\w\.md\b", comment):
                if not (path in files if "/" in path.lstrip("./") else path in names):
                    yield f"{name}:{number}: {path}"
            for words in FOREIGN.findall(comment):
                yield f"{name}:{number}: {words}"


def headings(name):
    fenced = False
    for line in read(name).split("\n"):
        fenced ^= line.startswith("```")
        if not fenced and line.startswith("#"):
            yield line.lstrip("#").strip()


def sections(files):
    """A section that a comment or a text cites is there: comments write docs/method.md, "Name", texts [words](#name)."""
    known = {f: set(headings(f)) for f in files if f.endswith(".md")}
    for name in code_files(files):
        for number, comment in comments(name):
            for path, title in re.findall(r'([\w./-]+\.md), "([^"]+)"', comment):
                if path in known and title not in known[path]:
                    yield f'{name}:{number}: {path} has no section "{title}"'
    for name in texts_of(files):
        anchors = {re.sub(r"[^\w -]", "", h.lower()).replace(" ", "-") for h in known[name]}
        for anchor in re.findall(r"\]\(#([^)]+)\)", read(name)):
            if anchor not in anchors:
                yield f"{name}: no section #{anchor}"


def paragraphs(files):
    """No paragraph or entry of a list is longer than six lines of 120 columns. Tables and blocks of code do not count."""
    for name in texts_of(files):
        fenced, lines, begun = False, 0, 0
        for number, line in enumerate(read(name).split("\n") + [""], 1):
            fenced ^= line.startswith("```")
            plain = line.strip() and not fenced and not line.startswith(("|", "#", "```", "    "))
            if not plain or re.match(r"\s*([-*]|\d+\.) ", line):
                if lines > PARAGRAPH_LINES:
                    yield f"{name}:{begun}: {lines} lines"
                lines, begun = 0, number
            if plain:
                begun = begun if lines else number
                lines += -(-len(line) // COLUMNS)


def is_there(path, files):
    path = path.rstrip("/")
    folders = {os.path.dirname(f) for f in files}
    folders |= {parent for f in folders for parent in (f[:i] for i, c in enumerate(f) if c == "/")}
    return any(fnmatch.fnmatch(f, path) or fnmatch.fnmatch(f, "*/" + path) for f in list(folders) + files)


def paths(files):
    """Files, folders and tests that the texts name in backticks are there. What a build makes is not looked for."""
    tests = {".".join(t) for f in files if fnmatch.fnmatch(f, "tests/test_*.c") for t in re.findall(r"^FEM_TEST\((\w+),\s*(\w+)", read(f), re.M)}
    suites = {t.split(".")[0] for t in tests}
    for name in texts_of(files):
        for word in re.findall(r"`([^`\n]+)`", read(name)):
            suite = word.split(".")[0]
            if re.fullmatch(r"\w+\.\w*", word) and suite in suites and not word.endswith((".c", ".h")):
                if not any(t.startswith(word) for t in tests):
                    yield f"{name}: no test {word}"
            elif re.fullmatch(r"[\w.*{},/-]*(/|\.(c|h|inl|cpp|py|sh|md|gd|txt|cfg|tres|tscn|gdshaderinc))", word) or re.fullmatch(r"[\w.*-]+/[\w.*/-]+", word):
                if word not in ELSEWHERE and not word.startswith("build/") and not is_there(word, files):
                    yield f"{name}: {word}"


RULES = {"documents": documents, "sections": sections, "paragraphs": paragraphs, "paths": paths}


def main():
    if len(sys.argv) < 2 or sys.argv[1] not in RULES:
        sys.exit(f"usage: tests/check_docs.py {'|'.join(RULES)} [FOLDER]")
    os.chdir(sys.argv[2] if len(sys.argv) > 2 else os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    for offence in RULES[sys.argv[1]](list_files()):
        print(offence)


main()
