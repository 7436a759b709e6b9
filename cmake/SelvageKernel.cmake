# selvage_kernel(): from a row of the table to an object, an archive, a header and a table line.

# Where a kernel's temporaries come from, in place of Halide's own allocator.
set(SELVAGE_SCRATCH_HOOKS --redefine-sym halide_malloc=selvage_scratch_alloc
                          --redefine-sym halide_free=selvage_scratch_free)

set(SELVAGE_KERNEL_OBJECTS "")
set(SELVAGE_KERNEL_DECLARATIONS "")
set(SELVAGE_KERNEL_ROWS "")
set(SELVAGE_KERNEL_DIR ${CMAKE_BINARY_DIR}/kernels)

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
    if(NOT pair MATCHES "^rate=")
      string(REPLACE "family=" "schedule=" pair ${pair})
      list(APPEND arguments ${pair})
    endif()
  endforeach()
  if(NOT DEFINED SELVAGE_TARGET_${isa} OR NOT DEFINED SELVAGE_OP_${op})
    message(FATAL_ERROR "selvage_kernel(${op} ${schedule} ${isa}): unknown operator or instruction set")
  endif()
  set(type ${SELVAGE_OP_${op}})
  list(POP_FRONT type kind generator)

  set(symbol selvage_${op}_${schedule}_${isa})
  set(base ${SELVAGE_KERNEL_DIR}/${symbol})
  # No runtime, no asserts and no bounds queries: Plan::run() has checked everything by then.
  set(target ${SELVAGE_TARGET_${isa}}-no_runtime-no_asserts-no_bounds_query-user_context)
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

  list(APPEND SELVAGE_KERNEL_OBJECTS ${base}.o)
  string(APPEND SELVAGE_KERNEL_DECLARATIONS "int ${symbol}_argv(void **);\n")
  string(APPEND SELVAGE_KERNEL_ROWS
         "    {\"${op}\", \"${schedule}\", \"${isa}\", Family::${family}, ${lanes}, ${tile}, "
         "${vectors}, ${channel_block}, ${kernel}, ${stride}, ${fixed_multiplier}, ${border}, ${rate}, ${symbol}_argv},\n")
  foreach(variable OBJECTS DECLARATIONS ROWS)
    set(SELVAGE_KERNEL_${variable} "${SELVAGE_KERNEL_${variable}}" PARENT_SCOPE)
  endforeach()
endfunction()
