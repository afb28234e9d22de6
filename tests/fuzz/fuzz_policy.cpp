// The small languages: policies, durations, times, ids.
#include "domain/policy.h"
#include "fuzz.h"

namespace {

using namespace holdfast;
using fuzz::require;

void check_policy(std::string_view text) {
    const auto policy = domain::parse_policy(text);
    if (!policy) return;
    require(domain::parse_policy(domain::format_policy(*policy)) == *policy);
    for (const std::uint32_t failures : {0U, 1U, 2U, 7U, 1000U, UINT32_MAX}) {
        const Duration delay = domain::backoff(policy->backoff, failures, {failures, text.size()});
        require(delay >= Duration{0} && delay <= std::chrono::days{30});
    }
}

void check_retry(std::string_view text) {
    const auto json = Json::parse(text);
    domain::Policy policy;
    if (!json || !domain::read_retry(*json, policy)) return;
    require(domain::check_policy(policy).has_value());
    require(domain::parse_policy(domain::format_policy(policy)) == policy);
}

void check_words(std::string_view text) {
    if (const auto duration = parse_duration(text))
        require(parse_duration(format_duration(*duration)) == *duration);
    if (const auto id = Uuid::parse(text)) require(Uuid::parse(id->text()) == *id);
    const auto time = parse_time(text);
    if (!time) return;
    const Time shown = std::chrono::floor<std::chrono::milliseconds>(*time);
    if (is_set(shown)) require(parse_time(format_time(*time)) == shown);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text = fuzz::text_of(data, size);
    check_policy(text);
    check_retry(text);
    check_words(text);
    return 0;
}
