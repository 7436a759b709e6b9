# The kernel table. Each row becomes a line of the dispatch table (runtime/selvage/kernels.h). Rows for
# the architecture of the build become one archive with one C function, too, and thereby a subject of
# every test and bench; `selvage kernel` makes specialised kernels of any row:
#
#   selvage_kernel(OP SCHEDULE ISA key=value...)
#
# OP is one of SELVAGE_OP_*, SCHEDULE the row's name, ISA one of SELVAGE_TARGET_* below. `rate` is for
# the dispatcher (runtime/cost.cpp); the rest are the generator's parameters, which
# generators/*_generators.cpp declare. The schedules explain the register arithmetic behind tile and
# vectors.

set(SELVAGE_TARGET_sse41 x86-64-linux-sse41)
set(SELVAGE_TARGET_avx2 x86-64-linux-sse41-avx-f16c-fma-avx2)
set(SELVAGE_TARGET_avx512 x86-64-linux-sse41-avx-f16c-fma-avx2-avx512-avx512_skylake)
set(SELVAGE_TARGET_neon arm-64-linux)
# GPUs, for programs on x86-64: a target for each compute capability that variants are made for, from which
# newer GPUs run too.
foreach(capability 70 80 86)
  set(SELVAGE_TARGET_cuda${capability} x86-64-linux-cuda-cuda_capability_${capability})
endforeach()
set(SELVAGE_TARGET_opencl x86-64-linux-opencl)

# What kernels compute: the kind of the generator (generators/CMakeLists.txt), the generator, and its
# parameters that tell the type of numbers.
set(SELVAGE_OP_conv conv conv)
set(SELVAGE_OP_depthwise window depthwise)
set(SELVAGE_OP_max_pool window max_pool)
set(SELVAGE_OP_max_pool_skip_nan window max_pool nan=false)
set(SELVAGE_OP_max_pool_u8 window max_pool type=uint8)
set(SELVAGE_OP_max_pool_i8 window max_pool type=int8)
set(SELVAGE_OP_max_pool_indices window max_pool_indices)
set(SELVAGE_OP_max_pool_indices_u8 window max_pool_indices type=uint8)
set(SELVAGE_OP_max_pool_indices_i8 window max_pool_indices type=int8)
set(SELVAGE_OP_avg_pool window avg_pool)
set(SELVAGE_OP_l1_pool window lp_pool power=1)
set(SELVAGE_OP_l2_pool window lp_pool power=2)
set(SELVAGE_OP_lp_pool window lp_pool)
set(SELVAGE_OP_filter window filter)
set(SELVAGE_OP_filter_fixed window filter fixed=true)
set(SELVAGE_OP_copy window copy)
set(SELVAGE_OP_copy_u8 window copy type=uint8)
set(SELVAGE_OP_copy_i8 window copy type=int8)

set(window_ops depthwise max_pool max_pool_skip_nan max_pool_u8 max_pool_i8 max_pool_indices
               max_pool_indices_u8 max_pool_indices_i8 avg_pool l1_pool l2_pool lp_pool filter
               filter_fixed copy copy_u8 copy_i8)
# Operators whose numbers are bytes from end to end, so that a vector holds four times as many.
set(byte_ops max_pool_u8 max_pool_i8 copy_u8 copy_i8)
# What runs on channels side by side, whatever the kernel; the others are for few channels or rare.
set(taps_ops depthwise max_pool max_pool_skip_nan max_pool_u8 max_pool_i8 max_pool_indices avg_pool
             l1_pool l2_pool copy copy_u8 copy_i8)
# What runs on lines of numbers. Indices count channels, copies have nothing to share.
set(lines_ops depthwise max_pool max_pool_skip_nan max_pool_u8 max_pool_i8 avg_pool l1_pool l2_pool
              filter filter_fixed)

# What filters pictures, most often by small square kernels.
set(picture_ops max_pool_u8 filter filter_fixed)

# The reference of every test: no directives, no vectors.
foreach(isa sse41 neon)
  foreach(op conv ${window_ops})
    selvage_kernel(${op} reference ${isa} family=reference rate=1)
  endforeach()
endforeach()

# Shapes of register tiles, pixels x vectors, each with its rate: the measured speed of full tiles
# relative to the first shape of its list, in percent. The dispatcher weighs rates against the part
# of a tile that a problem leaves empty; 100 also stands where two shapes were not compared. `./dev
# bench` measures every row; AVX-512 has 32 registers of 16 lanes, AVX2 and SSE4.1 have 16 of 8 and 4.
# NEON has 32 of 4; its rates are not measured but those of a model (docs/arm.md), and where that has none, what
# SSE4.1 has relative to 100.
set(lanes_sse41 4)
set(lanes_avx2 8)
set(lanes_avx512 16)
set(lanes_neon 4)
set(any_rate_sse41 6)
set(any_rate_avx2 4)
set(any_rate_avx512 2)
set(any_rate_neon 6)
set(conv_sse41 6x2=100 4x3=90 12x1=65)
set(conv_avx2 6x2=100 4x3=112 12x1=65)
set(conv_avx512 14x2=100 7x3=106 6x4=108 5x4=112 28x1=60)
set(conv_neon 6x3=100 5x4=92 8x2=93 14x1=91)
set(pointwise_sse41 6x2=100)
set(pointwise_avx2 6x2=100 4x3=112)
set(pointwise_avx512 5x4=115 4x6=111 8x3=101 12x2=94)
set(pointwise_neon 6x3=100 5x4=92 8x2=93)
# Of few channels in a group, by their number: as many lanes as groups usually have outputs.
set(narrow_sse41_1 4x6x2=100)
set(narrow_sse41_3 4x6x2=100)
set(narrow_sse41_4 4x6x2=100 4x12x1=80)
set(narrow_sse41_8 4x6x2=100)
set(narrow_avx2_1 8x6x2=100)
set(narrow_avx2_3 8x6x2=100)
set(narrow_avx2_4 8x6x2=100 4x12x1=80)
set(narrow_avx2_8 8x12x1=80)
set(narrow_avx512_1 16x5x4=100 16x12x2=96)
set(narrow_avx512_3 16x5x4=100 16x12x2=96)
set(narrow_avx512_4 16x5x4=100 16x12x2=96 4x28x1=80 4x14x1=75)
set(narrow_avx512_8 8x28x1=80 8x14x1=75)
set(narrow_avx512_16 16x14x1=75)
# NEON needs none of 4 channels and more: there direct multiplies by elements of vectors of 4.
set(narrow_neon_1 4x4x4=100 4x8x2=90)
set(narrow_neon_3 4x8x2=100 4x4x4=98)
# F(outputs of a tile, kernel), tiles x vectors that are multiplied together, channels of a block.
set(winograd_sse41 f2x3_6x2=90_c16 f3x3_6x2=90_c16 f4x3_6x2=90_c16 f3x2_6x2=90_c16)
set(winograd_avx2 ${winograd_sse41} f3x3_12x1=90_c8)
set(winograd_avx512 f2x3_14x2=90_c16 f2x3_7x4=90_c16 f3x3_14x2=90_c16 f3x3_7x4=90_c16
                    f4x3_14x2=90_c16 f4x3_7x4=90_c16 f3x2_14x2=90_c16
                    f3x2_7x4=90_c16)
set(winograd_neon f2x3_6x3=90_c16 f3x3_6x3=90_c16 f4x3_6x3=90_c16 f3x2_6x3=90_c16)
# Outputs x vectors of pixels.
set(planar_sse41 4x3=100 6x2=92)
set(planar_avx2 4x3=100 6x2=100)
set(planar_avx512 8x3=100 6x4=95)
set(planar_neon 8x3=100 6x4=100)
# Of lines: rows x vectors. Narrow vectors for short rows.
set(lines_sse41 4x2=100)
set(lines_avx2 4x2=100)
set(lines_avx512 4x2=100 4x1=90)
set(lines_neon 4x2=100)
# The same of filters of pictures, with kernels of known size: tall tiles, since rows are shared down a tile.
# Rates put them before the lines above; they are not measured.
set(picture_sse41 4x1=120)
set(picture_avx2 4x1=120)
set(picture_avx512 8x2=150)
set(picture_neon 8x1=120)
# Of maxima, whose strip has combined the rows already.
set(picture_maxima 4x2=100)
# Of filters whose weights are a column times a row. Sums of rows have 16 bits, half of a float, so that
# two vectors lie side by side.
set(picture_separable_sse41 4x2=120)
set(picture_separable_avx2 4x2=120)
set(picture_separable_avx512 8x2=150)
set(picture_separable_neon 8x2=120)
# KERNEL_STRIDE: the shapes of the window kernels, in the order of preference. Behind a colon is the
# widest map that has loops of its own (schedules/cpu/windows.h); the rate is that of all others.
set(window_1 2x2=100 4x1=94)
set(window_2 2x2=100 4x1=80)
set(depthwise_3_1_avx512 7x2=100:28 4x1=90 7x1=80:28)
set(depthwise_3_2_avx512 2x3=100 2x1=85 7x2=70:7)
set(depthwise_5_1_avx512 7x2=100:28 7x1=90)
set(depthwise_5_2_avx512 2x3=100 7x1=80:14)
set(depthwise_3_1_avx2 ${window_1} 7x1=90:7)
set(depthwise_3_2_avx2 ${window_2} 7x1=75:7)
set(depthwise_5_1_avx2 4x1=100 2x2=97 7x1=105:28)
set(depthwise_5_2_avx2 ${window_2} 7x1=85:14)
set(depthwise_3_2_sse41 ${window_2} 7x1=75:7)
set(depthwise_5_1_sse41 4x1=100 2x2=97)
set(depthwise_5_2_sse41 ${window_2} 7x1=80:14)
set(depthwise_7_1_avx512 7x2=100:14)
set(depthwise_7_1_avx2 7x1=100:14)
set(depthwise_7_1_sse41 7x1=100:14)
set(depthwise_3_1_neon 14x1=100 7x2=86 8x1=85)
set(depthwise_3_2_neon 8x1=100 7x1=95)
set(depthwise_5_1_neon 14x1=100 7x2=86 8x1=82)
set(depthwise_5_2_neon 8x1=100 7x1=89)
set(depthwise_7_1_neon 14x1=100 7x2=85 8x1=80)
foreach(op max_pool max_pool_skip_nan)
  set(${op}_5_1_avx512 4x2=100)
endforeach()
foreach(op max_pool max_pool_skip_nan avg_pool)
  set(${op}_3_1_avx512 2x3=100 2x1=88)
  set(${op}_3_2_avx512 2x2=100 2x1=95)
  set(${op}_2_1_avx512 2x4=100 2x1=80)
  set(${op}_2_2_avx512 2x2=100 2x1=95)
endforeach()
set(sizes_depthwise 3_1 3_2 5_1 5_2 7_1)
set(sizes_max_pool 2_1 2_2 3_1 3_2 5_1)
set(sizes_max_pool_skip_nan ${sizes_max_pool})
set(sizes_avg_pool 2_1 2_2 3_1 3_2)

# Splits 14x2=100, or 7x2=100:28, into name (14x2) and the parameters that it stands for.
function(shape_parameters shape name parameters)
  string(REGEX MATCH "^([0-9]+)x([0-9]+)=([0-9]+):?([0-9]*)$" _ ${shape})
  set(${name} ${CMAKE_MATCH_1}x${CMAKE_MATCH_2} PARENT_SCOPE)
  set(values tile=${CMAKE_MATCH_1} vectors=${CMAKE_MATCH_2} rate=${CMAKE_MATCH_3})
  if(CMAKE_MATCH_4)
    list(APPEND values widest_map=${CMAKE_MATCH_4})
  endif()
  set(${parameters} ${values} PARENT_SCOPE)
endfunction()

foreach(isa sse41 avx2 avx512 neon)
  set(lanes lanes=${lanes_${isa}})

  foreach(shape ${conv_${isa}})
    shape_parameters(${shape} name parameters)
    # Blocks of 64 input channels keep the overhead of a tap low (32 are 3 % slower); layers with
    # fewer channels would waste most of such a block.
    set(direct family=direct ${lanes} ${parameters})
    foreach(block 64 16)
      selvage_kernel(conv direct_${name}_c${block} ${isa} ${direct} channel_block=${block})
    endforeach()
    # What the border costs is measured against kernels without one.
    selvage_kernel(conv direct_${name}_c64_inside ${isa} ${direct} channel_block=64 border=false)
  endforeach()
  # Images and first layers; of the other shapes, those with more vectors are half as fast here.
  list(GET conv_${isa} 0 widest)
  list(GET conv_${isa} -1 narrowest)
  foreach(shape ${widest} ${narrowest})
    shape_parameters(${shape} name parameters)
    set(direct family=direct ${lanes} ${parameters} channel_block=4)
    selvage_kernel(conv direct_${name}_c4 ${isa} ${direct})
    selvage_kernel(conv direct_${name}_c4_inside ${isa} ${direct} border=false)
  endforeach()

  # First layers and narrow groups: so many channels in a group and no other, at one stride.
  foreach(channels 1 3 4 8 16)
    foreach(shape ${narrow_${isa}_${channels}})
      string(REGEX MATCH "^([0-9]+)x(.+)$" _ ${shape})
      set(narrow_lanes lanes=${CMAKE_MATCH_1})
      shape_parameters(${CMAKE_MATCH_2} name parameters)
      foreach(stride 1 2)
        selvage_kernel(conv narrow_${name}_c${channels}_s${stride} ${isa} family=narrow ${narrow_lanes}
                       ${parameters} channel_block=${channels} stride=${stride})
      endforeach()
    endforeach()
  endforeach()

  # Kernels of one tap.
  foreach(shape ${pointwise_${isa}})
    shape_parameters(${shape} name parameters)
    foreach(block 64 16)
      selvage_kernel(conv pointwise_${name}_c${block} ${isa} family=pointwise ${lanes} ${parameters}
                     channel_block=${block})
    endforeach()
  endforeach()

  # Tiles of outputs by fewer products. Blocks of 16 channels; of 8 for groups.
  foreach(shape ${winograd_${isa}})
    string(REGEX MATCH "^f([0-9]+)x([0-9]+)_(.*)_c([0-9]+)$" _ ${shape})
    set(tiles output_tile=${CMAKE_MATCH_1} kernel=${CMAKE_MATCH_2} channel_block=${CMAKE_MATCH_4})
    set(prefix winograd_f${CMAKE_MATCH_1}x${CMAKE_MATCH_2})
    set(block c${CMAKE_MATCH_4})
    shape_parameters(${CMAKE_MATCH_3} name parameters)
    selvage_kernel(conv ${prefix}_${name}_${block} ${isa} family=winograd ${lanes} ${parameters}
                   ${tiles})
  endforeach()

  # Planes of single channels: outputs x vectors of pixels. Blocks of 32 channels; fewer for first
  # layers and groups, single ones for depthwise.
  foreach(shape ${planar_${isa}})
    shape_parameters(${shape} name parameters)
    selvage_kernel(conv planar_${name}_c32 ${isa} family=planar ${lanes} ${parameters}
                   channel_block=32)
  endforeach()
  list(GET planar_${isa} 0 shape)
  shape_parameters(${shape} name parameters)
  foreach(block 4 1)
    selvage_kernel(conv planar_${name}_c${block} ${isa} family=planar ${lanes} ${parameters}
                   channel_block=${block})
  endforeach()
  selvage_kernel(conv planar_1x8_c1 ${isa} family=planar ${lanes} tile=1 vectors=8 rate=50
                 channel_block=1)

  # Kernels of one size and stride.
  foreach(op depthwise max_pool max_pool_skip_nan avg_pool)
    set(one "")
    if(op STREQUAL depthwise)
      set(one fixed_multiplier=1)
    endif()
    foreach(size ${sizes_${op}})
      string(REPLACE "_" ";" kernel_and_stride ${size})
      list(POP_FRONT kernel_and_stride kernel stride)
      set(shapes ${${op}_${size}_${isa}})
      if(NOT shapes)
        set(shapes ${window_${stride}})
      endif()
      foreach(shape ${shapes})
        shape_parameters(${shape} name parameters)
        set(rows family=rows ${lanes} ${parameters} ${one} kernel=${kernel} stride=${stride})
        set(name rows_${kernel}x${kernel}_s${stride}_${name})
        selvage_kernel(${op} ${name} ${isa} ${rows})
        list(FILTER rows EXCLUDE REGEX "^widest_map=") # Where there is no border, none is known.
        selvage_kernel(${op} ${name}_inside ${isa} ${rows} border=false)
      endforeach()
    endforeach()
  endforeach()

  # Kernels of every size.
  foreach(op ${window_ops})
    set(taps_rate 85)
    set(one "")
    if(op STREQUAL depthwise)
      set(one fixed_multiplier=1)
      set(taps_rate 75)
    endif()
    set(count ${lanes_${isa}})
    if(op IN_LIST byte_ops)
      math(EXPR count "4 * ${count}")
    endif()
    set(lanes lanes=${count})
    if(op IN_LIST taps_ops)
      # Four vectors of bytes would take 64 to 256 channels.
      if(NOT op IN_LIST byte_ops)
        selvage_kernel(${op} taps_4 ${isa} family=taps ${lanes} ${one} vectors=4 rate=${taps_rate})
      endif()
      selvage_kernel(${op} taps_1 ${isa} family=taps ${lanes} ${one} vectors=1 rate=30)
    endif()
    if(op IN_LIST lines_ops)
      foreach(shape ${lines_${isa}})
        shape_parameters(${shape} name parameters)
        selvage_kernel(${op} lines_${name} ${isa} family=lines ${lanes} ${one} ${parameters})
      endforeach()
    endif()
    if(op IN_LIST picture_ops)
      set(shape ${picture_${isa}})
      set(separable "")
      if(op STREQUAL max_pool_u8)
        set(shape ${picture_maxima})
        set(separable separable=true)
      endif()
      shape_parameters(${shape} name parameters)
      foreach(kernel 3 5 7)
        selvage_kernel(${op} lines_${kernel}x${kernel}_s1_${name} ${isa} family=lines ${lanes} ${parameters}
                       ${separable} kernel=${kernel} stride=1)
      endforeach()
      if(op STREQUAL filter_fixed)
        shape_parameters(${picture_separable_${isa}} name parameters)
        foreach(kernel 3 5 7)
          selvage_kernel(${op} lines_${kernel}x${kernel}_s1_separable_${name} ${isa} family=lines ${lanes}
                         ${parameters} separable=true kernel=${kernel} stride=1)
        endforeach()
      endif()
    endif()
    # Gathering a byte costs as much as gathering a float, and more code.
    selvage_kernel(${op} any ${isa} family=any lanes=${lanes_${isa}} rate=${any_rate_${isa}})
  endforeach()
endforeach()

# GPUs, where the build is asked for them (SELVAGE_GPU). schedules/gpu/ has the arithmetic of tiles.
foreach(isa opencl cuda70 cuda80 cuda86)
  foreach(op conv ${window_ops})
    selvage_kernel(${op} any ${isa} family=any)
  endforeach()
  # Blocks of outputs in vectors of 4: 128 and 64; tiles of 8x8 pixels. Kernels of any size are staged tap
  # by tap, so with more channels at a time.
  foreach(vectors 32 16)
    math(EXPR outputs "4 * ${vectors}")
    set(tile lanes=4 vectors=${vectors} tile=8)
    selvage_kernel(conv tiled_k${outputs} ${isa} family=tiled ${tile} channel_block=32)
    foreach(stride 1 2)
      selvage_kernel(conv tiled_3x3_s${stride}_k${outputs} ${isa} family=tiled ${tile} channel_block=8
                     kernel=3 stride=${stride})
    endforeach()
  endforeach()
  # First layers, of up to 4 channels.
  foreach(kernel 3 7)
    selvage_kernel(conv tiled_${kernel}x${kernel}_s2_k64_c4 ${isa} family=tiled ${tile} channel_block=4
                   kernel=${kernel} stride=2)
  endforeach()
  # Small maps: enough blocks for a large GPU by slices of the channels.
  selvage_kernel(conv split_k64 ${isa} family=split ${tile} channel_block=128)
  foreach(stride 1 2)
    selvage_kernel(conv split_3x3_s${stride}_k64 ${isa} family=split ${tile} channel_block=32 kernel=3
                   stride=${stride})
  endforeach()
endforeach()
