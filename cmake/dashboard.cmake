# The dashboard's files as a source of TARGET, built from ui/ when something there changed; without HOLDFAST_UI, none.

function(holdfast_dashboard target)
  set(source "${CMAKE_CURRENT_BINARY_DIR}/dashboard_files.cpp")
  if(HOLDFAST_UI)
    file(GLOB_RECURSE files CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/ui/src/*" "${CMAKE_SOURCE_DIR}/ui/public/*")
    list(FILTER files EXCLUDE REGEX "\\.test\\.tsx?$")
    set(fixed index.html package-lock.json package.json vite.config.ts tsconfig.json tools/embed.mjs)
    list(TRANSFORM fixed PREPEND "${CMAKE_SOURCE_DIR}/ui/")
    add_custom_command(OUTPUT "${source}"
      COMMAND "${CMAKE_SOURCE_DIR}/tools/build_ui" "${CMAKE_BINARY_DIR}/ui" "${source}"
      DEPENDS ${files} ${fixed} "${CMAKE_SOURCE_DIR}/tools/build_ui"
      COMMENT "Building the dashboard"
      VERBATIM)
  else()
    file(GENERATE OUTPUT "${source}" CONTENT "#include \"http/dashboard.h\"
namespace holdfast::http {
std::span<const DashboardFile> dashboard_files() { return {}; }
}  // namespace holdfast::http
")
  endif()
  target_sources(${target} PRIVATE "${source}")
endfunction()
