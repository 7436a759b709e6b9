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

# AVX-512: 16 lanes, 32 registers. AVX2 and SSE4.1: 8 and 4 lanes, 16 registers; SSE has no fused
# multiply-add and needs one more register for the product.
foreach(isa sse41 avx2 avx512)
  if(isa STREQUAL avx512)
    set(lanes 16)
    set(conv_tiles 14x2 13x2 11x2 9x3 7x3 6x4 28x1)
  elseif(isa STREQUAL avx2)
    set(lanes 8)
    set(conv_tiles 6x2 12x1)
  else()
    set(lanes 4)
    set(conv_tiles 6x2 12x1)
  endif()

  foreach(tile_vectors ${conv_tiles})
    string(REGEX MATCH "([0-9]+)x([0-9]+)" _ ${tile_vectors})
    set(tile tile=${CMAKE_MATCH_1} vectors=${CMAKE_MATCH_2})
    # Blocks of two vectors of input channels; of 4 channels for images and first layers.
    math(EXPR block "1 * ${lanes}")
    selvage_kernel(conv2d direct_${tile_vectors} ${isa} family=direct lanes=${lanes} ${tile}
                   channel_block=${block})
    selvage_kernel(conv2d direct_${tile_vectors}_few ${isa} family=direct lanes=${lanes} ${tile}
                   channel_block=4)
  endforeach()

  foreach(op depthwise2d max_pool2d avg_pool2d)
    foreach(kernel 2 3 5)
      foreach(stride 1 2)
        if(NOT (kernel EQUAL 2 AND op STREQUAL depthwise2d) AND NOT (kernel EQUAL 5 AND NOT op STREQUAL depthwise2d))
        foreach(vectors 1 2)
          selvage_kernel(${op} rows_${kernel}x${kernel}_s${stride}_4x${vectors} ${isa} family=rows
                         lanes=${lanes} tile=4 vectors=${vectors} kernel=${kernel} stride=${stride})
        endforeach()
        endif()
      endforeach()
    endforeach()
    foreach(vectors 1 4)
      selvage_kernel(${op} taps_${vectors} ${isa} family=taps lanes=${lanes} vectors=${vectors})
    endforeach()
  endforeach()
endforeach()
