// The filter language: any line is read or refused with a place in it, and what was read can be asked of any task.
#include "domain/query.h"
#include "fuzz.h"

namespace {

using namespace holdfast;
using fuzz::require;

domain::Record some_task(Time now) {
    domain::Record task;
    task.header.id = {0x0199'a3f2'1111'7abc, 0x8def'0123'4567'89ab};
    task.header.state = domain::State::running;
    task.header.queue = "media";
    task.header.type = "video.render";
    task.header.labels = "\nplan=pro\n";
    task.header.fingerprint = UINT64_MAX;
    task.header.created_at = task.header.updated_at = task.header.started_at = now;
    task.body = Bytes(R"({"payload":{"a":[1,{"b":"c"}]}})");
    task.outcome = Bytes(R"({"error":{"message":"HTTP 429"}})");
    return task;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view line = fuzz::text_of(data, size);
    const Time now{std::chrono::sys_days{std::chrono::November / 17 / 2026}};
    const auto clauses = domain::parse_query(line, now);
    if (!clauses) {
        require(clauses.error().position <= line.size());
        require(!clauses.error().detail.empty());
        return 0;
    }
    require(clauses->size() <= domain::kMostClauses);
    const domain::Record task = some_task(now);
    for (domain::Clause clause : *clauses) {
        require(!clause.any.empty());
        const bool passes = matches(task, clause);
        clause.negated = !clause.negated;
        require(matches(task, clause) != passes);
    }
    return 0;
}
