# The kernel table. Each row becomes one archive with one C function, a line of the dispatch table
# (runtime/selvage/kernels.h), and thereby a subject of every test and bench:
#
#   selvage_kernel(OP SCHEDULE ISA key=value...)
#
# OP is a generator, SCHEDULE the row's name, ISA one of SELVAGE_TARGET_* below. `rate` is for the
# dispatcher (runtime/choose.cpp); the rest are the generator's parameters, which
# generators/generators.cpp declares. The schedules explain the register arithmetic behind tile and
# vectors.

set(SELVAGE_TARGET_sse41 x86-64-linux-sse41)
set(SELVAGE_TARGET_avx2 x86-64-linux-sse41-avx-f16c-fma-avx2)
set(SELVAGE_TARGET_avx512 x86-64-linux-sse41-avx-f16c-fma-avx2-avx512-avx512_skylake)

# The reference of every test: no directives, no vectors.
foreach(op conv2d depthwise2d max_pool2d avg_pool2d)
  selvage_kernel(${op} reference sse41 family=reference rate=5)
endforeach()

# Shapes of register tiles, pixels x vectors, each with its rate: the measured speed of full tiles
# relative to the first shape of its list, in percent. The dispatcher weighs rates against the part
# of a tile that a problem leaves empty; 100 also stands where two shapes were not compared. `./dev
# bench` measures every row; AVX-512 has 32 registers of 16 lanes, AVX2 and SSE4.1 have 16 of 8 and 4.
set(lanes_sse41 4)
set(lanes_avx2 8)
set(lanes_avx512 16)
set(any_rate_sse41 8)
set(any_rate_avx2 12)
set(any_rate_avx512 16)
set(conv2d_sse41 6x2=100 4x3=90 12x1=65)
set(conv2d_avx2 6x2=100 4x3=112 12x1=65)
set(conv2d_avx512 14x2=100 7x3=106 6x4=108 5x4=106 28x1=60)
# KERNEL_STRIDE: the shapes of the window kernels, in the order of preference.
set(window_default 4x1=100 2x2=100)
set(depthwise2d_3_1_avx512 7x2=100 4x1=90)
set(depthwise2d_3_2_avx512 2x3=100 2x1=85)
set(depthwise2d_5_1_avx512 7x2=100 7x1=90)
set(depthwise2d_5_2_avx512 2x3=100 7x1=95)
foreach(op max_pool2d avg_pool2d)
  set(${op}_3_1_avx512 2x3=100 2x1=80)
  set(${op}_3_2_avx512 2x2=100 2x1=95)
  set(${op}_2_1_avx512 2x4=100 2x1=70)
  set(${op}_2_2_avx512 2x2=100 2x1=95)
endforeach()
set(kernels_depthwise2d 3 5)
set(kernels_max_pool2d 2 3)
set(kernels_avg_pool2d 2 3)

# Splits 14x2=100 into name (14x2) and the parameters that it stands for.
function(shape_parameters shape name parameters)
  string(REGEX MATCH "^([0-9]+)x([0-9]+)=([0-9]+)$" _ ${shape})
  set(${name} ${CMAKE_MATCH_1}x${CMAKE_MATCH_2} PARENT_SCOPE)
  set(${parameters} tile=${CMAKE_MATCH_1} vectors=${CMAKE_MATCH_2} rate=${CMAKE_MATCH_3}
                    PARENT_SCOPE)
endfunction()

foreach(isa sse41 avx2 avx512)
  set(lanes lanes=${lanes_${isa}})

  foreach(shape ${conv2d_${isa}})
    shape_parameters(${shape} name parameters)
    # Blocks of 64 input channels keep the overhead of a tap low (32 are 3 % slower); layers with
    # fewer channels would waste most of such a block.
    set(direct family=direct ${lanes} ${parameters})
    foreach(block 64 16)
      set(block_name direct_${name}_c${block})
      selvage_kernel(conv2d ${block_name} ${isa} ${direct} channel_block=${block})
      selvage_kernel(conv2d ${block_name}_inside ${isa} ${direct} channel_block=${block}
                     border=false)
    endforeach()
  endforeach()
  # Images and first layers; of the other shapes, those with more vectors are half as fast here.
  list(GET conv2d_${isa} 0 widest)
  list(GET conv2d_${isa} -1 narrowest)
  foreach(shape ${widest} ${narrowest})
    shape_parameters(${shape} name parameters)
    set(direct family=direct ${lanes} ${parameters} channel_block=4)
    selvage_kernel(conv2d direct_${name}_c4 ${isa} ${direct})
    selvage_kernel(conv2d direct_${name}_c4_inside ${isa} ${direct} border=false)
  endforeach()

  foreach(op depthwise2d max_pool2d avg_pool2d)
    set(one "")
    if(op STREQUAL depthwise2d)
      set(one fixed_multiplier=1)
    endif()
    foreach(kernel ${kernels_${op}})
      foreach(stride 1 2)
        set(shapes ${${op}_${kernel}_${stride}_${isa}})
        if(NOT shapes)
          set(shapes ${window_default})
        endif()
        foreach(shape ${shapes})
          shape_parameters(${shape} name parameters)
          set(rows family=rows ${lanes} ${parameters} ${one} kernel=${kernel} stride=${stride})
          set(name rows_${kernel}x${kernel}_s${stride}_${name})
          selvage_kernel(${op} ${name} ${isa} ${rows})
          selvage_kernel(${op} ${name}_inside ${isa} ${rows} border=false)
        endforeach()
      endforeach()
    endforeach()
    selvage_kernel(${op} taps_4 ${isa} family=taps ${lanes} ${one} vectors=4 rate=45)
    selvage_kernel(${op} taps_1 ${isa} family=taps ${lanes} ${one} vectors=1 rate=33)
    selvage_kernel(${op} flat_4 ${isa} family=flat ${lanes} ${one} vectors=4 rate=45)
    selvage_kernel(${op} flat_1 ${isa} family=flat ${lanes} ${one} vectors=1 rate=30)
    selvage_kernel(${op} any ${isa} family=any tile=${lanes_${isa}} rate=${any_rate_${isa}})
  endforeach()
endforeach()
