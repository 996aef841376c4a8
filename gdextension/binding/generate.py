#!/usr/bin/env python3
"""Writes the C code that calls Godot, from the API that Godot dumps and a list of the calls in use.

Output: godot_calls.h/.c (value types, typed wrappers, the loader that resolves them) and doc_data.h/.c (the class
reference as C arrays). See engine_calls.txt for the list's format. A name that the API does not have stops the build.
"""
import argparse
import json
import pathlib
import re
import sys

LAYOUT = "float_64"  # single precision reals, 64-bit pointers: the layout of every official desktop build
MEMBER_TYPES = {"float": "float", "double": "double", "int32": "int32_t"}
SCALARS = {"int": "int64_t", "float": "double", "bool": "bool"}


def fail(message):
    sys.exit(f"generate.py: {message}")


def snake(name):
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z][a-z])", "_", name)
    return re.sub(r"(?<=[a-z])(?=[A-Z]{2,})", "_", name).lower()


class Generator:
    def __init__(self, api):
        self.classes = {c["name"]: c for c in api["classes"]}
        self.builtins = {c["name"]: c for c in api["builtin_classes"]}
        self.singletons = {s["name"] for s in api["singletons"]}
        self.globals = {v["name"]: v["value"] for e in api["global_enums"] for v in e["values"]}
        self.sizes = self.layout(api["builtin_class_sizes"])["sizes"]
        self.members = {c["name"]: c["members"] for c in self.layout(api["builtin_class_member_offsets"])["classes"]}
        self.head, self.binds, self.builtin_methods, self.constructors, self.destructors = [], [], [], [], []
        self.used_singletons = []

    @staticmethod
    def layout(entries):
        return next(e for e in entries if e["build_configuration"] == LAYOUT)

    def c_type(self, name):
        if name in SCALARS:
            return SCALARS[name]
        if name.startswith(("enum::", "bitfield::")):
            return "int64_t"
        if name.startswith("typedarray::"):
            return "GdArray"
        if name == "Variant" or name in self.builtins:
            return "Gd" + name
        if name in self.classes:
            return "GDExtensionObjectPtr"
        fail(f"the type {name} cannot be handed to C")

    def is_opaque(self, c_type):
        return c_type.startswith("Gd") and c_type[2:] not in self.members and c_type != "GdRID"

    def parameters(self, arguments):
        """Small values go by value, what owns memory by const pointer. Answers (parameter list, array of pointers)."""
        types = [(self.c_type(a["type"]), "p_" + a["name"]) for a in arguments]
        texts = [f"const {t} *{n}" if self.is_opaque(t) else f"{t} {n}" for t, n in types]
        pointers = [n if self.is_opaque(t) else "&" + n for t, n in types]
        return texts, pointers

    def function(self, result, name, parameters, body):
        self.head.append(f"static inline {result} {name}({', '.join(parameters) or 'void'}) {{")
        self.head += ["\t" + line for line in body] + ["}", ""]

    def call_body(self, result, pointers, call):
        body = [f"GDExtensionConstTypePtr arguments[] = {{ {', '.join(pointers)} }};"] if pointers else []
        if result != "void":
            zero = "{ 0 }" if result.startswith("Gd") else "NULL" if "Ptr" in result else "0"
            body.append(f"{result} result = {zero};")
        body.append(call.format(args="arguments" if pointers else "NULL", ret="&result" if result != "void" else "NULL"))
        return body + (["return result;"] if result != "void" else [])

    def types(self):
        for entry in self.sizes:
            name, size = entry["name"], entry["size"]
            if name in SCALARS or name in ("Nil", "Object"):
                continue
            if name in self.members:
                fields = [f"{MEMBER_TYPES.get(m['meta'], 'Gd' + m['meta'])} {m['member']};" for m in self.members[name]]
            else:
                fields = [f"uint64_t opaque[{size // 8}];"]
            self.head.append(f"typedef struct Gd{name} {{ {' '.join(fields)} }} Gd{name};")
            self.head.append(f'_Static_assert(sizeof(Gd{name}) == {size}, "layout of {name}");')
        self.head.append("")

    def method(self, target):
        class_name, method_name = target.split(".")
        found = [m for m in self.classes.get(class_name, {}).get("methods", []) if m["name"] == method_name]
        if not found or found[0]["is_virtual"]:
            fail(f"Godot has no method {target}")
        method, index = found[0], len(self.binds)
        self.binds.append(f'{{ "{class_name}", "{method_name}", {method["hash"]} }},')
        parameters, pointers = self.parameters(method.get("arguments", []))
        instance = "self"
        if class_name in self.singletons:
            instance = self.singleton(class_name)
        elif method["is_static"]:
            instance = "NULL"
        name = f"gd_{snake(class_name)}_{method_name}"
        first = ["GDExtensionObjectPtr self"] if instance == "self" else []
        if method["is_vararg"]:
            self.function("GdVariant", name, first + ["const GDExtensionConstVariantPtr *p_args", "int64_t p_count"], [
                "GdVariant result = { 0 };",
                "GDExtensionCallError error = { GDEXTENSION_CALL_OK, 0, 0 };",
                f"godot.object_method_bind_call(godot_binds[{index}], {instance}, p_args, p_count, &result, &error);",
                "return result;"])
            return
        result = self.c_type(method["return_value"]["type"]) if "return_value" in method else "void"
        call = f"godot.object_method_bind_ptrcall(godot_binds[{index}], {instance}, {{args}}, {{ret}});"
        self.function(result, name, first + parameters, self.call_body(result, pointers, call))

    def singleton(self, name):
        if name not in self.used_singletons:
            self.used_singletons.append(name)
        return f"godot_singleton({self.used_singletons.index(name)})"

    def variant_type(self, name):
        return "GDEXTENSION_VARIANT_TYPE_" + snake(name).upper()

    def builtin(self, target):
        type_name, method_name = target.split(".")
        found = [m for m in self.builtins[type_name].get("methods", []) if m["name"] == method_name]
        if not found or found[0]["is_vararg"] or found[0]["is_static"]:
            fail(f"Godot has no plain method {target}")
        parameters, pointers = self.parameters(found[0].get("arguments", []))
        result = self.c_type(found[0]["return_type"]) if "return_type" in found[0] else "void"
        call = (f"godot_builtin_methods[{len(self.builtin_methods)}](self, {{args}}, {{ret}}, {len(pointers)});")
        self.builtin_methods.append(f'{{ {self.variant_type(type_name)}, "{method_name}", {found[0]["hash"]} }},')
        self.function(result, f"gd_{snake(type_name)}_{method_name}", [f"Gd{type_name} *self"] + parameters,
                      self.call_body(result, pointers, call))

    def constructor(self, target):
        type_name, wanted = re.fullmatch(r"(\w+)\((.*)\)", target).groups()
        wanted = [w.strip() for w in wanted.split(",") if w.strip()]
        for entry in self.builtins[type_name]["constructors"]:
            arguments = entry.get("arguments", [])
            if [a["type"] for a in arguments] == wanted:
                break
        else:
            fail(f"Godot has no constructor {target}")
        parameters, pointers = self.parameters(arguments)
        name = "_".join([f"gd_{snake(type_name)}_new"] + [snake(w) for w in wanted])
        call = f"godot_constructors[{len(self.constructors)}]({{ret}}, {{args}});"
        self.constructors.append(f"{{ {self.variant_type(type_name)}, {entry['index']} }},")
        self.function(f"Gd{type_name}", name, parameters, self.call_body(f"Gd{type_name}", pointers, call))

    def destructor(self, type_name):
        call = f"godot_destructors[{len(self.destructors)}](self);"
        self.destructors.append(f"{self.variant_type(type_name)},")
        self.function("void", f"gd_{snake(type_name)}_free", [f"Gd{type_name} *self"], [call])

    def value(self, target):
        owner, _, name = target.rpartition(".")
        if owner:
            info = self.classes[owner]
            values = {v["name"]: v["value"] for e in info.get("enums", []) for v in e["values"]}
            values |= {v["name"]: v["value"] for v in info.get("constants", [])}
        else:
            values = self.globals
        if name not in values:
            fail(f"Godot has no value {target}")
        prefix = snake(owner).upper() + "_" if owner else ""
        self.head.append(f"enum {{ GD_{prefix}{name} = {values[name]} }};")


HEADER = """// Written by generate.py. Do not edit.
#ifndef GODOT_CALLS_H
#define GODOT_CALLS_H

#include "binding/godot_api.h"

#include <stdbool.h>

_Static_assert(sizeof(void *) == 8, "only 64-bit builds of Godot are known here");

// Resolves everything below; says by name what this Godot does not have and answers how many those are.
int godot_calls_load(void);
void godot_calls_unload(void);

extern GDExtensionMethodBindPtr godot_binds[];
extern GDExtensionPtrBuiltInMethod godot_builtin_methods[];
extern GDExtensionPtrConstructor godot_constructors[];
extern GDExtensionPtrDestructor godot_destructors[];

// Singletons are looked up when first used: several do not exist yet while extensions start.
GDExtensionObjectPtr godot_singleton(int index);

"""

SOURCE = """// Written by generate.py. Do not edit.
#include "godot_calls.h"

#include <stdio.h>

static const struct {{ const char *owner, *name; int64_t hash; }} bind_list[] = {{ {binds} }};
static const struct {{ GDExtensionVariantType owner; const char *name; int64_t hash; }} builtin_list[] = {{ {builtins} }};
static const struct {{ GDExtensionVariantType owner; int32_t index; }} constructor_list[] = {{ {constructors} }};
static const GDExtensionVariantType destructor_list[] = {{ {destructors} }};
static const char *const singleton_list[] = {{ {singletons} }};

#define COUNT(list) ((int)(sizeof(list) / sizeof((list)[0])))

GDExtensionMethodBindPtr godot_binds[COUNT(bind_list)];
GDExtensionPtrBuiltInMethod godot_builtin_methods[COUNT(builtin_list)];
GDExtensionPtrConstructor godot_constructors[COUNT(constructor_list)];
GDExtensionPtrDestructor godot_destructors[COUNT(destructor_list)];
static GDExtensionObjectPtr singletons[COUNT(singleton_list)];
static GDExtensionPtrDestructor free_name;

static int report(bool found, const char *owner, const char *name) {{
	char text[256];
	if (found) {{
		return 0;
	}}
	snprintf(text, sizeof(text), "fem_destruction: this Godot has no %s.%s as the addon knows it.", owner, name);
	godot.print_error(text, __func__, __FILE__, __LINE__, 1);
	return 1;
}}

static GdStringName make_name(const char *text) {{
	GdStringName name = {{ 0 }};
	godot.string_name_new_with_latin1_chars(&name, text, 0);
	return name;
}}

static int load_binds(void) {{
	int missing = 0;
	for (int i = 0; i < COUNT(bind_list); i++) {{
		GdStringName owner = make_name(bind_list[i].owner);
		GdStringName name = make_name(bind_list[i].name);
		godot_binds[i] = godot.classdb_get_method_bind(&owner, &name, bind_list[i].hash);
		missing += report(godot_binds[i] != NULL, bind_list[i].owner, bind_list[i].name);
		free_name(&owner);
		free_name(&name);
	}}
	return missing;
}}

int godot_calls_load(void) {{
	free_name = godot.variant_get_ptr_destructor(GDEXTENSION_VARIANT_TYPE_STRING_NAME);
	int missing = load_binds();
	for (int i = 0; i < COUNT(builtin_list); i++) {{
		GdStringName name = make_name(builtin_list[i].name);
		godot_builtin_methods[i] = godot.variant_get_ptr_builtin_method(builtin_list[i].owner, &name, builtin_list[i].hash);
		missing += report(godot_builtin_methods[i] != NULL, "Variant", builtin_list[i].name);
		free_name(&name);
	}}
	for (int i = 0; i < COUNT(constructor_list); i++) {{
		godot_constructors[i] = godot.variant_get_ptr_constructor(constructor_list[i].owner, constructor_list[i].index);
		missing += report(godot_constructors[i] != NULL, "Variant", "constructor");
	}}
	for (int i = 0; i < COUNT(destructor_list); i++) {{
		godot_destructors[i] = godot.variant_get_ptr_destructor(destructor_list[i]);
		missing += report(godot_destructors[i] != NULL, "Variant", "destructor");
	}}
	return missing;
}}

void godot_calls_unload(void) {{
	for (int i = 0; i < COUNT(singleton_list); i++) {{
		singletons[i] = NULL;
	}}
}}

GDExtensionObjectPtr godot_singleton(int index) {{
	if (!singletons[index]) {{
		GdStringName name = make_name(singleton_list[index]);
		singletons[index] = godot.global_get_singleton(&name);
		free_name(&name);
	}}
	return singletons[index];
}}
"""


def write_calls(api, calls, out):
    generator = Generator(api)
    generator.types()
    kinds = {k: getattr(generator, k) for k in ("method", "builtin", "constructor", "destructor", "value")}
    for number, line in enumerate(calls.read_text().splitlines(), 1):
        kind, _, target = line.split("#")[0].strip().partition(" ")
        if not kind:
            continue
        if kind not in kinds or not target:
            fail(f"{calls}:{number}: expected one of {', '.join(kinds)} and a name")
        kinds[kind](target.strip())
    (out / "godot_calls.h").write_text(HEADER + "\n".join(generator.head) + "\n#endif\n")
    singletons = ['"' + name + '",' for name in generator.used_singletons]
    lists = {"binds": generator.binds, "builtins": generator.builtin_methods, "singletons": singletons,
             "constructors": generator.constructors, "destructors": generator.destructors}
    (out / "godot_calls.c").write_text(SOURCE.format(**{k: "\n\t" + "\n\t".join(v) + "\n" for k, v in lists.items()}))


def byte_array(name, data):
    """Bytes, not string literals: ISO C only promises literals of 4095 characters."""
    data += b"\0"
    lines = ["\t" + "".join(f"{b if b < 128 else b - 256}," for b in data[i:i + 32]) for i in range(0, len(data), 32)]
    return [f"{name}[] = {{"] + lines + ["};", ""]


def write_docs(docs, out):
    files = sorted(docs.glob("*.xml"))
    lines = ["// Written by generate.py. Do not edit.", '#include "doc_data.h"', ""]
    for index, file in enumerate(files):
        lines += byte_array(f"static const char doc_{index}", file.read_bytes())
    lines += [f"const char *const doc_data[] = {{ {''.join(f'doc_{i}, ' for i in range(len(files)))}0 }};",
              f"const int doc_data_count = {len(files)};", ""]
    (out / "doc_data.c").write_text("\n".join(lines))
    (out / "doc_data.h").write_text("// Written by generate.py. Do not edit.\n#ifndef DOC_DATA_H\n#define DOC_DATA_H\n\n"
                                    "extern const char *const doc_data[]; // class reference, one XML document each\n"
                                    "extern const int doc_data_count;\n\n#endif\n")


def write_licenses(files, out):
    text = b"\n".join(file.read_bytes() for file in files)
    lines = ["// Written by generate.py. Do not edit.", '#include "license_data.h"', ""]
    (out / "license_data.c").write_text("\n".join(lines + byte_array("const char license_data", text)))
    (out / "license_data.h").write_text("// Written by generate.py. Do not edit.\n#ifndef LICENSE_DATA_H\n"
                                        "#define LICENSE_DATA_H\n\nextern const char license_data[]; // UTF-8\n\n#endif\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for option in ("api", "calls", "docs", "out"):
        parser.add_argument("--" + option, type=pathlib.Path, required=True)
    parser.add_argument("--licenses", type=pathlib.Path, nargs="+", required=True)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    write_calls(json.loads(options.api.read_text()), options.calls, options.out)
    write_docs(options.docs, options.out)
    write_licenses(options.licenses, options.out)


if __name__ == "__main__":
    main()
