#include "stores/sqlite/header_codec.h"

#include <gtest/gtest.h>

#include "base/rng.h"

namespace holdfast::stores::sqlite {
namespace {

std::string random_text(Rng& rng) {
    std::string text(rng.below(20), ' ');
    for (char& c : text) c = static_cast<char>(rng.below(256));
    return text;
}
Time random_time(Rng& rng) {
    return rng.chance(0.3) ? kNoTime : Time{Duration{rng.below(std::uint64_t{1} << 60)}};
}

/// Anything that fits into the fields.
domain::Header random_header(Rng& rng) {
    domain::Header h;
    h.priority = static_cast<std::uint8_t>(rng.below(10));
    h.ended_by = static_cast<domain::Event>(rng.below(domain::kEvents));
    for (bool* flag : {&h.pause_requested, &h.cancel_requested, &h.until_signal, &h.signal_pending,
                       &h.lane_by_type, &h.holds_gate, &h.holds_queue_permit})
        *flag = rng.chance(0.5);
    for (std::uint16_t* number :
         {&h.retry_count, &h.crashes, &h.revision, &h.checkpoints, &h.signals})
        *number = static_cast<std::uint16_t>(rng());
    h.attempt = static_cast<std::uint32_t>(rng());
    h.gate_limit = static_cast<std::uint32_t>(rng());
    h.progress = static_cast<float>(rng.unit() * 2 - 1);
    h.version = rng();
    h.nonce = rng();
    h.fingerprint = rng();
    h.epoch = domain::Epoch{static_cast<std::int64_t>(rng.below(std::uint64_t{1} << 60))};
    h.lease = Duration{rng.below(std::uint64_t{1} << 60)};
    h.lease_granted = Duration{rng.below(std::uint64_t{1} << 60)};
    for (Time* t : {&h.created_at, &h.updated_at, &h.started_at, &h.finished_at, &h.run_at,
                    &h.due_at, &h.deadline, &h.lease_until, &h.wake_at})
        *t = random_time(rng);
    h.tenant = random_text(rng);
    h.policy = random_text(rng);
    for (std::string* text : {&h.gate, &h.worker, &h.labels, &h.note}) *text = random_text(rng);
    return h;
}

TEST(HeaderCodec, what_is_packed_is_read_back) {
    Rng rng(1);
    Names names;
    for (int i = 0; i < 2000; ++i) {
        const domain::Header h = random_header(rng);
        domain::Header back;
        ASSERT_TRUE(unpack_header(pack_header(h, names), names, back));
        ASSERT_EQ(h, back) << "header " << i;
    }
}

TEST(HeaderCodec, an_empty_header_is_read_back) {
    Names names;
    domain::Header back;
    back.note = "of before";
    ASSERT_TRUE(unpack_header(pack_header({}, names), names, back));
    EXPECT_EQ(back, domain::Header{});
}

TEST(HeaderCodec, every_truncation_is_refused) {
    Rng rng(2);
    Names names;
    for (int i = 0; i < 200; ++i) {
        const std::string packed = pack_header(random_header(rng), names);
        for (std::size_t size = 0; size < packed.size(); ++size) {
            domain::Header back;
            ASSERT_FALSE(unpack_header(packed.substr(0, size), names, back)) << size;
        }
    }
}

TEST(HeaderCodec, what_follows_a_header_is_refused) {
    Names names;
    domain::Header back;
    EXPECT_FALSE(unpack_header(pack_header({}, names) + 'x', names, back));
}

TEST(HeaderCodec, damage_is_refused_or_gives_values_that_are_in_their_ranges) {
    Rng rng(3);
    Names names;
    for (int i = 0; i < 20'000; ++i) {
        std::string packed = pack_header(random_header(rng), names);
        for (std::uint64_t flips = 1 + rng.below(3); flips > 0; --flips)
            packed[rng.below(packed.size())] = static_cast<char>(rng());
        domain::Header back;
        if (!unpack_header(packed, names, back)) continue;
        ASSERT_LT(back.priority, 10);
        ASSERT_LT(static_cast<std::size_t>(back.ended_by), domain::kEvents);
    }
}

TEST(HeaderCodec, another_form_is_refused) {
    Names names;
    std::string packed = pack_header({}, names);
    packed[0] = 2;
    domain::Header back;
    EXPECT_FALSE(unpack_header(packed, names, back));
}

}  // namespace
}  // namespace holdfast::stores::sqlite
