# Rows of the kernel table (docs/add-a-schedule.md), with tile shapes of its rows direct_*, to compare with.
set(columns_first family=direct function=columns_first channel_block=64)
selvage_kernel(conv columns_first_6x2_c64 sse41 ${columns_first} lanes=4 tile=6 vectors=2)
selvage_kernel(conv columns_first_6x2_c64 avx2 ${columns_first} lanes=8 tile=6 vectors=2)
selvage_kernel(conv columns_first_14x2_c64 avx512 ${columns_first} lanes=16 tile=14 vectors=2)
