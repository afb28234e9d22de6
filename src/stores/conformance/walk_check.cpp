// What must hold after every step of a walk.
#include "domain/decide.h"
#include "stores/conformance/conformance.h"
#include "stores/conformance/walk.h"

namespace holdfast::stores::conformance {

void Walk::check() {
    for (const Uuid& id : touched_) {
        const Known& known = known_.at(id);
        EXPECT_EQ(difference(suite_.load(id), known.record), "") << "stored; expected";
        if (suite_.can(Ability::history)) {
            const auto rows = suite_.history(known.record.header.key());
            EXPECT_EQ(rows.size(), known.history.size());
            EXPECT_EQ(rows, known.history);
        }
    }
    if (suite_.can(Ability::list)) check_rows();
    if (suite_.can(Ability::permits)) check_permits();
    if (suite_.can(Ability::feed)) check_feed();
}

void Walk::check_rows() {
    const std::vector<ListRow> rows = suite_.list_all();
    EXPECT_EQ(rows.size(), known_.size());
    for (const ListRow& row : rows) {
        const Header& h = row.header;
        const Known& known = known_.at(h.id);
        EXPECT_EQ(difference(h, known.record.header), "") << "listed; expected";
        // Where it stands: in a lane, or with a timer, or parked, or finished.
        EXPECT_EQ(row.in_lane, h.state == State::queued) << h.id.text();
        const bool rests = domain::is_parked(h.state) || domain::is_final(h.state);
        if (rests) EXPECT_FALSE(is_set(h.wake_at)) << h.id.text();
        if (!rests && !row.in_lane) EXPECT_TRUE(is_set(h.wake_at)) << h.id.text() << " is lost";
    }
    if (suite_.can(Ability::stats)) check_counts(rows);
}

void Walk::check_counts(const std::vector<ListRow>& rows) {
    Counted counted;
    CountedFailures failures;
    for (const ListRow& row : rows) {
        const Header& h = row.header;
        ++counted[{h.queue, h.type, h.state}];
        if (h.fingerprint != 0) ++failures[{h.fingerprint, h.state}];
    }
    EXPECT_EQ(suite_.counts(), counted);
    EXPECT_EQ(suite_.failures(), failures);
}

void Walk::check_permits() {
    for (const char* gate : {"one", "two"}) {
        const auto held = holders(&Header::gate, &Header::holds_gate, gate);
        EXPECT_EQ(suite_.tally(Tally::Of::permit, gate), static_cast<std::int64_t>(held)) << gate;
        EXPECT_LE(held, std::string_view(gate) == "one" ? 1U : 2U);
    }
    const auto held = holders(&Header::queue, &Header::holds_queue_permit, "narrow");
    EXPECT_EQ(suite_.tally(Tally::Of::permit, domain::queue_permit("narrow")),
              static_cast<std::int64_t>(held));
    EXPECT_LE(held, 3U);
}

void Walk::check_feed() {
    for (domain::FeedEvent& event : suite_.read_feed(cursor_)) {
        auto& seen = seen_[event.subject.id];
        if (seen.empty() || seen.back() != event) seen.push_back(std::move(event));
    }
    EXPECT_EQ(seen_.size(), known_.size());
    for (const Uuid& id : touched_) EXPECT_EQ(seen_[id], known_.at(id).events) << id.text();
    for (const auto& [id, seen] : seen_)
        EXPECT_EQ(seen.size(), known_.at(id).events.size()) << id.text();
}

namespace {

TEST_P(Models, P2_P11_P17_P24_P29_P34_random_steps_and_the_store_is_what_a_model_says) {
    constexpr std::uint64_t kSeeds = 20;
    constexpr int kSteps = 200;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        start_over();
        Walk walk(*this, seed);
        for (int i = 0; i < kSteps; ++i) {
            SCOPED_TRACE("step " + std::to_string(i));
            walk.step();
            if (HasFailure()) return;
        }
        if (can(Ability::time_control)) walk.finish();
        if (HasFailure()) return;
    }
}

}  // namespace
}  // namespace holdfast::stores::conformance
