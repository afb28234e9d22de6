#include "domain/change.h"

#include <gtest/gtest.h>

#include "base/packing.h"
#include "base/rng.h"

namespace holdfast::domain {
namespace {

std::string random_text(Rng& rng) {
    std::string text(rng.below(rng.chance(0.1) ? 5000 : 20), '\0');
    for (char& c : text) c = static_cast<char>(rng());
    return text;
}

Transition random_transition(Rng& rng) {
    return {static_cast<Event>(rng.below(kEvents)),
            static_cast<State>(rng.below(kStates)),
            static_cast<State>(rng.below(kStates)),
            static_cast<std::uint32_t>(rng()),
            Time{Duration{static_cast<std::int64_t>(rng() >> rng.below(64))}},
            random_text(rng),
            random_text(rng),
            Bytes(random_text(rng))};
}

Header random_subject(Rng& rng) {
    Header h;
    h.id = {rng(), rng()};
    h.kind = static_cast<Kind>(rng.below(kKinds));
    h.version = rng();
    h.queue = random_text(rng);
    h.type = random_text(rng);
    h.tenant = random_text(rng);
    return h;
}

TEST(History, comes_back_as_it_was_packed) {
    Rng rng(1);
    for (int round = 0; round < 300; ++round) {
        std::vector<Transition> rows(rng.below(10));
        std::string packed;
        for (Transition& t : rows) {
            t = random_transition(rng);
            pack(packed, t);
        }
        ASSERT_EQ(unpack_history(packed), rows);
    }
}

TEST(Feed, events_and_notes_come_back_as_they_were_packed) {
    Rng rng(2);
    for (int round = 0; round < 300; ++round) {
        std::vector<FeedEvent> expected;
        std::string packed;
        for (std::uint64_t n = rng.below(10); n > 0; --n) {
            if (rng.chance(0.3)) {
                const Note note{
                    {Kind::plan, {rng(), rng()}}, random_text(rng), Bytes(random_text(rng))};
                const Time at{Duration{static_cast<std::int64_t>(rng.below(1U << 30))}};
                pack_note(packed, note, at);
                FeedEvent& event = expected.emplace_back();
                event.subject = note.subject;
                event.name = note.name;
                event.at = at;
                event.data = note.data;
                continue;
            }
            const Header h = random_subject(rng);
            const Transition t = random_transition(rng);
            pack_event(packed, h, t);
            expected.push_back({h.key(), h.version, std::string(to_string(t.event)), t.from, t.to,
                                t.attempt, t.at, h.queue, h.type, h.tenant, t.message, t.error});
        }
        ASSERT_EQ(unpack_events(packed), expected);
    }
}

TEST(History, cut_anywhere_gives_the_whole_rows_before_the_cut) {
    Rng rng(3);
    std::string packed;
    std::vector<std::size_t> ends;
    for (int i = 0; i < 5; ++i) {
        pack(packed, random_transition(rng));
        ends.push_back(packed.size());
    }
    for (std::size_t size = 0; size <= packed.size(); ++size) {
        const auto whole = static_cast<std::size_t>(
            std::ranges::count_if(ends, [&](std::size_t end) { return end <= size; }));
        ASSERT_EQ(unpack_history(std::string_view(packed).substr(0, size)).size(), whole) << size;
    }
}

TEST(Packed, rows_that_were_damaged_do_no_harm) {
    Rng rng(4);
    for (int round = 0; round < 3000; ++round) {
        std::string packed;
        for (int i = 0; i < 3; ++i) {
            pack(packed, random_transition(rng));
            pack_event(packed, random_subject(rng), random_transition(rng));
        }
        for (int i = 0; i < 5; ++i) packed[rng.below(packed.size())] = static_cast<char>(rng());
        for (const Transition& t : unpack_history(packed)) {
            ASSERT_LT(static_cast<std::size_t>(t.from), kStates);
            ASSERT_LT(static_cast<std::size_t>(t.event), kEvents);
        }
        for (const FeedEvent& e : unpack_events(packed)) {
            ASSERT_LT(static_cast<std::size_t>(e.to), kStates);
            ASSERT_LT(static_cast<std::size_t>(e.subject.kind), kKinds);
        }
    }
}

TEST(Packed, numbers_of_a_later_version_read_as_none) {
    std::string packed;
    Packer(packed).number(200).number(200).number(200).number(1).number(1).text("m").text("").text(
        "");
    const auto rows = unpack_history(packed);
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows[0].event, Event::none);
    EXPECT_EQ(rows[0].from, State::none);
    EXPECT_EQ(rows[0].message, "m");

    packed.clear();
    Packer(packed).number(200).number(200).number(1).number(2).number(3).number(0).number(0);
    Packer(packed).number(0).number(0).text("q").text("").text("").text("").text("");
    const auto events = unpack_events(packed);
    ASSERT_EQ(events.size(), 1U);
    EXPECT_EQ(events[0].name, "none");
    EXPECT_EQ(events[0].subject.kind, Kind::task);
    EXPECT_EQ(events[0].queue, "q");
}

TEST(Permits, of_a_queue_cannot_be_mistaken_for_a_concurrency_key) {
    EXPECT_EQ(queue_permit("default"), "queue:default");
}

}  // namespace
}  // namespace holdfast::domain
