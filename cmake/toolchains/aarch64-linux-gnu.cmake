# Builds for 64-bit ARM on another machine, with Debian's g++-aarch64-linux-gnu. Tests of the app run
# under qemu-user-static where that is installed.

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

# Libraries are the target's. Programs are the build machine's, and so are packages that bring some, as
# selvage does.
set(CMAKE_FIND_ROOT_PATH /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)

find_program(SELVAGE_EMULATOR qemu-aarch64-static)
if(SELVAGE_EMULATOR)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${SELVAGE_EMULATOR};-L;/usr/aarch64-linux-gnu)
endif()
