#!/usr/bin/env python3
"""Writes every part of our texts that a user follows into a file of its own, as it is written.

    extract.py REPOSITORY FOLDER

Code blocks of README.md, the addon's README.md and GUIDE.md and the class reference become NAME.gdscript, NAME.glsl and NAME.sh; list
items under the headings that tell what to do become NAME.step; shell commands inside sentences become the lines of
commands.txt. NAME is the file, the heading or member, and a number, such as readme.five_minute_start_step_2.
"""
import html
import pathlib
import re
import sys
import textwrap

TEXTS = {"readme": "README.md", "addon": "addons/fem_destruction/README.md",
         "guide": "addons/fem_destruction/GUIDE.md"}
CLASS_REFERENCE = "gdextension/doc_classes"
# Headings whose list items are steps to follow or facts to rely on.
FOLLOWED = ("install_into_a_game", "five_minute_start", "from_your_mesh_to_a_destructible", "good_to_know",
            "continuous_integration", "what_a_game_must_show", "start")
COMMAND = re.compile(r"(\./|\.ci/|tests/[a-z_]+\.sh|build/fem_|demo_project/run\.sh|scons\b|godot )")


def slug(title):
    return re.sub(r"[^a-z0-9]+", "_", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", title).lower()).strip("_")


class Writer:
    def __init__(self, folder):
        self.folder = folder
        self.counts = {}
        self.commands = []

    def write(self, place, kind, text):
        """The first gdscript block below a heading is NAME_1, the first step NAME_step_1."""
        stem = place + ("_step" if kind == "step" else "_" + kind if kind == "sh" else "")
        self.counts[stem] = self.counts.get(stem, 0) + 1
        (self.folder / f"{stem}_{self.counts[stem]}.{kind}").write_text(text)

    def note_commands(self, line):
        for span in re.findall(r"`([^`]+)`", line):
            if COMMAND.match(span) and span not in self.commands:
                self.commands.append(span)


def read_markdown(prefix, text, writer):
    heading, block, language, indent = "", None, "", ""
    for number, line in enumerate(text.splitlines(), 1):
        if block is not None:
            if line.strip() == "```":
                writer.write(f"{prefix}.{heading}", language, "\n".join(block) + "\n")
                block = None
            else:
                block.append(line.removeprefix(indent))
        elif line.lstrip().startswith("```"):
            language, block, indent = line.strip().strip("`"), [], line[:len(line) - len(line.lstrip())]
            if language not in ("gdscript", "glsl", "sh"):
                sys.exit(f"extract.py: {prefix}, line {number}: a block of \"{language}\" has no kind of check")
        elif line.startswith("#"):
            heading = slug(line)
        else:
            writer.note_commands(line)
            if heading in FOLLOWED and re.match(r"(\d+\.|-) ", line):
                writer.write(f"{prefix}.{heading}", "step", line.partition(" ")[2] + "\n")
    if block is not None:
        sys.exit(f"extract.py: {prefix}: the last code block has no end")


def read_class(path, writer):
    member = ""
    name = slug(path.stem)
    for match in re.finditer(r'<(?:method|member|signal|constant) name="(\w+)"|\[codeblocks?[^\]]*\]\n(.*?)\[/codeblock',
                             path.read_text(), re.DOTALL):
        if match[1]:
            member = "_" + match[1]
        else:
            code = re.sub(r"[ \t]+\Z", "", match[2])
            writer.write(f"class_reference.{name}{member}", "gdscript", textwrap.dedent(html.unescape(code)))


def main():
    repository, folder = map(pathlib.Path, sys.argv[1:])
    folder.mkdir(parents=True, exist_ok=True)
    writer = Writer(folder)
    for prefix, path in TEXTS.items():
        read_markdown(prefix, (repository / path).read_text(), writer)
    for path in sorted((repository / CLASS_REFERENCE).glob("*.xml")):
        read_class(path, writer)
    (folder / "commands.txt").write_text("".join(command + "\n" for command in writer.commands))


if __name__ == "__main__":
    main()
