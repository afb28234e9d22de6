// The frames of the worker stream: read in one pass without building values, written as text.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::client {

/// Which attempt at which task.
struct Fence {
    std::string id;
    std::int64_t attempt = 0;
    std::int64_t epoch = 0;
    friend bool operator==(const Fence&, const Fence&) = default;
};
struct FenceHash {
    std::size_t operator()(const Fence& fence) const {
        return std::hash<std::string>{}(fence.id) ^
               (static_cast<std::size_t>(fence.epoch) * 0x9e3779b97f4a7c15ULL);
    }
};

/// A task of an `assign` frame. Views point into the frame; each is the JSON text of its field, empty
/// when the frame has none.
struct Assignment {
    Fence fence;
    std::string type = {}, queue = {}, tenant = {};
    std::string_view payload = {}, checkpoints = {}, signals = {}, labels = {}, context = {};
    std::string_view lease_until = {};  ///< Without its quotes.
};

/// One item of an `outcome` or `heartbeat` frame.
struct FrameItem {
    Fence fence;
    std::string outcome, detail;
    bool duplicate = false;
    bool cancel_requested = false;
    bool pause_requested = false;
};

struct Frame {
    std::string op, of, instance, lease, reason, code, detail, field;
    std::vector<Assignment> tasks;
    std::vector<FrameItem> items;
    Fence fence;  ///< Of a frame that speaks of one task.
};

/// Reads `text` into `frame`, whose vectors are reused. False: it is no frame.
bool read_frame(std::string_view text, Frame& frame);

/// The members of an array of objects as raw texts: for checkpoints and signals.
std::vector<std::string_view> elements(std::string_view array);

// ---- written by a worker ----

struct Hello {
    std::string worker = {};
    std::vector<std::string> queues = {};
    unsigned slots = 1;
    std::optional<std::chrono::milliseconds> lease = {};
    std::vector<std::string> types = {};
    std::map<std::string, std::string> labels = {};
};
/// `running`: what this worker still holds, after a reconnection.
std::string hello_frame(const Hello& hello, const std::vector<Fence>& running);

/// {"id":…,"attempt":…,"epoch":… without the closing brace, for the caller to go on.
void append_fence(std::string& out, const Fence& fence);
std::string done_item(const Fence& fence, std::string_view result);
struct FailureText {
    std::string_view kind = {}, message = {}, stack = {}, code = {};
    std::optional<std::chrono::milliseconds> retry_after = {};
};
std::string fail_item(const Fence& fence, const FailureText& failure);
std::string yield_item(const Fence& fence, std::optional<std::chrono::milliseconds> after,
                       bool until_signal);
std::string checkpoint_item(const Fence& fence, std::string_view stage, std::string_view data);
std::string heartbeat_item(const Fence& fence, std::optional<double> progress,
                           std::string_view note);

/// The server takes so many items in one frame, and so many bytes.
inline constexpr std::size_t kMostItems = 1000;
inline constexpr std::size_t kFrameBytes = 512 * 1024;

/// Items of one `op`, put into as few frames as the limits allow.
class FrameBuilder {
  public:
    explicit FrameBuilder(std::string_view op) : op_(op) {}
    void add(std::string_view item);
    bool empty() const { return frames_.empty() && count_ == 0; }
    void clear();
    /// Appends the frames to `out` and starts again.
    void take(std::vector<std::string>& out);

  private:
    void close();

    std::string_view op_;
    std::string open_;
    std::size_t count_ = 0;
    std::vector<std::string> frames_;
};

}  // namespace holdfast::client
