// A submission from the street, all the way to the task it makes and the JSON that shows it.
#include "domain/decide.h"
#include "domain/task_json.h"
#include "fuzz.h"

namespace {

using namespace holdfast;
using fuzz::require;

const Time kNow{std::chrono::sys_days{std::chrono::November / 15 / 2026}};

/// No limit but those of the parser itself: what we wrote must always be readable.
void require_readable(const Json& json) {
    require(json.is_null() || !Json::stored(json.text()).is_null());
}

void check_json(const Json& json) {
    require(Json::parse(json.text()) == json);
    require_readable(json);
    std::size_t members = 0;
    for (const auto& [name, value] : json.members()) {
        require(Json::parse(value.text()) == value);
        require(json.member(name) == value);
        ++members;
    }
    require(json.value().is_object() ? members == json.value().get_object().size() : members == 0);
    const std::string once = canonical(json);
    const Json again = Json::stored(once);
    require(!again.is_null() || json.is_null());
    require(canonical(again) == once);
}

void check_task(const domain::Submission& s) {
    domain::content_hash(s);
    const Uuid id{0x0193'0000'0000'7000, 1};
    const domain::Change change = domain::decide_submit(s, id, kNow);
    const domain::Put& put = change.puts.front();
    const domain::Record record{put.header, *put.body, {}};
    require(domain::payload_of(record.body) == s.payload);
    require(domain::parse_policy(put.header.policy) == s.policy);
    require(put.header.wake_at == domain::wake_for(put.header));
    const Json task = domain::task_json(record);
    require_readable(task);
    require(task.member("payload") == s.payload);
    require(task.member("labels").members().size() == s.labels.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto json = Json::parse(fuzz::text_of(data, size));
    if (!json) return 0;
    check_json(*json);
    const auto submission = domain::read_submission(*json);
    if (!submission) {
        require_readable(Json::quoted(submission.error().detail));
        return 0;
    }
    if (domain::validate(*submission, kNow)) check_task(*submission);
    return 0;
}
