# selvage_kernel(): from a row of the table to a table line and, for the architecture of the build, an
# object, an archive and a header.

# Where a kernel's temporaries come from, in place of Halide's own allocator.
set(SELVAGE_SCRATCH_HOOKS --redefine-sym halide_malloc=selvage_scratch_alloc
                          --redefine-sym halide_free=selvage_scratch_free)

set(SELVAGE_KERNEL_OBJECTS "")
set(SELVAGE_KERNEL_DECLARATIONS "")
set(SELVAGE_KERNEL_ROWS "")
# What programs that run generators need to know: once for each operator and each instruction set.
set(SELVAGE_KERNEL_GENERATORS "")
set(SELVAGE_KERNEL_TARGETS "")
# Where kernels lie: compiled here, or by another build tree.
if(compile_kernels)
  set(SELVAGE_KERNEL_DIR ${PROJECT_BINARY_DIR}/kernels)
  file(MAKE_DIRECTORY ${SELVAGE_KERNEL_DIR})
else()
  set(SELVAGE_KERNEL_DIR ${SELVAGE_KERNELS})
endif()

function(selvage_kernel op schedule isa)
  # The defaults are those of the generators.
  set(family reference)
  set(lanes 1)
  set(tile 1)
  set(vectors 1)
  set(channel_block 1)
  set(kernel 0)
  set(stride 0)
  set(fixed_multiplier 0)
  set(border true)
  set(rate 100)
  set(arguments "")
  foreach(pair ${ARGN})
    if(NOT pair MATCHES "^(family|lanes|tile|vectors|channel_block|kernel|stride|border|fixed_multiplier|rate)=(.+)$")
      message(FATAL_ERROR "selvage_kernel(${op} ${schedule} ${isa}): unknown parameter ${pair}")
    endif()
    set(${CMAKE_MATCH_1} ${CMAKE_MATCH_2})
    if(NOT pair MATCHES "^(kernel|stride|rate)=")
      string(REPLACE "family=" "schedule=" pair ${pair})
      list(APPEND arguments ${pair})
    endif()
  endforeach()
  # Rows that fix the kernel are for undilated ones.
  if(kernel)
    list(APPEND arguments fixed_kernel_x=${kernel} fixed_kernel_y=${kernel} fixed_dilation_x=1 fixed_dilation_y=1)
  endif()
  if(stride)
    list(APPEND arguments fixed_stride_x=${stride} fixed_stride_y=${stride})
  endif()
  if(NOT DEFINED SELVAGE_TARGET_${isa} OR NOT DEFINED SELVAGE_OP_${op})
    message(FATAL_ERROR "selvage_kernel(${op} ${schedule} ${isa}): unknown operator or instruction set")
  endif()
  set(type ${SELVAGE_OP_${op}})
  list(POP_FRONT type kind generator)

  set(symbol selvage_${op}_${schedule}_${isa})
  set(base ${SELVAGE_KERNEL_DIR}/${symbol})
  # No runtime, no asserts and no bounds queries: Plan::run() has checked everything by then.
  set(target ${SELVAGE_TARGET_${isa}}-no_runtime-no_asserts-no_bounds_query-user_context)
  string(REGEX MATCH "^[a-z0-9]+-64-linux" architecture ${target})
  set(compiled OFF)
  if(SELVAGE_KERNELS AND architecture STREQUAL "x86-64-linux")
    set(compiled ON)
  endif()
  if(compiled AND compile_kernels)
    add_custom_command(
      OUTPUT ${base}.o ${base}.a ${base}.h
      COMMAND selvage_${kind}_generators -g ${generator} -f ${symbol} -o ${SELVAGE_KERNEL_DIR} -e object,c_header
              target=${target} ${type} ${arguments}
      COMMAND ${CMAKE_OBJCOPY} ${SELVAGE_SCRATCH_HOOKS} ${base}.o
      COMMAND ${CMAKE_COMMAND} -E rm -f ${base}.a
      COMMAND ${CMAKE_AR} rcs ${base}.a ${base}.o
      DEPENDS selvage_${kind}_generators
      COMMENT "Generating kernel ${op}/${schedule}/${isa}"
      VERBATIM)
  endif()

  # The row of a kernel that is not compiled stays, so that tools can tell what there could be.
  set(function nullptr)
  if(compiled)
    set(function ${symbol}_argv)
    list(APPEND SELVAGE_KERNEL_OBJECTS ${base}.o)
    string(APPEND SELVAGE_KERNEL_DECLARATIONS "int ${function}(void **);\n")
  endif()
  string(APPEND SELVAGE_KERNEL_ROWS
         "    {\"${op}\", \"${schedule}\", \"${isa}\", Family::${family}, ${lanes}, ${tile}, "
         "${vectors}, ${channel_block}, ${kernel}, ${stride}, ${fixed_multiplier}, ${border}, ${rate}, ${function}},\n")
  set(generator_line "    {\"${op}\", \"selvage_${kind}_generators\", \"${generator}\", \"${type}\"},\n")
  set(target_line "    {\"${isa}\", \"${architecture}\", \"${target}\"},\n")
  foreach(variable GENERATOR TARGET)
    string(TOLOWER ${variable}_line line)
    string(FIND "${SELVAGE_KERNEL_${variable}S}" "${${line}}" found)
    if(found EQUAL -1)
      string(APPEND SELVAGE_KERNEL_${variable}S "${${line}}")
    endif()
  endforeach()
  foreach(variable OBJECTS DECLARATIONS ROWS GENERATORS TARGETS)
    set(SELVAGE_KERNEL_${variable} "${SELVAGE_KERNEL_${variable}}" PARENT_SCOPE)
  endforeach()
endfunction()
