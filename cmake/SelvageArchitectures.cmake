# The architectures that there are kernels for. Sets in the caller's scope
#   SELVAGE_ARCHITECTURES    their names, as Halide spells them
#   SELVAGE_PROCESSOR_NAME   what compilers call the processor of one
#   SELVAGE_ARCHITECTURE     the one that this build compiles for; empty if there is none
macro(selvage_read_architectures)
  set(SELVAGE_ARCHITECTURES x86-64-linux arm-64-linux)
  set(SELVAGE_PROCESSOR_x86-64-linux x86_64)
  set(SELVAGE_PROCESSOR_arm-64-linux aarch64)
  set(SELVAGE_ARCHITECTURE "")
  if("${CMAKE_SYSTEM_NAME} ${CMAKE_SYSTEM_PROCESSOR}" MATCHES "^Linux (x86_64|amd64|AMD64)$")
    set(SELVAGE_ARCHITECTURE x86-64-linux)
  elseif("${CMAKE_SYSTEM_NAME} ${CMAKE_SYSTEM_PROCESSOR}" MATCHES "^Linux (aarch64|arm64)$")
    set(SELVAGE_ARCHITECTURE arm-64-linux)
  endif()
endmacro()
