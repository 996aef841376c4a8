extends World3D
## A world with a script of its own.
