#include "http/call.h"

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

Result<Uuid> Call::id() const {
    auto id = Uuid::parse(params[0]);
    if (!id) return invalid("id", id.error().detail);
    return *id;
}

domain::By Call::by(std::string why) const {
    const std::string_view said = request->header("x-holdfast-actor");
    return {said.empty() ? "api" : std::string(said.substr(0, 128)), std::move(why)};
}

}  // namespace holdfast::http
