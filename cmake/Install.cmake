# Install target, pkg-config and CMake package.
