#include "http/dashboard.h"

#include <algorithm>
#include <boost/beast/zlib/inflate_stream.hpp>

#include "http/handlers.h"

namespace holdfast::http {
namespace {

/// Scripts and styles of our own only, and nothing else from anywhere.
constexpr std::string_view kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'self'; form-action 'none'; frame-ancestors 'none'";
constexpr std::string_view kBase = R"(<base href="/">)";

constexpr std::string_view kPlainPage = R"(<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Holdfast</title>
<h1>Holdfast is running</h1>
<p>This program was built without the dashboard.</p>
<ul>
<li><a href="/v1/queues">queues</a></li>
<li><a href="/v1/tasks">tasks</a></li>
<li><a href="/internal/tasks/suspended">suspended tasks</a></li>
<li><a href="/v1/workers">workers</a></li>
<li><a href="/v1/instances">instances</a></li>
<li><a href="/readyz">readiness</a></li>
<li><a href="/metrics">metrics</a></li>
<li><a href="/openapi.json">the API, described</a></li>
</ul>
<p>In a terminal: <code>holdfast top</code></p>
</html>
)";

/// What gzip wrote without its header (ten bytes: embed.mjs names no file) and trailer.
std::string unpacked(const DashboardFile& file) {
    constexpr std::size_t kHeader = 10;
    std::string out(file.size, '\0');
    boost::beast::zlib::inflate_stream stream;
    boost::beast::zlib::z_params state;
    state.next_in = file.gzip.data() + kHeader;
    state.avail_in = file.gzip.size() - kHeader;
    state.next_out = out.data();
    state.avail_out = out.size();
    boost::beast::error_code error;
    stream.write(state, boost::beast::zlib::Flush::finish, error);
    return out;
}

bool has_already(const Request& request, std::string_view etag) {
    const std::string_view known = request.header("if-none-match");
    return known == "*" || lists(known, etag);
}

void add_common(Response& response, std::string_view etag, bool immutable) {
    response.headers.emplace_back("ETag", etag);
    response.headers.emplace_back("Cache-Control",
                                  immutable ? "public, max-age=31536000, immutable" : "no-cache");
    response.headers.emplace_back("X-Content-Type-Options", "nosniff");
}

void guard(Response& response) {
    response.headers.emplace_back("Content-Security-Policy", kPolicy);
    response.headers.emplace_back("Referrer-Policy", "no-referrer");
}

/// "/holdfast/": a path and nothing else, because it goes into the page.
std::string prefix_of(const Request& request) {
    const std::string_view given = request.header("x-forwarded-prefix");
    const auto fits = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '/' || c == '-' || c == '_' || c == '.';
    };
    if (!given.starts_with('/') || given.starts_with("//") || given.size() > 200 ||
        !std::ranges::all_of(given, fits))
        return "/";
    return std::string(given) + (given.ends_with('/') ? "" : "/");
}

}  // namespace

const DashboardFile* find_file(std::string_view path) {
    const auto files = dashboard_files();
    const auto found = std::ranges::find(files, path, &DashboardFile::path);
    return found == files.end() ? nullptr : &*found;
}

Response file_response(const DashboardFile& file, const Request& request) {
    Response response{.content_type = file.type};
    add_common(response, file.etag, file.immutable);
    response.headers.emplace_back("Vary", "Accept-Encoding");
    if (has_already(request, file.etag)) {
        response.status = 304;
        return response;
    }
    if (lists(request.header("accept-encoding"), "gzip")) {
        response.headers.emplace_back("Content-Encoding", "gzip");
        response.body = file.gzip;
    } else {
        response.body = unpacked(file);
    }
    return response;
}

Response page_response(const DashboardFile& page, const Request& request) {
    const std::string prefix = prefix_of(request);
    Response response;
    if (prefix == "/") {
        response = file_response(page, request);
    } else {
        response.body = unpacked(page);
        response.content_type = page.type;
        if (const std::size_t at = response.body.find(kBase); at != std::string::npos)
            response.body.replace(at, kBase.size(), "<base href=\"" + prefix + "\">");
        response.headers.emplace_back("Cache-Control", "no-store");
    }
    guard(response);
    return response;
}

Answer get_page(Call call) {
    if (const DashboardFile* page = find_file("/index.html"))
        co_return page_response(*page, *call.request);
    Response response{.body = std::string(kPlainPage)};
    response.content_type = "text/html; charset=utf-8";
    guard(response);
    co_return response;
}

Answer get_asset(Call call) {
    if (const DashboardFile* file = find_file(call.request->path))
        co_return file_response(*file, *call.request);
    co_return refuse(Code::not_found, "the dashboard has no such file");
}

}  // namespace holdfast::http
