extends BoxMesh
## A mesh with a script of its own.
