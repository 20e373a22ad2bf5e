# Flags and helper functions shared by every target of the project.

find_program(DTC_CCACHE ccache)
if(DTC_CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER ${DTC_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${DTC_CCACHE})
endif()

add_library(dtc_flags INTERFACE)
target_compile_options(dtc_flags INTERFACE -Wall -Wextra -Wno-unused-parameter)
if(DTC_ENABLE_WERROR)
  target_compile_options(dtc_flags INTERFACE -Werror)
endif()
if(DTC_SANITIZE)
  add_compile_options(-fsanitize=${DTC_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${DTC_SANITIZE})
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  add_link_options(-fuse-ld=lld)
endif()

# Compiler-side code sees LLVM's and MLIR's headers as system headers, so that
# warnings are the project's own.
add_library(dtc_mlir INTERFACE)
target_include_directories(dtc_mlir SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
target_compile_definitions(dtc_mlir INTERFACE ${LLVM_DEFINITIONS_LIST})
target_link_libraries(dtc_mlir INTERFACE dtc_flags MLIR LLVM)

# dtc_add_mlir_library(Name sources... [DEPENDS targets...] [LINK libraries...])
# A static library of compiler code.
function(dtc_add_mlir_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC dtc_mlir ${ARG_LINK})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
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
  set_tests_properties(unit-${name} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT 600)
endfunction()
