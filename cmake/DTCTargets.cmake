# Flags and helper functions shared by every target of the project.

find_program(DTC_CCACHE ccache)
if(DTC_CCACHE)
  # What ccache must overlook to cache files that use a precompiled header.
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${DTC_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()
option(DTC_PRECOMPILE_HEADERS "Precompile the dialect's headers (2.5 times faster builds)" ON)

add_library(dtc_flags INTERFACE)
target_compile_options(dtc_flags INTERFACE -Wall -Wextra -Wno-unused-parameter)
if(DTC_ENABLE_WERROR)
  target_compile_options(dtc_flags INTERFACE -Werror)
endif()
if(DTC_BUILD_FUZZERS)
  set(DTC_SANITIZE address,undefined)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
if(DTC_SANITIZE)
  add_compile_options(-fsanitize=${DTC_SANITIZE} -fno-omit-frame-pointer)
  if(DTC_SANITIZE MATCHES undefined)
    # LLVM's own libraries are not instrumented: checks of types at run time
    # would meet objects that they do not know. The others end the program.
    set(no_types -fno-sanitize=vptr,function)
    add_compile_options(${no_types} -fno-sanitize-recover=undefined)
    add_link_options(${no_types})
  endif()
  add_link_options(-fsanitize=${DTC_SANITIZE})

  # What the sanitizers are told at run time, unless the environment says
  # otherwise. LLVM is not instrumented: memory that its allocators hand out
  # looks poisoned.
  set(suppressions suppressions=${CMAKE_SOURCE_DIR}/cmake/sanitizers)
  set(DTC_SANITIZER_OPTIONS
    ASAN_OPTIONS=allow_user_poisoning=0:strict_string_checks=1
    LSAN_OPTIONS=${suppressions}/lsan.supp:print_suppressions=0
    UBSAN_OPTIONS=print_stacktrace=1
    TSAN_OPTIONS=${suppressions}/tsan.supp:halt_on_error=1)
  # ctest reads this file before anything else, and tests inherit what it sets.
  set(custom "")
  foreach(option ${DTC_SANITIZER_OPTIONS})
    string(REGEX MATCH "^([^=]+)=(.*)$" all ${option})
    string(APPEND custom "if(NOT DEFINED ENV{${CMAKE_MATCH_1}})\n"
      "  set(ENV{${CMAKE_MATCH_1}} \"${CMAKE_MATCH_2}\")\nendif()\n")
  endforeach()
  file(WRITE ${CMAKE_BINARY_DIR}/CTestCustom.cmake "${custom}")
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  add_link_options(-fuse-ld=lld)
endif()

# Seconds that a quick test may take; under sanitizers all take about eight times
# as long.
set(DTC_QUICK_LIMIT 600)
if(DTC_SANITIZE)
  set(DTC_QUICK_LIMIT 1800)
endif()

# Compiler-side code sees LLVM's and MLIR's headers as system headers, so that
# warnings are the project's own.
add_library(dtc_mlir INTERFACE)
target_include_directories(dtc_mlir SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
target_compile_definitions(dtc_mlir INTERFACE ${LLVM_DEFINITIONS_LIST})
target_link_libraries(dtc_mlir INTERFACE dtc_flags MLIR LLVM)

# The dialect's headers, compiled once for every library that includes them.
if(DTC_PRECOMPILE_HEADERS)
  file(WRITE ${CMAKE_BINARY_DIR}/dtc_headers.cpp "// Carries the precompiled headers.\n")
  add_library(dtc_headers STATIC ${CMAKE_BINARY_DIR}/dtc_headers.cpp)
  target_link_libraries(dtc_headers PUBLIC dtc_mlir)
  target_precompile_headers(dtc_headers PRIVATE ${CMAKE_SOURCE_DIR}/include/dtc/Dialect/DTC/IR/DTC.h)
  if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
    target_compile_options(dtc_headers PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  endif()
  add_dependencies(dtc_headers DTCIncGen)
endif()
function(dtc_use_precompiled_headers target)
  if(DTC_PRECOMPILE_HEADERS)
    target_precompile_headers(${target} REUSE_FROM dtc_headers)
    if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
      target_compile_options(${target} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
    endif()
  endif()
endfunction()

# dtc_add_mlir_library(Name sources... [DEPENDS targets...] [LINK libraries...])
# A static library of compiler code. One that depends on the dialect uses its
# precompiled headers.
function(dtc_add_mlir_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC dtc_mlir ${ARG_LINK})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  if("DTCIncGen" IN_LIST ARG_DEPENDS OR "DTCDialect" IN_LIST ARG_LINK)
    dtc_use_precompiled_headers(${name})
  endif()
endfunction()

# dtc_add_tool(name sources... LINK libraries...)
function(dtc_add_tool name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
endfunction()

# dtc_add_unittest(Name sources... LINK libraries... [LABELS labels...])
# A GoogleTest program and its ctest test, unit-<Name>, quick unless labelled
# otherwise.
function(dtc_add_unittest name)
  cmake_parse_arguments(ARG "" "" "LINK;LABELS" ${ARGN})
  find_package(GTest REQUIRED)
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/unittests)
  target_link_libraries(${name} PRIVATE ${ARG_LINK} dtc_flags GTest::gtest GTest::gtest_main)
  add_test(NAME unit-${name} COMMAND ${name})
  if(NOT ARG_LABELS)
    set(ARG_LABELS quick)
  endif()
  set_tests_properties(unit-${name} PROPERTIES LABELS "${ARG_LABELS}"
    TIMEOUT ${DTC_QUICK_LIMIT})
endfunction()

# dtc_add_benchmark(name sources... LINK libraries...)
# A Google Benchmark program with a main of its own.
function(dtc_add_benchmark name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  find_package(benchmark REQUIRED)
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} dtc_flags benchmark::benchmark)
endfunction()
