// Server-sent events out of a stream of bytes that may be cut anywhere.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::client {

struct SseEvent {
    std::string id;    ///< The last one seen, also when this event had none.
    std::string kind;  ///< "message" unless said.
    std::string data;  ///< Lines joined by '\n'.
};

class SseParser {
  public:
    /// Events longer than this are a mistake: feed() throws Error.
    static constexpr std::size_t kLargestEvent = std::size_t{16} << 20;

    /// The events that `bytes` completes, in order.
    std::vector<SseEvent> feed(std::string_view bytes);
    /// The last id of any event; what a reconnection names.
    const std::string& last_id() const { return last_id_; }

  private:
    void line(std::string_view text, std::vector<SseEvent>& out);

    std::string rest_;  ///< A line that has not ended.
    std::string kind_, data_, last_id_;
    bool has_data_ = false;
};

}  // namespace holdfast::client
