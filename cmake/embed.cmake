# Files as constants of a program: holdfast_embed(TARGET FUNCTION FILE…) adds a source to TARGET that defines
# `std::string_view FUNCTION(std::string_view name)`, which gives a file's text by its name without folder and extension.
# FUNCTION is written with its namespace. As a script (cmake -P) this file writes that source, at build time.

function(holdfast_embed target function)
  set(source "${CMAKE_CURRENT_BINARY_DIR}/${target}_embedded.cpp")
  set(files ${ARGN})
  list(TRANSFORM files PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/")
  string(REPLACE ";" "," joined "${files}")
  add_custom_command(OUTPUT "${source}"
    COMMAND ${CMAKE_COMMAND} "-DSOURCE=${source}" "-DFUNCTION=${function}" "-DFILES=${joined}"
            -P "${CMAKE_SOURCE_DIR}/cmake/embed.cmake"
    DEPENDS ${files} "${CMAKE_SOURCE_DIR}/cmake/embed.cmake"
    VERBATIM)
  target_sources(${target} PRIVATE "${source}")
endfunction()

if(CMAKE_SCRIPT_MODE_FILE AND DEFINED SOURCE)
  string(REPLACE "," ";" FILES "${FILES}")
  string(REGEX REPLACE "::[^:]+$" "" namespace "${FUNCTION}")
  string(REGEX REPLACE "^.*::" "" name "${FUNCTION}")
  set(branches "")
  foreach(file IN LISTS FILES)
    get_filename_component(stem "${file}" NAME_WE)
    file(READ "${file}" text)
    string(APPEND branches "    if (name == \"${stem}\") return R\"embedded(${text})embedded\";\n")
  endforeach()
  file(WRITE "${SOURCE}" "#include <string_view>\nnamespace ${namespace} {\n"
    "std::string_view ${name}(std::string_view name);\n"
    "std::string_view ${name}(std::string_view name) {\n${branches}    return {};\n}\n}\n")
endif()
