#include "sse.h"

#include <utility>

#include "holdfast/error.h"

namespace holdfast::client {

std::vector<SseEvent> SseParser::feed(std::string_view bytes) {
    std::vector<SseEvent> out;
    rest_.append(bytes);
    std::size_t begin = 0;
    for (auto end = rest_.find('\n'); end != std::string::npos; end = rest_.find('\n', begin)) {
        auto text = std::string_view(rest_).substr(begin, end - begin);
        if (text.ends_with('\r')) text.remove_suffix(1);
        line(text, out);
        begin = end + 1;
    }
    rest_.erase(0, begin);
    if (rest_.size() + data_.size() > kLargestEvent)
        throw Error(Code::other, "an event of the stream is longer than 16 MiB");
    return out;
}

void SseParser::line(std::string_view text, std::vector<SseEvent>& out) {
    if (text.empty()) {
        if (has_data_)
            out.push_back({last_id_, kind_.empty() ? "message" : kind_, std::exchange(data_, {})});
        kind_.clear();
        data_.clear();
        has_data_ = false;
        return;
    }
    const auto colon = text.find(':');
    const auto name = text.substr(0, colon);
    auto value = colon == std::string_view::npos ? std::string_view{} : text.substr(colon + 1);
    if (value.starts_with(' ')) value.remove_prefix(1);
    if (name == "data") {
        if (has_data_) data_ += '\n';
        data_.append(value);
        has_data_ = true;
    } else if (name == "event") {
        kind_ = value;
    } else if (name == "id" && !value.contains('\0')) {
        last_id_ = value;
    }
}

}  // namespace holdfast::client
