// The dashboard's files, built into the program, and how they are served.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "http/message.h"

namespace holdfast::http {

struct DashboardFile {
    std::string_view path;  ///< "/index.html"
    std::string_view type;
    std::string_view etag;
    std::string_view gzip;
    std::size_t size = 0;    ///< When it is unpacked.
    bool immutable = false;  ///< Its name changes with what is in it.
};

/// Written at build time by ui/tools/embed.mjs; none: the program was built without a dashboard.
std::span<const DashboardFile> dashboard_files();

/// None: there is no such file.
const DashboardFile* find_file(std::string_view path);

/// As the request can take it: compressed or not, or 304 when it has it already.
Response file_response(const DashboardFile& file, const Request& request);

/// The page itself; X-Forwarded-Prefix says where a proxy shows it.
Response page_response(const DashboardFile& page, const Request& request);

}  // namespace holdfast::http
