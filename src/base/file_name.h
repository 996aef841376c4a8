// Names of files, for sentences.
#ifndef FEM_BASE_FILE_NAME_H
#define FEM_BASE_FILE_NAME_H

// The part of a path behind its last slash.
static inline const char *fem_file_name(const char *path) {
	const char *name = path;
	for (const char *c = path; *c; c++) {
		if (*c == '/' || *c == '\\')
			name = c + 1;
	}
	return name;
}

#endif
