# A room is a folder of src/: one static library from its *.cpp, its unit tests from its *_test.cpp.
# Which room may include which is checked by tools/check_doors, not by link lines. TEST_USES: what only its tests need.

function(holdfast_room name)
  cmake_parse_arguments(room "" "DIR" "USES;TEST_USES" ${ARGN})
  if(NOT room_DIR)
    set(room_DIR ${name})
  endif()
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/src/${room_DIR}/*.cpp" "${CMAKE_SOURCE_DIR}/src/${room_DIR}/ports/*.cpp")
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  add_library(holdfast_${name} STATIC ${sources})
  target_include_directories(holdfast_${name} PUBLIC "${CMAKE_SOURCE_DIR}/src")
  target_link_libraries(holdfast_${name} PUBLIC holdfast_options ${room_USES})
  holdfast_precompiled(holdfast_${name})

  file(GLOB tests CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/src/${room_DIR}/*_test.cpp" "${CMAKE_SOURCE_DIR}/src/${room_DIR}/ports/*_test.cpp")
  if(tests)
    holdfast_test(${name}_test SOURCES ${tests} USES holdfast_${name} ${room_TEST_USES})
  endif()
endfunction()

function(holdfast_test name)
  cmake_parse_arguments(test "" "" "SOURCES;USES" ${ARGN})
  add_executable(${name} ${test_SOURCES})
  target_link_libraries(${name} PRIVATE ${test_USES} GTest::gtest GTest::gtest_main)
  holdfast_unoptimised(${name})
  target_precompile_headers(${name} REUSE_FROM holdfast_test_pch)
endfunction()

# What is tested is optimised, the tests are not: that halves the time to compile them.
function(holdfast_unoptimised target)
  target_compile_options(${target} PRIVATE -O0 -U_FORTIFY_SOURCE)
endfunction()

# Three precompiled headers serve the tree: the standard library for `domain`, the same with Asio for the rest, and with
# GoogleTest for tests.
function(holdfast_precompiled target)
  if(target STREQUAL "holdfast_pch" OR target STREQUAL "holdfast_pure_pch")
    return()
  endif()
  if(target MATCHES "^(holdfast_)?domain(_test)?$")
    target_precompile_headers(${target} REUSE_FROM holdfast_pure_pch)
  else()
    target_precompile_headers(${target} REUSE_FROM holdfast_pch)
  endif()
endfunction()
