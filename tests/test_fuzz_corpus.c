// Replays what the fuzzer found worth keeping (tests/fuzz/corpus), among it every input that once failed.
#include "fem_bake/files/file_bytes.h"
#include "fem_test.h"
#include "fuzz/fuzz_targets.h"

#include <dirent.h>
#include <sys/stat.h>
#ifndef _WIN32
#include <unistd.h>
#endif

#define PATH_SIZE 2048

typedef void FuzzTarget(const uint8_t *data, size_t size);

// The folder of this program, or "." where the system does not say.
static void program_folder(char out[PATH_SIZE]) {
#ifdef _WIN32
	snprintf(out, PATH_SIZE, "%s", _pgmptr);
#else
	ssize_t length = readlink("/proc/self/exe", out, PATH_SIZE - 1);
	out[length > 0 ? length : 0] = '\0';
#endif
	char *end = out + strlen(out);
	while (end > out && *end != '/' && *end != '\\')
		end--;
	*end = '\0';
	if (end == out)
		snprintf(out, PATH_SIZE, ".");
}

// Found from the repository's root, from the program in build/, and from one in a folder below that.
static bool find_corpus(char out[PATH_SIZE], const char *target) {
	static const char *prefixes[] = {"", "../", "../../"};
	char program[PATH_SIZE / 2];
	struct stat status;
	char folder[PATH_SIZE];
	program_folder(folder);
	snprintf(program, sizeof program, "%.1000s", folder);
	for (int i = 0; i < 4; i++) {
		if (i == 0)
			snprintf(out, PATH_SIZE, "tests/fuzz/corpus/%s", target);
		else
			snprintf(out, PATH_SIZE, "%s/%stests/fuzz/corpus/%s", program, prefixes[i - 1], target);
		if (stat(out, &status) == 0 && S_ISDIR(status.st_mode))
			return true;
	}
	return false;
}

// The target aborts where something is wrong: the name of the input is written before.
static void replay(const char *target, FuzzTarget *function) {
	char folder[PATH_SIZE], path[PATH_SIZE + 512];
	int count = 0;
	if (!fem_test_check(find_corpus(folder, target), __FILE__, __LINE__,
			"tests/fuzz/corpus/%s is not there: run from the root", target))
		return;
	DIR *directory = opendir(folder);
	FEM_REQUIRE(directory != NULL);
	for (struct dirent *entry = readdir(directory); entry; entry = readdir(directory)) {
		FemFileBytes file;
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
		FEM_CHECK(fem_file_read(path, &file) == FEM_OK);
		uint8_t *exact = malloc(file.size ? file.size : 1); // so that the sanitizer sees a read past the end
		if (exact && file.size)
			memcpy(exact, file.bytes, file.size);
		if (exact)
			function(exact, file.size);
		free(exact);
		fem_file_free(&file);
		count++;
	}
	closedir(directory);
	FEM_CHECK(count > 0);
}

FEM_TEST(fuzz_corpus, tetgen) {
	replay("tetgen", fem_fuzz_tetgen);
}

FEM_TEST(fuzz_corpus, gmsh) {
	replay("gmsh", fem_fuzz_gmsh);
}

FEM_TEST(fuzz_corpus, vtk) {
	replay("vtk", fem_fuzz_vtk);
}

FEM_TEST(fuzz_corpus, obj) {
	replay("obj", fem_fuzz_obj);
}

FEM_TEST(fuzz_corpus, stl) {
	replay("stl", fem_fuzz_stl);
}

FEM_TEST(fuzz_corpus, baked) {
	replay("baked", fem_fuzz_baked);
}
