# selvage_add_kernel(): a kernel with the numbers of one layer fixed, as a library of the app's build.
# The reference is docs/selvage_add_kernel.md.
#
# For each architecture `selvage kernel` writes a header, a wrapper in C++ and an object for each
# instruction set. The build's compiler makes a library of its own architecture's, cross compilers make
# archives of the others'.

cmake_policy(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/SelvageArchitectures.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/SelvageKernelArguments.cmake)

set(SELVAGE_KERNEL_CACHE ${CMAKE_BINARY_DIR}/selvage_kernel_cache
    CACHE PATH "Where kernels that were made are kept; build trees may share it")

# From the values of TARGETS. Sets in the caller's scope
#   host           the architecture of the build; empty if there are no kernels for it
#   architectures  those to make, each with
#   isas_NAME      its instruction sets
function(_selvage_read_targets)
  set(all_x86-64-linux sse41 avx2 avx512)
  set(all_arm-64-linux neon)
  selvage_read_architectures()
  set(host "${SELVAGE_ARCHITECTURE}")
  # A target may be spelled as Halide spells its architecture, with -linux.
  list(TRANSFORM targets REPLACE "^(.+-64)-linux" "\\1" OUTPUT_VARIABLE wanted)

  set(allowed "")
  set(architectures "")
  foreach(architecture ${SELVAGE_ARCHITECTURES})
    string(REPLACE -linux "" short ${architecture})
    list(APPEND allowed ${short})
    set(isas "")
    foreach(isa ${all_${architecture}})
      list(APPEND allowed ${short}-${isa})
      if(short IN_LIST wanted OR "${short}-${isa}" IN_LIST wanted
         OR ("host" IN_LIST wanted AND architecture STREQUAL host))
        list(APPEND isas ${isa})
      endif()
    endforeach()
    if(isas)
      list(APPEND architectures ${architecture})
    endif()
    set(isas_${architecture} "${isas}" PARENT_SCOPE)
  endforeach()

  string(JOIN ", " shown ${allowed})
  foreach(target short IN ZIP_LISTS targets wanted)
    if(target STREQUAL "host" AND NOT host)
      _selvage_fail("TARGETS host: there are no kernels for ${CMAKE_SYSTEM_NAME} on \
'${CMAKE_SYSTEM_PROCESSOR}'; there are ${shown}")
    elseif(target MATCHES "cuda|opencl|metal|vulkan")
      _selvage_fail("TARGETS ${target}: there are no kernels for GPUs yet; there are host, ${shown}")
    elseif(NOT target STREQUAL "host" AND NOT short IN_LIST allowed)
      _selvage_fail("TARGETS ${target}: must be of host, ${shown}")
    endif()
  endforeach()
  set(host "${host}" PARENT_SCOPE)
  set(architectures "${architectures}" PARENT_SCOPE)
endfunction()

# What makes archives: the build's own tools, or for another architecture those of a cross compiler.
# Sets in the caller's scope `objcopy`, and for another architecture `compiler` and `ar`.
function(_selvage_find_tools architecture)
  if(architecture STREQUAL host)
    set(objcopy "${CMAKE_OBJCOPY}" PARENT_SCOPE)
    return()
  endif()
  selvage_read_architectures()
  set(processor ${SELVAGE_PROCESSOR_${architecture}})
  string(REPLACE _ - package g++-${processor}-linux-gnu)
  set(variable SELVAGE_CXX_${architecture})
  find_program(${variable} ${processor}-linux-gnu-g++ DOC "C++ compiler for kernels of ${architecture}")
  set(compiler "${${variable}}")
  if(NOT compiler)
    _selvage_fail("TARGETS ${architecture}: no ${processor}-linux-gnu-g++ found; install Debian's \
${package}, or set ${variable} to a compiler for it")
  endif()
  execute_process(COMMAND ${compiler} -dumpmachine RESULT_VARIABLE result OUTPUT_VARIABLE machine
                  ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT result EQUAL 0 OR NOT machine MATCHES "^${processor}-")
    set(fault "compiles for '${machine}'")
    if(NOT result EQUAL 0)
      set(fault "does not run")
    endif()
    _selvage_fail("${variable}=${compiler} ${fault}; must be a C++ compiler for ${processor}, such as \
Debian's ${package}")
  endif()
  set(compiler "${compiler}" PARENT_SCOPE)
  foreach(tool ar objcopy)
    execute_process(COMMAND ${compiler} -print-prog-name=${tool} OUTPUT_VARIABLE path
                    OUTPUT_STRIP_TRAILING_WHITESPACE)
    set(${tool} "${path}" PARENT_SCOPE)
  endforeach()
endfunction()

# A command of the build that makes the kernel of one architecture. Sets in the caller's scope `folder`,
# `header`, `wrapper` (C++) and `objects`.
function(_selvage_generate architecture)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/selvage_kernels/${name}/${architecture})
  set(header ${folder}/${name}.h)
  set(wrapper ${folder}/${name}.cpp)
  set(objects "")
  set(weights "")
  set(command kernel ${name} ${problem} ${options} --target ${architecture})
  foreach(isa ${isas_${architecture}})
    list(APPEND command --isa ${isa})
    list(APPEND objects ${folder}/${name}_${isa}.o)
    list(APPEND weights ${folder}/${name}_${isa}.weights)
  endforeach()

  # A program that was there before this build can judge the whole command.
  get_target_property(imported selvage::tool IMPORTED)
  if(imported)
    get_target_property(program selvage::tool LOCATION)
    execute_process(COMMAND ${program} ${command} --check
                    RESULT_VARIABLE result ERROR_VARIABLE error OUTPUT_QUIET)
    if(NOT result MATCHES "^[0-9]+$")
      _selvage_fail("${program} does not run here: ${result}")
    elseif(NOT result EQUAL 0)
      # The line in the words of the call.
      string(REGEX REPLACE "^selvage: |\n$" "" error "${error}")
      string(REGEX REPLACE "^(planes|rows|columns): size" "IN, \\1: size" error "${error}")
      foreach(keyword SAME SCHEDULE WEIGHTS BIAS)
        string(TOLOWER --${keyword} option)
        string(REPLACE "${option}" ${keyword} error "${error}")
      endforeach()
      _selvage_fail("${error}")
    endif()
  endif()

  # make does not notice that a command has changed, but that this file has.
  file(GENERATE OUTPUT ${folder}/${name}.command CONTENT "${command}\n")
  if(NOT "--weights" IN_LIST options)
    set(weights "")
  endif()
  add_custom_command(
    OUTPUT ${header} ${wrapper} ${objects} ${weights}
    COMMAND $<TARGET_FILE:selvage::tool> ${command} -o ${folder} --cache ${SELVAGE_KERNEL_CACHE}
            --generators $<TARGET_FILE_DIR:selvage::conv_generators> --objcopy ${objcopy}
    DEPENDS ${folder}/${name}.command ${files} selvage::tool selvage::conv_generators
            selvage::window_generators
    COMMENT "Making kernel ${name} for ${architecture}"
    VERBATIM)
  # The wrapper takes the weights in as they are.
  set_source_files_properties(${wrapper} PROPERTIES OBJECT_DEPENDS "${weights}")
  foreach(variable folder header wrapper objects)
    set(${variable} "${${variable}}" PARENT_SCOPE)
  endforeach()
endfunction()

# Makes the library of the build's own architecture.
function(_selvage_add_library)
  add_library(${name}-wrapper OBJECT ${wrapper})
  target_compile_features(${name}-wrapper PRIVATE cxx_std_17)
  target_compile_options(${name}-wrapper PRIVATE ${wrapper_options})
  target_include_directories(${name}-wrapper PRIVATE ${folder})
  target_link_libraries(${name}-wrapper PRIVATE selvage::headers)
  # As the kernels' objects, it goes into shared libraries too.
  set_target_properties(${name}-wrapper PROPERTIES
                        INTERPROCEDURAL_OPTIMIZATION OFF POSITION_INDEPENDENT_CODE ON
                        CXX_CLANG_TIDY "" CXX_CPPCHECK "" CXX_CPPLINT "" CXX_INCLUDE_WHAT_YOU_USE "")

  # A library with sources in C++ makes CMake link programs in C with libstdc++. The object taken as a
  # file does not; nor does it need its local symbols, whose names are long.
  set(object ${folder}/${name}.o)
  add_custom_command(
    OUTPUT ${object}
    COMMAND ${objcopy} --strip-unneeded $<TARGET_OBJECTS:${name}-wrapper> ${object}
    DEPENDS ${name}-wrapper $<TARGET_OBJECTS:${name}-wrapper>
    COMMENT "Taking the wrapper of kernel ${name}"
    VERBATIM)
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  set(language CXX)
  if("C" IN_LIST languages)
    set(language C)
  endif()
  add_library(${name} STATIC ${object} ${objects} ${header})
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE ${language} PUBLIC_HEADER ${header})
  target_include_directories(${name} INTERFACE $<BUILD_INTERFACE:${folder}>)
  target_link_libraries(${name} INTERFACE $<BUILD_INTERFACE:selvage::headers>)
  if(problem MATCHES "^lp_pool")
    target_link_libraries(${name} INTERFACE m)
  endif()
endfunction()

# Makes the archive of another architecture, of the target NAME-ARCHITECTURE.
function(_selvage_add_archive architecture)
  set(archive ${CMAKE_CURRENT_BINARY_DIR}/lib${name}-${architecture}.a)
  set(object ${folder}/${name}.o)
  add_custom_command(
    OUTPUT ${archive}
    BYPRODUCTS ${object}
    COMMAND ${compiler} -std=c++17 -fPIC ${wrapper_options} -I${folder}
            "-I$<JOIN:$<TARGET_PROPERTY:selvage::headers,INTERFACE_INCLUDE_DIRECTORIES>,;-I>"
            -MD -MQ ${archive} -MF ${object}.d -c ${wrapper} -o ${object}
    COMMAND ${objcopy} --strip-unneeded ${object}
    COMMAND ${CMAKE_COMMAND} -E rm -f ${archive}
    COMMAND ${ar} rcs ${archive} ${object} ${objects}
    DEPENDS ${wrapper} ${objects}
    DEPFILE ${object}.d
    COMMENT "Compiling kernel ${name} for ${architecture}"
    COMMAND_EXPAND_LISTS VERBATIM)
  add_custom_target(${name}-${architecture} ALL DEPENDS ${archive})
  include(GNUInstallDirs)
  install(FILES ${archive} DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${architecture})
endfunction()

function(selvage_add_kernel name)
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if(NOT name MATCHES "^[A-Za-z_][A-Za-z0-9_]*$")
    _selvage_fail("the name must be an identifier of C")
  elseif(TARGET ${name})
    _selvage_fail("there is a target of this name already")
  endif()
  # Headers have guards and sizes in capitals.
  string(TOUPPER ${name} capitals)
  get_property(other GLOBAL PROPERTY selvage_kernel_${capitals})
  if(other)
    _selvage_fail("the header of kernel ${other} has macros of the same names, ${capitals}_...")
  endif()
  set_property(GLOBAL PROPERTY selvage_kernel_${capitals} ${name})
  if(NOT "CXX" IN_LIST languages)
    _selvage_fail("the wrapper of a kernel is C++: add CXX to the LANGUAGES of project()")
  elseif(NOT TARGET selvage::tool)
    _selvage_fail("there is no program to make kernels with: find_package(selvage CONFIG REQUIRED \
COMPONENTS tool) first")
  endif()
  _selvage_read_arguments(${name} ${ARGN})
  _selvage_read_targets()
  # Small, and without libstdc++, whose checks would call it; objcopy and .incbin want an object now, not
  # when the program is linked. Constants that a linker may merge need a symbol each, 2,000 bytes of an
  # archive in all; jump tables take 500. What the app wants to be warned of does not concern generated
  # code.
  set(wrapper_options -Os -fno-exceptions -fno-rtti -fno-asynchronous-unwind-tables -fno-lto
                      -fno-merge-constants -fno-jump-tables -fno-ident -U_GLIBCXX_ASSERTIONS
                      -U_GLIBCXX_DEBUG -fvisibility=hidden -w)
  foreach(architecture ${architectures})
    _selvage_find_tools(${architecture})
    _selvage_generate(${architecture})
    if(architecture STREQUAL host)
      _selvage_add_library()
    else()
      _selvage_add_archive(${architecture})
    endif()
  endforeach()
endfunction()
