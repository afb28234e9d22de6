#include "http/call.h"

#include <charconv>

#include "domain/task_json.h"

namespace holdfast::http {

const std::string* Call::parameter(std::string_view name) const {
    for (const auto& [key, value] : query) {
        if (key == name) return &value;
    }
    return nullptr;
}

Result<Duration> Call::wait() const {
    const std::string* text = parameter("wait");
    if (text == nullptr) return Duration{0};
    auto wait = parse_duration(*text);
    if (!wait) return invalid("wait", wait.error().detail);
    if (*wait > engine::kLongestWait) return invalid("wait", "must be between 0s and 60s");
    return *wait;
}

Result<std::size_t> Call::whole_number(std::string_view name, std::size_t least, std::size_t most,
                                       std::size_t usual) const {
    const std::string* text = parameter(name);
    if (text == nullptr) return usual;
    std::size_t number = 0;
    const char* last = text->data() + text->size();
    const auto [end, error] = std::from_chars(text->data(), last, number);
    if (error != std::errc{} || end != last || number < least || number > most)
        return invalid(name,
                       "must be between " + std::to_string(least) + " and " + std::to_string(most));
    return number;
}

Result<Uuid> Call::id() const {
    auto id = Uuid::parse(params[0]);
    if (!id) return invalid("id", id.error().detail);
    return *id;
}

domain::By Call::by(std::string why) const {
    domain::By by{"api", std::move(why), address};
    // What is not well encoded was refused before any handler saw it.
    const auto user = percent_decoded(request->header("holdfast-user"));
    if (user && !user->empty()) by.who = *user;
    return by;
}

bool Call::is_redacted() const {
    const std::string* wish = parameter("redact");
    return services->redact_always || (wish != nullptr && *wish == "1");
}

Json Call::shown(const domain::Record& task) const {
    const Json whole = domain::task_json(task);
    return is_redacted() ? services->redaction.apply_to_task(whole) : whole;
}

Json Call::shown(const Json& json) const {
    bool hid = false;
    return is_redacted() ? services->redaction.apply(json, hid) : json;
}

}  // namespace holdfast::http
