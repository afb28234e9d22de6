#include "engine/bulk.h"

#include <algorithm>
#include <array>

namespace holdfast::engine {
namespace {

constexpr std::size_t kAtOnce = 1000;     ///< More matches than this become a job.
constexpr std::size_t kCounted = 50'000;  ///< So many are counted before a job begins.
constexpr std::size_t kJobStep = 500;     ///< So many tasks a job acts on at a time.
constexpr std::size_t kRefusalsKept = 100;
constexpr std::size_t kReasonsKept = 50;
constexpr std::size_t kJobsShown = 100;
constexpr double kMostPerSecond = 1e6;

std::string refusal_of(State state) {
    return "the task is " + std::string(to_string(state));
}

/// What would come of it, without doing it.
void rehearse_one(const domain::Header& header, const domain::Command& command, Time now,
                  BulkReport& report) {
    ++report.matched;
    const auto decision = decide({header, {}, {}}, command, now);
    if (decision || decision.error() == domain::Refusal::already) {
        ++report.done;
    } else {
        note_refusal(report, header.id, refusal_of(header.state));
    }
}

void rehearse(const BulkRequest& request, const stores::Page& page, Time now, BulkReport& report) {
    const domain::Command command = command_of(request.action, request.by);
    for (const stores::ListRow& row : page.rows) {
        if (report.matched == request.limit) return;
        rehearse_one(row.header, command, now, report);
    }
}

}  // namespace

void note_refusal(BulkReport& report, const TaskId& id, std::string reason) {
    ++report.refused_count;
    if (report.refused_by.size() < kReasonsKept || report.refused_by.contains(reason))
        ++report.refused_by[reason];
    if (report.refused.size() < kRefusalsKept) report.refused.push_back({id, std::move(reason)});
}

domain::Command command_of(BulkAction action, By by) {
    switch (action) {
        case BulkAction::resume:
            return domain::Resume{std::move(by), std::nullopt};
        case BulkAction::discard:
            return domain::Discard{std::move(by)};
        case BulkAction::cancel:
            return domain::Cancel{std::move(by)};
        case BulkAction::pause:
            return domain::Pause{std::move(by)};
    }
    std::unreachable();
}

/// One entry for the whole: what was asked, and how many there were (more than can be done at once: at least so many).
domain::Act Engine::BulkJob::start(std::string target, std::uint64_t matched) const {
    const Json asked = Json::stored(body().view());
    JsonObject filter;
    for (const Json::Member& clause : asked.member("filter").members()) {
        const std::string& value = clause.value.text();
        const bool is_open = value == "\"\"" || value == "[]" || value == "0" || value == "null";
        if (!is_open && clause.name != "until_us") filter.add(clause.name, clause.value);
    }
    JsonObject detail;
    detail.add("action", to_string(request.action)).add("filter", filter.done());
    if (!request.q.empty()) detail.add("q", request.q);
    detail.add("matched", static_cast<std::int64_t>(matched));
    if (request.rate > 0) detail.add("rate", Json::number(request.rate));
    return {request.by, "bulk.start", std::move(target), detail.done()};
}

/// Acts on the next `most` that match, and moves the job's place past them.
Async<Result<Engine::BulkJob>> Engine::bulk_page(BulkJob job, std::size_t most) {
    most = std::min(most, job.request.limit - static_cast<std::size_t>(job.report.matched));
    CO_TRY(const stores::Page page,
           co_await find(job.search(), job.cursor, most, stores::kListBudget));
    std::vector<Ask> asks;
    asks.reserve(page.rows.size());
    for (const stores::ListRow& row : page.rows)
        asks.push_back({row.header.id, command_of(job.request.action, job.request.by)});
    const Each<Done> answers = co_await step(std::move(asks));
    for (const Result<Done>& answer :
         answers) {  // not refused, only not heard of: done over, not passed over
        if (!answer && answer.error().code == Code::unavailable)
            co_return std::unexpected(answer.error());
    }
    for (std::size_t i = 0; i < answers.size(); ++i) {
        ++job.report.matched;
        if (answers[i]) {
            ++job.report.done;
        } else {
            note_refusal(job.report, page.rows[i].header.id, answers[i].error().detail);
        }
    }
    job.cursor = job.report.matched >= job.request.limit ? std::string{} : page.next;
    co_return job;
}

Async<Result<BulkReport>> Engine::bulk(BulkRequest request) {
    CO_TRY_VOID(check_by(request.by));
    if (!(request.rate >= 0 && request.rate <= kMostPerSecond))
        co_return invalid("rate", "must be between 0 and 1000000");
    if (request.limit < 1) co_return invalid("limit", "must be at least 1");
    if (request.filter.kind != domain::Kind::task)
        co_return invalid("filter", "must be about tasks");
    CO_TRY_VOID(check_filter(request.filter));
    request.filter.until =
        earlier(request.filter.until, now());  // what is submitted from now on is not meant
    const Time asked_at = now();
    Search search(request.filter);
    CO_TRY_VOID(narrow(search, request.q, asked_at));
    BulkReport report;
    std::string cursor;
    do {  // look first: how many are there, and what would become of them?
        CO_TRY(stores::Page page,
               co_await find(search, cursor, kLargestBatch, stores::kListBudget));
        rehearse(request, page, now(), report);
        cursor = std::move(page.next);
    } while (!cursor.empty() && report.matched < request.limit &&
             (request.dry_run || report.matched <= kCounted));
    if (request.dry_run) co_return report;

    BulkJob job;
    job.request = std::move(request);
    job.asked_at = asked_at;
    if (report.matched <= kAtOnce && job.request.rate <= 0) {
        if (report.matched > 0) CO_TRY_VOID(co_await note_act(job.start("tasks", report.matched)));
        do {
            CO_TRY(job, co_await bulk_page(std::move(job), kAtOnce));
        } while (!job.cursor.empty());
        co_return std::move(job.report);
    }
    job.header.kind = domain::Kind::bulk;
    job.header.id = mint_.mint(mint_.random_partition(), now());
    job.header.created_at = now();
    job.header.state = State::running;
    job.header.wake_at = now();
    job.report.bulk_id = job.header.id;
    job.report.state = State::running;
    if (report.matched <= kCounted) job.report.expected = report.matched;
    BulkReport promised = job.report;
    const By by = job.request.by;
    domain::Act act = job.start("bulk:" + job.header.id.text(), report.matched);
    CO_TRY_VOID(co_await save_bulk(std::move(job), domain::Event::submitted, by, std::move(act)));
    co_return promised;
}

Async<Result<>> Engine::save_bulk(BulkJob job, domain::Event event, By by,
                                  std::optional<domain::Act> act) {
    domain::Put put;
    put.header = job.header;
    put.expected_version = job.header.version;
    ++put.header.version;
    put.header.updated_at = now();
    if (domain::is_final(put.header.state)) put.header.finished_at = now();
    put.body = job.body();
    put.audit = event != domain::Event::woken;
    put.transition = {event, job.header.state,  job.header.state,  0,
                      now(), std::move(by.why), std::move(by.who), {}};
    std::vector<domain::Change> changes(1);
    changes.front().partition = put.header.id.partition();
    changes.front().nonce = rng_() | 1;
    changes.front().puts.push_back(std::move(put));
    if (act) changes.front().puts.push_back(audited(*act, changes.front().partition, now()));
    CO_TRY(const auto outcomes, co_await store_.commit(std::move(changes)));
    if (outcomes.front().verdict != stores::Verdict::committed)
        co_return refuse(Code::conflict, "the job was changed by others; read it and try again");
    co_return Result<>{};
}

/// Its timer rang: one page, then the timer again. A page that could not be saved is done over; the acts are
/// such that doing one twice is refused by the lifecycle.
Async<void> Engine::run_bulk(domain::Record record) {
    BulkJob job = BulkJob::from(record);
    if (job.header.state != State::running) co_return;
    const double rate = job.request.rate;
    const std::size_t most =
        rate > 0 ? std::clamp<std::size_t>(static_cast<std::size_t>(rate), 1, kJobStep) : kJobStep;
    const std::uint64_t before = job.report.matched;
    auto advanced = co_await bulk_page(std::move(job), most);
    if (!advanced) co_return;  // the store is silent: the timer rings again
    const auto acted = static_cast<double>(advanced->report.matched - before);
    const bool over = advanced->cursor.empty();
    advanced->header.state = over ? State::succeeded : State::running;
    const auto pause =
        rate > 0 ? std::chrono::duration_cast<Duration>(std::chrono::duration<double>(acted / rate))
                 : Duration{0};
    advanced->header.wake_at = over ? kNoTime : now() + pause;
    co_await save_bulk(*std::move(advanced), over ? domain::Event::completed : domain::Event::woken,
                       {});
}

Async<Result<Engine::BulkJob>> Engine::load_bulk(Uuid bulk_id) {
    CO_TRY(const auto found, co_await store_.load({{domain::Kind::bulk, bulk_id}}));
    if (!found.front()) co_return refuse(Code::not_found, "there is no bulk job " + bulk_id.text());
    co_return BulkJob::from(*found.front());
}

Async<Result<BulkReport>> Engine::bulk_report(Uuid bulk_id) {
    CO_TRY(BulkJob job, co_await load_bulk(bulk_id));
    co_return std::move(job.report);
}

Async<Result<BulkReport>> Engine::bulk_ids(BulkAction action, std::vector<TaskId> ids, By by,
                                           bool dry_run, State only) {
    CO_TRY_VOID(check_by(by));
    if (ids.size() > kLargestBatch) co_return invalid("ids", "has more than 1000 entries");
    BulkReport report;
    if (!dry_run) {
        const Each<Done> answers = co_await act(action, ids, std::move(by), only);
        for (std::size_t i = 0; i < answers.size(); ++i) {
            ++report.matched;
            if (answers[i]) {
                ++report.done;
            } else {
                note_refusal(report, ids[i], answers[i].error().detail);
            }
        }
        co_return report;
    }
    std::vector<domain::Key> keys;
    keys.reserve(ids.size());
    for (const TaskId& id : ids) keys.push_back({domain::Kind::task, id});
    CO_TRY(const auto found, co_await store_.load(std::move(keys)));
    const domain::Command command = command_of(action, std::move(by));
    for (std::size_t i = 0; i < ids.size(); ++i) {
        if (found[i] && (only == State::none || found[i]->header.state == only)) {
            rehearse_one(found[i]->header, command, now(), report);
            continue;
        }
        ++report.matched;
        note_refusal(report, ids[i],
                     found[i] ? refusal_of(found[i]->header.state) : "there is no such task");
    }
    co_return report;
}

Async<Result<std::vector<BulkView>>> Engine::bulk_jobs() {
    stores::Filter filter;
    filter.kind = domain::Kind::bulk;
    CO_TRY(const stores::Page page,
           co_await store_.list(std::move(filter), {}, kJobsShown, stores::kListBudget));
    std::vector<domain::Key> keys;
    keys.reserve(page.rows.size());
    for (const stores::ListRow& row : page.rows) keys.push_back(row.header.key());
    std::vector<BulkView> views;
    if (keys.empty()) co_return views;
    CO_TRY(const auto found, co_await store_.load(std::move(keys)));
    for (const auto& record : found) {
        if (!record) continue;
        BulkJob job = BulkJob::from(*record);
        const domain::Header& h = record->header;
        views.push_back({std::move(job.request), std::move(job.report), h.created_at, h.updated_at,
                         h.finished_at});
    }
    co_return views;
}

Async<Result<BulkReport>> Engine::control_bulk(Uuid bulk_id, BulkControl control, By by) {
    CO_TRY_VOID(check_by(by));
    CO_TRY(BulkJob job, co_await load_bulk(bulk_id));
    const State wanted_from = control == BulkControl::resume ? State::paused : State::running;
    const bool stops_paused = control == BulkControl::stop && job.header.state == State::paused;
    if (job.header.state != wanted_from && !stops_paused)
        co_return refuse(Code::wrong_state,
                         "the job is " + std::string(to_string(job.header.state)));
    domain::Event event = domain::Event::paused;
    switch (control) {
        case BulkControl::pause:
            job.header.state = State::paused;
            break;
        case BulkControl::resume:
            job.header.state = State::running;
            event = domain::Event::resumed;
            break;
        case BulkControl::stop:
            job.header.state = State::cancelled;
            event = domain::Event::cancelled;
            break;
    }
    job.header.wake_at = job.header.state == State::running ? now() : kNoTime;
    job.report.state = job.header.state;
    BulkReport report = job.report;
    const std::array<std::string_view, 3> verbs{"bulk.pause", "bulk.resume", "bulk.stop"};
    domain::Act act{by, std::string(verbs[static_cast<std::size_t>(control)]),
                    "bulk:" + bulk_id.text(), Json{}};
    CO_TRY_VOID(co_await save_bulk(std::move(job), event, std::move(by), std::move(act)));
    co_return report;
}

}  // namespace holdfast::engine
