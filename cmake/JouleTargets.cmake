# The project's three kinds of target. Each shares one precompiled header with the others of its kind,
# since a file that includes MLIR on its own costs ten times what it costs with the header compiled once.

set(JOULE_ONNX_PROTO_ROOT "" CACHE PATH "Folder that holds onnx/onnx-ml.proto, as the onnx wheel installs it")

set(JOULE_WARNINGS -Wall -Wextra -Wno-unused-parameter -Werror)

# Everything is reached by its path in the repository: #include "dialects/Nn/NnDialect.h".
set(JOULE_INCLUDES ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR}/include)

# ccache sees through a precompiled header only where its time stamp is left out of it.
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
endif()

# Code that holds MLIR: no exceptions, asserts on.
function(joule_mlir_options target)
  target_include_directories(${target} SYSTEM PRIVATE ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
  target_include_directories(${target} PRIVATE ${JOULE_INCLUDES})
  target_compile_options(${target} PRIVATE -fno-exceptions -UNDEBUG ${JOULE_WARNINGS})
  target_compile_definitions(${target} PRIVATE ${LLVM_DEFINITIONS})
endfunction()

# joule_mlir_library(NAME SOURCES... [LINK libs...] [DEPENDS tablegen-targets...]). MLIR and LLVM are no part of LINK:
# who links the library decides whether they are shared or not.
function(joule_mlir_library name)
  cmake_parse_arguments(ARG "" "" "LINK;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  joule_mlir_options(${name})
  target_precompile_headers(${name} REUSE_FROM JouleMlirPch)
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()

# joule_mlir_executable(NAME SOURCES... [LINK libs...]): a tool on the shared MLIR and LLVM libraries.
function(joule_mlir_executable name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  joule_mlir_options(${name})
  # The precompiled header is made for libraries; an executable that shares it is compiled alike.
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${name} PRIVATE -fPIC)
  target_precompile_headers(${name} REUSE_FROM JouleMlirPch)
  target_link_libraries(${name} PRIVATE ${ARG_LINK} MLIR LLVM)
endfunction()

# Everything that is free of MLIR: what other compilers and the sanitizers build.
add_custom_target(joule-plain)

# What reads files that anybody may have made, for libFuzzer, which the preset asan turns on.
option(JOULE_FUZZERS "Build the fuzzers; the flags must hold fuzzer-no-link" OFF)
add_custom_target(joule-fuzzers)

# joule_library(NAME SOURCES... [LINK libs...]): plain C++ with exceptions, free of MLIR.
function(joule_library name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_include_directories(${name} PRIVATE ${JOULE_INCLUDES})
  target_compile_options(${name} PRIVATE ${JOULE_WARNINGS})
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  add_dependencies(joule-plain ${name})
endfunction()

# joule_executable(NAME SOURCES... [LINK libs...]): a plain C++ program.
function(joule_executable name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_include_directories(${name} PRIVATE ${JOULE_INCLUDES})
  target_compile_options(${name} PRIVATE ${JOULE_WARNINGS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
  if(NOT "MLIR" IN_LIST ARG_LINK)
    add_dependencies(joule-plain ${name})
  endif()
endfunction()

# joule_unit_test(NAME SOURCES... [LINK libs...]): a GoogleTest program under build/test/unit, which lit runs.
function(joule_unit_test name)
  cmake_parse_arguments(ARG "MLIR" "" "LINK" ${ARGN})
  if(ARG_MLIR)
    joule_mlir_executable(${name} ${ARG_UNPARSED_ARGUMENTS} LINK ${ARG_LINK} GTest::gtest GTest::gtest_main)
  else()
    joule_executable(${name} ${ARG_UNPARSED_ARGUMENTS} LINK ${ARG_LINK} GTest::gtest GTest::gtest_main)
  endif()
  # GoogleTest's macros hold an else of their own.
  target_compile_options(${name} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-dangling-else>)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test/unit)
endfunction()

# joule_fuzzer(NAME [MLIR] SOURCES... [LINK libs...]): a libFuzzer program, bin/NAME.
function(joule_fuzzer name)
  cmake_parse_arguments(ARG "MLIR" "" "LINK" ${ARGN})
  if(NOT JOULE_FUZZERS)
    return()
  endif()
  if(ARG_MLIR)
    joule_mlir_executable(${name} ${ARG_UNPARSED_ARGUMENTS} LINK ${ARG_LINK})
  else()
    joule_executable(${name} ${ARG_UNPARSED_ARGUMENTS} LINK ${ARG_LINK})
  endif()
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  add_dependencies(joule-fuzzers ${name})
endfunction()

# joule_tablegen(TARGET TD (OUTPUT FLAGS...)...): generates next to the .td's place in the build tree.
function(joule_tablegen target td)
  set(LLVM_TARGET_DEFINITIONS ${td})
  set(outputs)
  set(rest ${ARGN})
  while(rest)
    list(POP_FRONT rest output flags)
    separate_arguments(flags)
    mlir_tablegen(${output} ${flags} EXTRA_INCLUDES ${CMAKE_SOURCE_DIR} ${MLIR_INCLUDE_DIRS})
  endwhile()
  add_public_tablegen_target(${target})
endfunction()

# joule_proto(LIBRARY ROOT FILE): a library of the classes that protoc makes of ROOT/FILE. Lite ones, since others
# register themselves by name in a process, where two libraries of ours may hold a copy each.
function(joule_proto library root file)
  string(REGEX REPLACE "\\.proto$" "" stem ${file})
  set(out ${CMAKE_BINARY_DIR}/${stem}.pb)
  get_filename_component(folder ${out} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  add_custom_command(OUTPUT ${out}.cc ${out}.h
    COMMAND protobuf::protoc --proto_path=${root} --cpp_out=lite:${CMAKE_BINARY_DIR} ${root}/${file}
    DEPENDS ${root}/${file} VERBATIM)
  add_library(${library} STATIC ${out}.cc ${out}.h)
  target_include_directories(${library} SYSTEM PUBLIC ${CMAKE_BINARY_DIR})
  target_link_libraries(${library} PUBLIC protobuf::libprotobuf-lite)
endfunction()

file(WRITE ${CMAKE_BINARY_DIR}/empty.cpp.in "// Holds the precompiled header and nothing else.\n")
configure_file(${CMAKE_BINARY_DIR}/empty.cpp.in ${CMAKE_BINARY_DIR}/JouleMlirPch.cpp COPYONLY)
add_library(JouleMlirPch STATIC ${CMAKE_BINARY_DIR}/JouleMlirPch.cpp)
joule_mlir_options(JouleMlirPch)
target_precompile_headers(JouleMlirPch PRIVATE ${CMAKE_SOURCE_DIR}/cmake/MlirPch.h)
