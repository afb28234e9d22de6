#include "stores/redis/codec.h"

#include <gtest/gtest.h>

#include "domain/policy.h"
#include "stores/redis/feed.h"

namespace holdfast::stores::redis {
namespace {

using namespace std::chrono_literals;

Header back(const Header& h) {
    const std::string ref = ref_of(h.key());
    const std::string wake = std::to_string(micros(h.wake_at));
    const std::string hot = encode_hot(h);
    const std::string cold = encode_cold(h);
    return decode_header({ref, domain::to_string(h.state), hot, cold, wake, h.attempt}).value();
}

Header waiting_task() {
    Header h;
    h.id = Uuid::named(Partition{7}, "task");
    h.state = State::queued;
    h.version = 1;
    h.nonce = 0x0123'4567'89ab'cdefU;
    h.created_at = h.updated_at = Time{1'794'848'324'105'123us};
    h.queue = "default";
    h.type = "email.send";
    h.policy = domain::format_policy({});
    return h;
}

TEST(HeaderInRedis, comes_back_as_it_was_written) {
    Header h = waiting_task();
    EXPECT_EQ(back(h), h);
    h.kind = domain::Kind::plan;
    h.state = State::running;
    h.epoch = domain::Epoch{micros(h.updated_at) - 5};
    h.attempt = 3;
    h.started_at = h.updated_at;  // relative to itself: not the same as none
    h.lease_until = h.wake_at = h.updated_at + 30s;
    h.progress = 0.25F;
    h.policy = "max=7";
    h.labels = "\na=b\n";
    h.retry_count = 2;
    h.finished_at = h.created_at + 1us;
    EXPECT_EQ(back(h), h);
}

// A listpack holds values of up to 64 bytes on a server that nobody has set up.
TEST(HeaderInRedis, of_a_usual_task_fits_into_a_listpack) {
    Header h = waiting_task();
    EXPECT_LE(encode_hot(h).size(), 64U);
    EXPECT_LE(encode_cold(h).size(), 64U);
    h.state = State::running;
    h.nonce = 0;  // of a claim
    h.worker = "worker-1.example.com/4711";
    h.epoch = domain::Epoch{micros(h.updated_at)};
    h.lease_granted = 30s;
    h.lease_until = h.updated_at + 30s;
    h.started_at = h.updated_at;
    EXPECT_LE(encode_hot(h).size(), 64U);
}

TEST(HeaderInRedis, the_default_policy_is_kept_as_a_number) {
    Header h = waiting_task();
    const std::size_t usual = encode_cold(h).size();
    h.policy = domain::format_policy({.max = 4});
    EXPECT_GT(encode_cold(h).size(), usual + 50) << "a new default? then add it to kUsualPolicies";
}

TEST(HeaderInRedis, nonsense_is_no_header) {
    const Header h = waiting_task();
    const std::string ref = ref_of(h.key());
    const std::string hot = encode_hot(h);
    const std::string cold = encode_cold(h);
    EXPECT_FALSE(decode_header({ref, "queued", hot.substr(1), cold, "0", 0}));
    EXPECT_FALSE(decode_header({ref, "queued", hot, cold.substr(0, cold.size() - 2), "0", 0}));
    EXPECT_FALSE(decode_header({ref, "happy", hot, cold, "0", 0}));
    EXPECT_FALSE(decode_header({"task", "queued", hot, cold, "0", 0}));
}

TEST(RefsInRedis, name_a_record_of_each_kind) {
    const Uuid id = Uuid::named(Partition{7}, "x");
    for (std::size_t k = 0; k < domain::kKinds; ++k) {
        const Key key{static_cast<domain::Kind>(k), id};
        EXPECT_EQ(key_of(ref_of(key)), key);
    }
    EXPECT_FALSE(key_of(id.text() + ":cat"));
    EXPECT_FALSE(key_of(""));
}

TEST(FeedCursors, come_back_as_they_were_and_others_are_refused) {
    const std::vector<FeedPlace> places{{{1794848324105, 3}, std::nullopt}, {{0, 0}, 5}};
    const std::string cursor = format_cursor(places);
    EXPECT_EQ(cursor, "1794848324105-3,0-0+5");
    EXPECT_EQ(parse_cursor(cursor, 2), places);
    for (const std::string_view wrong :
         {"", "1", "1-2", "1-2,", "1-2,3-4,5-6", "1-2,3-4x", "a-b,c-d"})
        EXPECT_FALSE(parse_cursor(wrong, 2)) << wrong;
}

}  // namespace
}  // namespace holdfast::stores::redis
