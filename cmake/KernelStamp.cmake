# Compiled kernels know their sources: kernels/stamp, written once all of them are there, has the hash of
# each. A build that takes kernels of another tree compares, since only kernels and dispatcher of one
# version fit together.
file(GLOB_RECURSE sources RELATIVE ${PROJECT_SOURCE_DIR}
     ${PROJECT_SOURCE_DIR}/generators/*.cpp ${PROJECT_SOURCE_DIR}/generators/*.h
     ${PROJECT_SOURCE_DIR}/schedules/*.h)
list(APPEND sources runtime/selvage/core/winograd.h cmake/Kernels.cmake cmake/SelvageKernel.cmake generators/CMakeLists.txt)
set(hash_sources ${CMAKE_COMMAND} -E sha256sum ${sources})
set(SELVAGE_KERNEL_STAMP ${SELVAGE_KERNEL_DIR}/stamp)

if(compile_kernels)
  list(TRANSFORM sources PREPEND ${PROJECT_SOURCE_DIR}/)
  add_custom_command(
    OUTPUT ${SELVAGE_KERNEL_STAMP}
    COMMAND ${hash_sources} > ${SELVAGE_KERNEL_STAMP}
    DEPENDS ${SELVAGE_KERNEL_OBJECTS} ${sources}
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    COMMENT "Stamping the kernels"
    VERBATIM)
elseif(SELVAGE_KERNELS)
  execute_process(COMMAND ${hash_sources} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
                  OUTPUT_VARIABLE wanted)
  set(found "")
  if(EXISTS ${SELVAGE_KERNEL_STAMP})
    file(READ ${SELVAGE_KERNEL_STAMP} found)
  endif()
  list(GET SELVAGE_KERNEL_OBJECTS 0 first)
  if(NOT found STREQUAL wanted OR NOT EXISTS ${first})
    message(FATAL_ERROR "SELVAGE_KERNELS is '${SELVAGE_KERNELS}', which holds no kernels for ${SELVAGE_ARCHITECTURE} "
                        "compiled from these sources: it must be the folder kernels/ of a complete build tree of them")
  endif()
endif()
