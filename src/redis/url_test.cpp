#include <gtest/gtest.h>

#include <string>

#include "redis/redis.h"

namespace holdfast::redis {
namespace {

using Mode = Options::Mode;

std::string shown(std::string_view url) {
    const auto options = parse_url(url);
    if (!options) {
        EXPECT_EQ(options.error().code, Code::invalid_argument);
        EXPECT_EQ(options.error().field, "url");
        return options.error().detail;
    }
    constexpr std::string_view kModes[] = {"single", "cluster", "sentinel"};
    std::string all(kModes[static_cast<std::size_t>(options->mode)]);
    for (const Address& address : options->addresses) all += " " + to_string(address);
    if (!options->service.empty()) all += " service=" + options->service;
    if (!options->user.empty()) all += " user=" + options->user;
    if (!options->password.empty()) all += " password=" + options->password;
    if (options->database != 0) all += " database=" + std::to_string(options->database);
    if (options->tls) all += " tls";
    if (!options->ca_file.empty()) all += " ca=" + options->ca_file;
    return all;
}

TEST(redis_url, every_form_is_understood) {
    EXPECT_EQ(shown("redis://localhost"), "single localhost:6379");
    EXPECT_EQ(shown("redis://localhost/"), "single localhost:6379");
    EXPECT_EQ(shown("redis://10.0.0.1:7000/3"), "single 10.0.0.1:7000 database=3");
    EXPECT_EQ(shown("redis://[::1]:7000"), "single [::1]:7000");
    EXPECT_EQ(shown("redis://[::1]"), "single [::1]:6379");
    EXPECT_EQ(shown("redis://:secret@h"), "single h:6379 password=secret");
    EXPECT_EQ(shown("redis://mary:p%40%2fss@h"), "single h:6379 user=mary password=p@/ss");
    EXPECT_EQ(shown("redis://mary:p@ss@h"), "single h:6379 user=mary password=p@ss");
    EXPECT_EQ(shown("rediss://h?ca=/etc/my%20ca.pem"), "single h:6379 tls ca=/etc/my ca.pem");
    EXPECT_EQ(shown("redis-cluster://a:1,b:2,c"), "cluster a:1 b:2 c:6379");
    EXPECT_EQ(shown("rediss-cluster://u:p@a"), "cluster a:6379 user=u password=p tls");
    EXPECT_EQ(shown("redis-sentinel://a,b:2/main/4"),
              "sentinel a:26379 b:2 service=main database=4");
}

TEST(redis_url, what_is_wrong_is_named) {
    EXPECT_TRUE(shown("http://h").contains("redis://"));
    EXPECT_TRUE(shown("redis:h").contains("redis://"));
    EXPECT_TRUE(shown("").contains("redis://"));
    EXPECT_TRUE(shown("redis://").contains("host is missing"));
    EXPECT_TRUE(shown("redis://:secret@").contains("host is missing"));
    EXPECT_TRUE(shown("redis-cluster://a,,b").contains("host is missing"));
    EXPECT_TRUE(shown("redis://h:port").contains("port"));
    EXPECT_TRUE(shown("redis://h:0").contains("port"));
    EXPECT_TRUE(shown("redis://h:65536").contains("port"));
    EXPECT_TRUE(shown("redis://h:").contains("port"));
    EXPECT_TRUE(shown("redis://[::1").contains("]"));
    EXPECT_TRUE(shown("redis://[::1]7000").contains(":port"));
    EXPECT_TRUE(shown("redis://a,b").contains("redis-cluster://"));
    EXPECT_TRUE(shown("redis://h/x").contains("database"));
    EXPECT_TRUE(shown("redis://h/-1").contains("database"));
    EXPECT_TRUE(shown("redis://h/1/2").contains("too much"));
    EXPECT_TRUE(shown("redis-cluster://h/1").contains("only database 0"));
    EXPECT_TRUE(shown("redis-sentinel://h").contains("service"));
    EXPECT_TRUE(shown("redis://h?x=1").contains("ca=FILE"));
    EXPECT_TRUE(shown("redis://h?ca=f").contains("rediss://"));
    EXPECT_TRUE(shown("rediss://h?ca=").contains("no file"));
    EXPECT_TRUE(shown("redis://mary@h").contains("without a password"));
    EXPECT_TRUE(shown("redis://:%4@h").contains("hex digits"));
    EXPECT_TRUE(shown("redis://:%zz@h").contains("hex digits"));
    EXPECT_TRUE(shown("redis://" + std::string(5000, 'h')).contains("4096"));
}

TEST(redis_url, no_part_of_what_may_be_a_password_is_repeated) {
    for (const std::string_view url :
         {"redis://:se/cret@h", "redis://mary:sec:cret@h:x", "redis://se:cret", "redis://se?cret@h",
          "redis://mary:cret@h:99999999", "redis://mary:%cret@h", "cret://x", "redis://h/cret"})
        EXPECT_FALSE(shown(url).contains("cret")) << url;
}

TEST(redis_slot, a_slot_is_that_of_the_braces_or_of_all) {
    EXPECT_EQ(slot_of("123456789"), 0x31C3 % 16384);
    EXPECT_EQ(slot_of("foo"), 12182);
    EXPECT_EQ(slot_of("{user}.name"), slot_of("user"));
    EXPECT_EQ(slot_of("{user}.name"), slot_of("{user}.mail"));
    EXPECT_NE(slot_of("{}.a"), slot_of("{}.b"));
    EXPECT_EQ(slot_of("a{{b}}"), slot_of("{b"));
}

TEST(redis_script, the_digest_is_what_the_server_computes) {
    EXPECT_EQ(Script("one", "return 1").digest(), "e0e1f9fabfc9d4800c877a703b823ac0578ff8db");
}

}  // namespace
}  // namespace holdfast::redis
