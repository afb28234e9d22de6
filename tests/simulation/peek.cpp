#include "peek.h"

#include <algorithm>

#include "stores/sqlite/pipeline.h"
#include "stores/sqlite/scribe.h"

namespace holdfast::stores {

using memory::kNoSlot;
using memory::Slot;
using memory::SlotId;

Peek::Peek(SqliteStore& store) : store_(store) {
    sqlite::FinishedQuery all;
    all.top = INT64_MAX;
    for (std::size_t i = 1; i < domain::kStates; ++i) {
        if (domain::is_final(static_cast<State>(i))) all.states.push_back(static_cast<State>(i));
    }
    read(store_.journal_->archive().walk(all, [&](const sqlite::FinishedRow& row) {
        put_out_[row.id] = header_of(row);
        return true;
    }));
}

template <class T>
T Peek::read(sqlite::Tried<T> answer) {
    if (!answer) complaint_ = answer.error().text;
    if constexpr (!std::is_void_v<T>) return answer ? *std::move(answer) : T{};
}

Header Peek::header_of(const sqlite::FinishedRow& row) {
    Header header;
    if (!store_.scribe_->header_of(row, header))
        complaint_ = "the row of " + row.id.text() + " is damaged";
    return header;
}

std::optional<sqlite::FinishedRow> Peek::finished(const Uuid& id) {
    auto rows = read(store_.journal_->archive().finished({id}));
    return rows.empty() ? std::nullopt : std::move(rows.front());
}

/// A finished task stays as it is while it is on disk only: it is read once, when it has left memory.
std::vector<Peek::Task> Peek::tasks() {
    const memory::Index& index = store_.index_;
    std::vector<Task> tasks;
    std::vector<Uuid> in_memory;
    for (const SlotId id : index.list_slots({}, {}, SIZE_MAX, SIZE_MAX).slots) {
        const Slot& slot = index.slot(id);
        in_memory.push_back(slot.id);
        tasks.push_back({{index.header_of(slot), slot.lane != nullptr},
                         slot.disk.group <= store_.pipeline_->durable()});
        put_out_.erase(slot.id);
    }
    std::ranges::sort(in_memory);
    std::vector<Uuid> left;
    std::ranges::set_difference(in_memory_, in_memory, std::back_inserter(left));
    for (const Uuid& id : left) {
        if (const auto row = finished(id)) put_out_[id] = header_of(*row);
    }
    in_memory_ = std::move(in_memory);
    for (const auto& [id, header] : put_out_) tasks.push_back({{header, false}, true});
    return tasks;
}

std::optional<Header> Peek::header(const Key& key) {
    if (const SlotId id = store_.index_.find(key); id != kNoSlot)
        return store_.index_.header_of(store_.index_.slot(id));
    const auto row = finished(key.id);
    return row ? std::optional(header_of(*row)) : std::nullopt;
}

std::vector<domain::Transition> Peek::history(const Key& key) {
    if (store_.index_.find(key) != kNoSlot) return store_.index_.history(key);
    const auto row = finished(key.id);
    return row ? domain::unpack_history(row->history) : std::vector<domain::Transition>{};
}

std::vector<LogEntry> Peek::log(std::string_view log, const Uuid& owner) {
    return read(store_.journal_->archive().log(log, owner, 0, SIZE_MAX));
}

std::vector<domain::FeedEvent> Peek::feed() {
    std::vector<domain::FeedEvent> events;
    for (const sqlite::FeedRow& row : read(store_.journal_->archive().feed(0, SIZE_MAX)))
        std::ranges::move(domain::unpack_events(row.events), std::back_inserter(events));
    return events;
}

std::int64_t Peek::count(const Tally& tally, Time now) const {
    return store_.index_.count(tally, now);
}

void Peek::check() {
    read(store_.journal_->archive().check());
}

}  // namespace holdfast::stores
