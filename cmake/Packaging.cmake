# `cpack -G DEB` and `cpack -G TGZ` write one package with both components.
set(CPACK_PACKAGE_NAME selvage)
set(CPACK_PACKAGE_VENDOR "the selvage authors")
set(CPACK_PACKAGE_CONTACT "the selvage authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_DESCRIPTION
    "A library of ahead-of-time compiled kernels for CPUs, with pads, phases and border modes as
run-time arguments, and the program that compiles kernels of an application's own, for
selvage_add_kernel() in its CMake build.")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_VERBATIM_VARIABLES ON)

set(CPACK_ARCHIVE_COMPONENT_INSTALL OFF)
set(CPACK_SYSTEM_NAME ${SELVAGE_PROCESSOR_${SELVAGE_ARCHITECTURE}}-linux)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# What apps are built with, and selvage_add_kernel() runs.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "cmake (>= 3.25), g++, binutils")
include(CPack)
