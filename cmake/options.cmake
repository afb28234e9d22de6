set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
# One code model for libraries, programs and precompiled headers: clang refuses to mix them.
add_compile_options(-fPIE)
add_link_options(-pie)

if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang" OR CMAKE_CXX_COMPILER_VERSION VERSION_LESS 19)
  message(FATAL_ERROR "Holdfast builds with clang 19 or newer (use a preset: cmake --preset release)")
endif()

set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1")
set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g1")
set(CMAKE_CXX_FLAGS_SANITIZE "-O1 -gline-tables-only")   # instrumented code takes long enough to compile

add_library(holdfast_options INTERFACE)
target_compile_options(holdfast_options INTERFACE
  -Wall -Wextra -Wpedantic -Werror -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor
  -Woverloaded-virtual -Wimplicit-fallthrough -Wextra-semi -fstack-protector-strong
  -Xclang -fno-pch-timestamp)   # so that ccache may reuse precompiled headers
target_link_options(holdfast_options INTERFACE -fuse-ld=lld)
# Asio: coroutines only, no separate threads behind our back, no deprecated names.
target_compile_definitions(holdfast_options INTERFACE
  BOOST_ASIO_NO_DEPRECATED BOOST_ASIO_DISABLE_BOOST_COROUTINE)

if(HOLDFAST_SANITIZE)
  target_compile_options(holdfast_options INTERFACE
    -fsanitize=${HOLDFAST_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(holdfast_options INTERFACE -fsanitize=${HOLDFAST_SANITIZE})
elseif(CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo")
  target_compile_options(holdfast_options INTERFACE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
endif()
if(HOLDFAST_FUZZ)
  target_compile_options(holdfast_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(HOLDFAST_COVERAGE)
  target_compile_options(holdfast_options INTERFACE -fprofile-instr-generate -fcoverage-mapping
    -fprofile-list=${CMAKE_SOURCE_DIR}/cmake/coverage.list)
  target_link_options(holdfast_options INTERFACE -fprofile-instr-generate)
endif()
