# What `cmake --install` writes: a tree that can be moved as a whole. Component `runtime` is the
# library with its kernels; component `tool` is the program and the generators, for
# selvage_add_kernel(). Headers, package config and licences belong to both.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/selvage)
set(doc_dir ${CMAKE_INSTALL_DATADIR}/doc/selvage)

configure_package_config_file(cmake/selvageConfig.cmake.in ${PROJECT_BINARY_DIR}/selvageConfig.cmake
                              INSTALL_DESTINATION ${package_dir}
                              PATH_VARS CMAKE_INSTALL_INCLUDEDIR
                              NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
# Minor versions below 1.0.0 may change everything.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/selvageConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)

function(selvage_install_common component)
  install(DIRECTORY runtime/selvage ${PROJECT_BINARY_DIR}/include/selvage
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT ${component}
          FILES_MATCHING PATTERN *.h)
  install(FILES ${PROJECT_BINARY_DIR}/selvageConfig.cmake
                ${PROJECT_BINARY_DIR}/selvageConfigVersion.cmake
                cmake/SelvageArchitectures.cmake
          DESTINATION ${package_dir} COMPONENT ${component})
  install(FILES LICENSE DESTINATION ${doc_dir} RENAME copyright COMPONENT ${component})
  install(FILES THIRD-PARTY-LICENSES DESTINATION ${doc_dir} COMPONENT ${component})
  # What an app reads and builds; what checks or makes these pages needs the checkout.
  install(FILES README.md DESTINATION ${doc_dir} COMPONENT ${component})
  install(DIRECTORY docs DESTINATION ${doc_dir} COMPONENT ${component}
          FILES_MATCHING REGEX "[.](md|png|svg)$")
  install(DIRECTORY demos DESTINATION ${doc_dir} COMPONENT ${component}
          PATTERN build EXCLUDE PATTERN showcase EXCLUDE REGEX "demos/CMakeLists[.]txt$" EXCLUDE)
endfunction()

if(SELVAGE_KERNELS)
  selvage_install_common(runtime)
  install(TARGETS selvage EXPORT selvageRuntime-${SELVAGE_ARCHITECTURE} COMPONENT runtime)
  if(NOT BUILD_SHARED_LIBS)
    install(TARGETS ${SELVAGE_KERNEL_LIBRARY} ${SELVAGE_GPU_LIBRARIES} EXPORT selvageRuntime-${SELVAGE_ARCHITECTURE}
            COMPONENT runtime)
  endif()
  # Named after the architecture, so that the tool of another one can lie beside it.
  install(EXPORT selvageRuntime-${SELVAGE_ARCHITECTURE} NAMESPACE selvage:: DESTINATION ${package_dir}
          COMPONENT runtime)

  if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
    set(prefix ${CMAKE_INSTALL_PREFIX})
  else()
    file(RELATIVE_PATH prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
    string(PREPEND prefix "\${pcfiledir}/")
  endif()
  foreach(dir LIBDIR INCLUDEDIR)
    set(${dir} "\${prefix}")
    cmake_path(APPEND ${dir} "${CMAKE_INSTALL_${dir}}") # an absolute one replaces the prefix
  endforeach()
  set(libraries -lselvage)
  if(NOT BUILD_SHARED_LIBS)
    # A program in C links the archives without a compiler of C++.
    list(TRANSFORM SELVAGE_GPU_LIBRARIES PREPEND " -l" OUTPUT_VARIABLE gpu_libraries)
    string(APPEND libraries ${gpu_libraries} " -l${SELVAGE_KERNEL_LIBRARY} -lstdc++ -lm")
    get_target_property(options selvage INTERFACE_LINK_OPTIONS)
    string(REPLACE "LINKER:" "-Wl," options "${options} ")
    string(PREPEND libraries "${options}")
  endif()
  configure_file(cmake/selvage.pc.in ${PROJECT_BINARY_DIR}/selvage.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/selvage.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
          COMPONENT runtime)
endif()

if(SELVAGE_TOOL)
  selvage_install_common(tool)
  # The program looks for the generators in ../libexec/selvage, and they for libHalide beside them.
  cmake_path(APPEND generator_dir "${CMAKE_INSTALL_BINDIR}" ../libexec/selvage)
  cmake_path(NORMAL_PATH generator_dir)
  set(generators selvage_conv_generators selvage_window_generators)
  if(SELVAGE_EXTRA_SCHEDULES)
    list(APPEND generators selvage_extra_generators)
  endif()
  install(TARGETS selvage_tool EXPORT selvageTool COMPONENT tool)
  install(TARGETS ${generators} EXPORT selvageTool DESTINATION ${generator_dir} COMPONENT tool)
  install(FILES $<TARGET_FILE:Halide::Halide> DESTINATION ${generator_dir} COMPONENT tool)
  install(EXPORT selvageTool NAMESPACE selvage:: DESTINATION ${package_dir} COMPONENT tool)
  install(FILES cmake/SelvageAddKernel.cmake cmake/SelvageKernelArguments.cmake
          DESTINATION ${package_dir} COMPONENT tool)
  install(DIRECTORY cmake/toolchains DESTINATION ${package_dir} COMPONENT tool)
endif()
