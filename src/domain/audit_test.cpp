#include "domain/audit.h"

#include <gtest/gtest.h>

namespace holdfast::domain {
namespace {

const Time kThen = Time{std::chrono::seconds{1'800'000'000}};

Act cancel() {
    return {{"ann", "wrong customer", "127.0.0.1"},
            "task.cancel",
            "task:7",
            Json::parse(R"({"n":1})").value()};
}

Record recorded(const Act& act) {
    const Put put = audit_put(act, Uuid{1, 2}, kThen);
    return {put.header, *put.body, {}};
}

TEST(Audit, an_act_reads_back_as_it_was_written) {
    const AuditEntry entry = audit_entry(recorded(cancel()));
    EXPECT_EQ(entry.id, (Uuid{1, 2}));
    EXPECT_EQ(entry.at, kThen);
    EXPECT_EQ(entry.act.by.who, "ann");
    EXPECT_EQ(entry.act.by.why, "wrong customer");
    EXPECT_EQ(entry.act.by.address, "127.0.0.1");
    EXPECT_EQ(entry.act.action, "task.cancel");
    EXPECT_EQ(entry.act.target, "task:7");
    EXPECT_EQ(entry.act.detail.text(), R"({"n":1})");
}

TEST(Audit, what_an_entry_does_not_say_reads_as_nothing) {
    Record record = recorded(cancel());
    record.body = Bytes(R"({"who":"ann","action":"task.cancel","reason":null})");
    const AuditEntry entry = audit_entry(record);
    EXPECT_EQ(entry.act.by.who, "ann");
    EXPECT_EQ(entry.act.action, "task.cancel");
    EXPECT_EQ(entry.act.by.why, "");
    EXPECT_EQ(entry.act.by.address, "");
    EXPECT_EQ(entry.act.target, "");
    EXPECT_TRUE(entry.act.detail.is_null());
}

TEST(Audit, it_is_a_new_record_that_a_search_can_find) {
    const Put put = audit_put(cancel(), Uuid{1, 2}, kThen);
    EXPECT_EQ(put.expected_version, 0U);
    EXPECT_EQ(put.header.version, 1U);
    EXPECT_EQ(put.header.kind, Kind::audit);
    EXPECT_EQ(put.header.type, "task.cancel");
    EXPECT_EQ(put.header.labels, "\ntarget=task:7\nwho=ann\n");
    EXPECT_FALSE(is_set(put.header.wake_at));
}

TEST(Audit, a_name_with_line_breaks_makes_no_label_of_its_own) {
    Act act = cancel();
    act.by.who = "eve\nwho=ann";
    const Record record = recorded(act);
    EXPECT_EQ(record.header.labels, "\ntarget=task:7\nwho=eve who=ann\n");
    EXPECT_EQ(audit_entry(record).act.by.who, "eve\nwho=ann");
}

TEST(Audit, its_end_is_guarded_by_its_version) {
    const Put put = audit_end(recorded(cancel()).header, kThen);
    EXPECT_TRUE(put.erase);
    EXPECT_EQ(put.expected_version, 1U);
}

}  // namespace
}  // namespace holdfast::domain
