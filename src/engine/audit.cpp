// What operators did, written down with the act and read back.
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "engine/engine.h"

namespace holdfast::engine {
namespace {

constexpr std::size_t kAuditsAtOnce = 1000;

}  // namespace

domain::Put Engine::audited(const domain::Act& act, Partition partition, Time at) {
    return domain::audit_put(act, mint_.mint(partition, at), at);
}

std::shared_ptr<const domain::Act> Engine::act_on(const TaskId& id, std::string_view verb, By by,
                                                  Json detail) {
    return std::make_shared<const domain::Act>(domain::Act{
        std::move(by), "task." + std::string(verb), "task:" + id.text(), std::move(detail)});
}

Async<Result<>> Engine::note_act(domain::Act act) {
    CO_TRY_VOID(check_by(act.by));
    std::vector<domain::Change> changes(1);
    changes.front().partition = mint_.random_partition();
    changes.front().nonce = rng_() | 1;
    changes.front().puts.push_back(audited(act, changes.front().partition, now()));
    CO_TRY(const auto outcomes, co_await store_.commit(std::move(changes)));
    if (outcomes.front().verdict != stores::Verdict::committed)
        co_return refuse(Code::unavailable, "the act could not be written down, and was not done");
    co_return Result<>{};
}

Async<Result<AuditPage>> Engine::audit(AuditFilter filter, std::string cursor, std::size_t limit) {
    if (limit < 1 || limit > kLargestBatch)
        co_return invalid("limit", "must be between 1 and 1000");
    stores::Filter wanted;
    wanted.kind = domain::Kind::audit;
    wanted.type = filter.action;
    if (!filter.target.empty())
        wanted.labels.push_back(domain::audit_label("target", filter.target));
    if (!filter.who.empty()) wanted.labels.push_back(domain::audit_label("who", filter.who));
    CO_TRY(stores::Page page,
           co_await store_.list(std::move(wanted), std::move(cursor), limit, stores::kListBudget));
    std::vector<domain::Key> keys;
    keys.reserve(page.rows.size());
    for (const stores::ListRow& row : page.rows) keys.push_back(row.header.key());
    AuditPage found{{}, std::move(page.next)};
    if (keys.empty()) co_return found;
    CO_TRY(const auto records, co_await store_.load(std::move(keys)));
    for (const auto& record : records) {
        if (record) found.entries.push_back(domain::audit_entry(*record));
    }
    co_return found;
}

Async<Result<std::size_t>> Engine::trim_audit(Time before) {
    stores::Filter all;
    all.kind = domain::Kind::audit;
    std::string cursor;
    std::size_t seen = 0;
    std::size_t gone = 0;
    do {
        CO_TRY(stores::Page page,
               co_await store_.list(all, cursor, kAuditsAtOnce, stores::kListBudget));
        std::vector<domain::Change> ends;
        for (const stores::ListRow& row : page.rows) {
            if (++seen <= kMostAudit && row.header.created_at >= before) continue;
            domain::Change& end = ends.emplace_back();
            end.partition = row.header.id.partition();
            end.nonce = rng_() | 1;
            end.puts.push_back(domain::audit_end(row.header, now()));
        }
        gone += ends.size();
        if (!ends.empty()) CO_TRY_VOID(co_await store_.commit(std::move(ends)));
        cursor = std::move(page.next);
        co_await asio::post(executor_, asio::use_awaitable);  // everybody else has a turn
    } while (!cursor.empty());
    co_return gone;
}

}  // namespace holdfast::engine
