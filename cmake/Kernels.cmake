# The kernel table. Each row becomes one archive with one C function, a line of the dispatch table
# (runtime/selvage/kernels.h), and thereby a subject of every test and bench:
#
#   selvage_kernel(OP SCHEDULE ISA key=value...)
#
# OP is a generator, SCHEDULE the row's name, ISA one of SELVAGE_TARGET_* below, and the rest are
# the generator's parameters: what generators/generators.cpp declares. The schedules explain the
# register arithmetic behind tile and vectors. Which row runs is decided by runtime/choose.cpp.

set(SELVAGE_TARGET_sse41 x86-64-linux-sse41)
set(SELVAGE_TARGET_avx2 x86-64-linux-sse41-avx-f16c-fma-avx2)
set(SELVAGE_TARGET_avx512 x86-64-linux-sse41-avx-f16c-fma-avx2-avx512-avx512_skylake)

# The reference of every test: no directives, no vectors.
foreach(op conv2d depthwise2d max_pool2d avg_pool2d)
  selvage_kernel(${op} reference sse41 family=reference)
endforeach()

# AVX-512: 16 lanes, 32 registers. AVX2 and SSE4.1: 8 and 4 lanes, 16 registers.
set(lanes_sse41 4)
set(lanes_avx2 8)
set(lanes_avx512 16)
set(direct_tiles_sse41 6x2 4x3 12x1)
set(direct_tiles_avx2 6x2 4x3 12x1)
set(direct_tiles_avx512 14x2 7x3 6x4 28x1)
set(rows_kernels_depthwise2d 3 5)
set(rows_kernels_max_pool2d 2 3)
set(rows_kernels_avg_pool2d 2 3)

foreach(isa sse41 avx2 avx512)
  set(lanes ${lanes_${isa}})
  foreach(shape ${direct_tiles_${isa}})
    string(REGEX MATCH "([0-9]+)x([0-9]+)" shape ${shape})
    set(tile tile=${CMAKE_MATCH_1} vectors=${CMAKE_MATCH_2})
    # Blocks of 32 input channels keep the overhead of a tap below 3 %; images and first layers
    # have few.
    selvage_kernel(conv2d direct_${shape} ${isa} family=direct lanes=${lanes} ${tile}
                   channel_block=32)
    selvage_kernel(conv2d direct_${shape}_few ${isa} family=direct lanes=${lanes} ${tile}
                   channel_block=4)
    selvage_kernel(conv2d direct_${shape}_inside ${isa} family=direct lanes=${lanes} ${tile}
                   channel_block=32 border=false)
  endforeach()
  foreach(op depthwise2d max_pool2d avg_pool2d)
    foreach(kernel ${rows_kernels_${op}})
      foreach(stride 1 2)
        foreach(vectors 1 2)
          set(rows family=rows lanes=${lanes} tile=4 vectors=${vectors} kernel=${kernel}
                   stride=${stride})
          set(name rows_${kernel}x${kernel}_s${stride}_4x${vectors})
          selvage_kernel(${op} ${name} ${isa} ${rows})
          selvage_kernel(${op} ${name}_inside ${isa} ${rows} border=false)
        endforeach()
      endforeach()
    endforeach()
    foreach(vectors 1 4)
      selvage_kernel(${op} taps_${vectors} ${isa} family=taps lanes=${lanes} vectors=${vectors})
    endforeach()
    selvage_kernel(${op} any ${isa} family=any lanes=${lanes})
  endforeach()
endforeach()
