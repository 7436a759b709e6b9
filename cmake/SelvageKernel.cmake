# selvage_kernel(): from a row of the table to a table line and, for the architecture of the build, an
# object, an archive and a header.

# Where a kernel's temporaries come from, in place of Halide's own allocator.
set(SELVAGE_SCRATCH_HOOKS --redefine-sym halide_malloc=selvage_scratch_alloc
                          --redefine-sym halide_free=selvage_scratch_free)

# What kernels for GPUs call in place of Halide's runtime: runtime/gpu/hooks.cpp, for all of them.
set(device_hooks --redefine-sym halide_copy_to_device=selvage_gpu_copy
                 --redefine-sym halide_device_malloc=selvage_gpu_alloc
                 --redefine-sym halide_device_free=selvage_gpu_free
                 --redefine-sym halide_device_free_as_destructor=selvage_gpu_free_at_exit)
foreach(gpu cuda opencl)
  set(SELVAGE_DEVICE_HOOKS_${gpu} ${device_hooks}
      --redefine-sym halide_${gpu}_initialize_kernels=selvage_gpu_load
      --redefine-sym halide_${gpu}_run=selvage_gpu_launch
      --redefine-sym halide_${gpu}_finalize_kernels=selvage_gpu_unload
      --redefine-sym halide_${gpu}_device_interface=selvage_gpu_interface)
endforeach()

set(SELVAGE_KERNEL_OBJECTS "")
set(SELVAGE_KERNEL_OBJECTS_cuda "")
set(SELVAGE_KERNEL_OBJECTS_opencl "")
set(SELVAGE_KERNEL_DECLARATIONS "")
set(SELVAGE_KERNEL_ROWS "")
# A line for each kernel: its name, the generator program and the arguments that make it.
set(SELVAGE_KERNEL_COMMANDS "")
# What programs that run generators need to know: once for each operator and each instruction set.
set(SELVAGE_KERNEL_GENERATORS "")
set(SELVAGE_KERNEL_TARGETS "")
# Where kernels lie: compiled here, or by another build tree. Those of schedules outside the tree and
# those for GPUs are compiled here in either case, so that to try one takes no build of all others.
set(own_kernels ${PROJECT_BINARY_DIR}/kernels)
file(MAKE_DIRECTORY ${own_kernels})
if(compile_kernels)
  set(SELVAGE_KERNEL_DIR ${own_kernels})
else()
  set(SELVAGE_KERNEL_DIR ${SELVAGE_KERNELS})
endif()

function(selvage_kernel op schedule isa)
  # The defaults are those of the generators.
  set(family reference)
  set(function "") # that of the family
  set(lanes 1)
  set(tile 1)
  set(vectors 1)
  set(channel_block 1)
  set(output_tile 1)
  set(kernel 0)
  set(stride 0)
  set(widest_map 0)
  set(fixed_multiplier 0)
  set(border true)
  set(separable false)
  set(rate 100)
  set(arguments "")
  foreach(pair ${ARGN})
    if(NOT pair MATCHES "^(family|function|lanes|tile|vectors|channel_block|output_tile|kernel|stride|widest_map|border|fixed_multiplier|separable|rate)=(.+)$")
      message(FATAL_ERROR "selvage_kernel(${op} ${schedule} ${isa}): unknown parameter ${pair}")
    endif()
    set(${CMAKE_MATCH_1} ${CMAKE_MATCH_2})
    if(NOT pair MATCHES "^(family|kernel|stride|rate)=")
      list(APPEND arguments ${pair})
    endif()
  endforeach()
  if(family STREQUAL winograd)
    list(APPEND arguments kernel=${kernel})
  else()
    list(PREPEND arguments schedule=${family})
  endif()
  # Rows that fix the kernel are for undilated ones.
  if(kernel AND NOT family STREQUAL winograd)
    list(APPEND arguments fixed_kernel_x=${kernel} fixed_kernel_y=${kernel} fixed_dilation_x=1 fixed_dilation_y=1)
  endif()
  # Lines that fix it are for single planes, too.
  if(kernel AND family STREQUAL lines)
    list(APPEND arguments fixed_kernel_z=1)
  endif()
  if(stride)
    list(APPEND arguments fixed_stride_x=${stride} fixed_stride_y=${stride})
  endif()
  if(NOT DEFINED SELVAGE_TARGET_${isa} OR NOT DEFINED SELVAGE_OP_${op})
    message(FATAL_ERROR "selvage_kernel(${op} ${schedule} ${isa}): unknown operator or instruction set")
  endif()
  set(type ${SELVAGE_OP_${op}})
  list(POP_FRONT type kind generator)
  set(program selvage_${kind}_generators)
  set(folder ${SELVAGE_KERNEL_DIR})
  set(compile ${compile_kernels})
  set(schedule_function "")
  if(function)
    if(family STREQUAL reference OR NOT EXISTS "${SELVAGE_EXTRA_SCHEDULES}/${function}.h")
      message(FATAL_ERROR "selvage_kernel(${op} ${schedule} ${isa}): function=${function} needs a \
family other than the reference, and ${function}.h in SELVAGE_EXTRA_SCHEDULES")
    endif()
    set(program selvage_extra_generators)
    set(folder ${own_kernels})
    set(compile ON)
    set(schedule_function ", \"${function}\"")
  endif()
  set(hooks ${SELVAGE_SCRATCH_HOOKS})
  string(REGEX MATCH "^(cuda|opencl)" gpu ${isa})
  if(gpu)
    list(APPEND hooks ${SELVAGE_DEVICE_HOOKS_${gpu}})
    set(folder ${own_kernels})
    set(compile ON)
  endif()
  set(own_generator ${generator})
  if(family STREQUAL winograd)
    set(own_generator winograd)
  endif()

  set(symbol selvage_${op}_${schedule}_${isa})
  set(base ${folder}/${symbol})
  # No runtime, no asserts and no bounds queries: Plan::run() has checked everything by then.
  set(target ${SELVAGE_TARGET_${isa}}-no_runtime-no_asserts-no_bounds_query-user_context)
  string(REGEX MATCH "^[a-z0-9]+-64-linux" architecture ${target})
  list(JOIN arguments " " words)
  string(APPEND SELVAGE_KERNEL_COMMANDS "${op}/${schedule}/${isa} ${program} "
                                        "-g ${own_generator} -f ${symbol} target=${target} ${type} ${words}\n")
  set(compiled OFF)
  if(SELVAGE_KERNELS AND architecture STREQUAL SELVAGE_ARCHITECTURE AND (NOT gpu OR isa IN_LIST SELVAGE_GPU_ISAS))
    set(compiled ON)
  endif()
  if(compiled AND compile)
    add_custom_command(
      OUTPUT ${base}.o ${base}.a ${base}.h
      COMMAND ${program} -g ${own_generator} -f ${symbol} -o ${folder} -e object,c_header
              target=${target} ${type} ${arguments}
      COMMAND ${CMAKE_OBJCOPY} ${hooks} ${base}.o
      COMMAND ${CMAKE_COMMAND} -E rm -f ${base}.a
      COMMAND ${CMAKE_AR} rcs ${base}.a ${base}.o
      DEPENDS ${program}
      COMMENT "Generating kernel ${op}/${schedule}/${isa}"
      VERBATIM)
  endif()

  # The row of a kernel that is not compiled stays, so that tools can tell what there could be; of those
  # for GPUs, which no tool chooses among, the command does.
  set(c_function nullptr)
  if(compiled)
    set(c_function ${symbol}_argv)
    if(gpu)
      list(APPEND SELVAGE_KERNEL_OBJECTS_${gpu} ${base}.o)
    else()
      list(APPEND SELVAGE_KERNEL_OBJECTS ${base}.o)
    endif()
    string(APPEND SELVAGE_KERNEL_DECLARATIONS "int ${c_function}(void **);\n")
  endif()
  string(CONCAT row "    {\"${op}\", \"${schedule}\", \"${isa}\", Family::${family}, ${lanes}, ${tile}, "
         "${vectors}, ${channel_block}, ${output_tile}, ${kernel}, ${stride}, ${widest_map}, ${fixed_multiplier}, ${border}, ${separable}, ${rate}, ${c_function}${schedule_function}},\n")
  if(compiled OR NOT gpu)
    string(APPEND SELVAGE_KERNEL_ROWS "${row}")
  endif()
  set(generator_line "    {\"${op}\", \"selvage_${kind}_generators\", \"${generator}\", \"${type}\"},\n")
  set(target_line "    {\"${isa}\", \"${architecture}\", \"${target}\"},\n")
  # Programs make kernels for CPUs alone.
  if(gpu)
    set(generator_line "")
    set(target_line "")
  endif()
  foreach(variable GENERATOR TARGET)
    string(TOLOWER ${variable}_line line)
    string(FIND "${SELVAGE_KERNEL_${variable}S}" "${${line}}" found)
    if(found EQUAL -1)
      string(APPEND SELVAGE_KERNEL_${variable}S "${${line}}")
    endif()
  endforeach()
  foreach(variable OBJECTS OBJECTS_cuda OBJECTS_opencl DECLARATIONS ROWS COMMANDS GENERATORS TARGETS)
    set(SELVAGE_KERNEL_${variable} "${SELVAGE_KERNEL_${variable}}" PARENT_SCOPE)
  endforeach()
endfunction()
