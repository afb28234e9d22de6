#include "http/dashboard.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace holdfast::http {
namespace {

std::string header_of(const Response& response, std::string_view name) {
    const auto found = std::ranges::find(response.headers, name,
                                         [](const auto& h) { return std::string_view(h.first); });
    return found == response.headers.end() ? std::string{} : found->second;
}

class Dashboard : public testing::Test {
  protected:
    void SetUp() override {
        if (dashboard_files().empty()) GTEST_SKIP() << "built without the dashboard";
        page_ = find_file("/index.html");
        ASSERT_NE(page_, nullptr);
    }
    const DashboardFile* page_ = nullptr;
};

TEST_F(Dashboard, whoever_cannot_unpack_gets_the_same_bytes_unpacked) {
    for (const DashboardFile& file : dashboard_files()) {
        const Response plain = file_response(file, Request{});
        EXPECT_EQ(header_of(plain, "Content-Encoding"), "") << file.path;
        EXPECT_EQ(plain.body.size(), file.size) << file.path;
        EXPECT_EQ(plain.body.find('\0'), std::string::npos) << file.path;
        Request request;
        request.headers = {{"Accept-Encoding", "gzip, br"}};
        const Response packed = file_response(file, request);
        EXPECT_EQ(header_of(packed, "Content-Encoding"), "gzip") << file.path;
        EXPECT_EQ(packed.body, file.gzip) << file.path;
    }
}

TEST_F(Dashboard, a_browser_that_has_a_file_is_not_sent_it_again) {
    Request request;
    request.headers = {{"If-None-Match", page_->etag}};
    const Response response = file_response(*page_, request);
    EXPECT_EQ(response.status, 304);
    EXPECT_TRUE(response.body.empty());
    EXPECT_EQ(header_of(response, "ETag"), page_->etag);
}

TEST_F(Dashboard, what_has_a_hash_in_its_name_is_kept_for_good_and_the_page_never) {
    EXPECT_EQ(header_of(file_response(*page_, {}), "Cache-Control"), "no-cache");
    const auto files = dashboard_files();
    const auto script =
        std::ranges::find_if(files, [](const DashboardFile& f) { return f.path.ends_with(".js"); });
    ASSERT_NE(script, files.end());
    EXPECT_NE(header_of(file_response(*script, {}), "Cache-Control").find("immutable"),
              std::string::npos);
}

TEST_F(Dashboard, the_page_allows_no_script_but_its_own_and_asks_nobody_else) {
    const Response response = page_response(*page_, Request{});
    const std::string policy = header_of(response, "Content-Security-Policy");
    EXPECT_NE(policy.find("default-src 'none'"), std::string::npos);
    EXPECT_EQ(policy.find("unsafe"), std::string::npos);
    EXPECT_EQ(response.body.find("http://"), std::string::npos);
    EXPECT_EQ(response.body.find("https://"), std::string::npos);
}

TEST_F(Dashboard, behind_a_proxy_the_page_knows_its_folder) {
    Request request;
    request.headers = {{"X-Forwarded-Prefix", "/tools/holdfast"}};
    EXPECT_NE(page_response(*page_, request).body.find(R"(<base href="/tools/holdfast/">)"),
              std::string::npos);
}

TEST_F(Dashboard, a_prefix_that_is_no_path_does_not_reach_the_page) {
    for (const std::string_view given : {"\"><script>", "//evil.example", "holdfast", "/a b"}) {
        Request request;
        request.headers = {{"X-Forwarded-Prefix", given}};
        EXPECT_NE(page_response(*page_, request).body.find(R"(<base href="/">)"), std::string::npos)
            << given;
    }
}

}  // namespace
}  // namespace holdfast::http
