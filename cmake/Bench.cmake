# Benchmarks: see bench/.
