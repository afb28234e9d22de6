#include "frames.h"

#include <boost/json/parse.hpp>
#include <boost/json/string.hpp>
#include <charconv>
#include <cmath>

#include "text.h"

namespace holdfast::client {
namespace {

/// Walks over JSON text. What it skips it only delimits: whoever uses a value parses that one.
class Cursor {
  public:
    explicit Cursor(std::string_view text) : at_(text.data()), end_(at_ + text.size()) {}

    bool good() const { return good_; }

    /// Calls `member(key)` for each member; it must take the value by raw() or a walk.
    template <class Member>
    void object(Member member) {
        if (!take('{')) return fail();
        if (take('}')) return;
        do {
            const auto key = raw();
            if (!good_ || key.size() < 2 || key.front() != '"' || !take(':')) return fail();
            member(key.substr(1, key.size() - 2));
        } while (good_ && take(','));
        if (!take('}')) fail();
    }
    template <class Element>
    void array(Element element) {
        if (!take('[')) return fail();
        if (take(']')) return;
        do {
            element();
        } while (good_ && take(','));
        if (!take(']')) fail();
    }
    /// The text of the next value.
    std::string_view raw() {
        blanks();
        const char* const begin = at_;
        if (at_ == end_) {
            fail();
        } else if (*at_ == '"') {
            skip_string();
        } else if (*at_ == '{' || *at_ == '[') {
            skip_nested();
        } else {
            while (at_ != end_ && !is_delimiter(*at_)) ++at_;
            if (at_ == begin) fail();
        }
        return {begin, static_cast<std::size_t>(at_ - begin)};
    }
    bool finished() {
        blanks();
        return good_ && at_ == end_;
    }

  private:
    static bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }
    static bool is_delimiter(char c) {
        return c == ',' || c == '}' || c == ']' || c == ':' || is_blank(c);
    }
    void fail() {
        good_ = false;
        at_ = end_;
    }
    void blanks() {
        while (at_ != end_ && is_blank(*at_)) ++at_;
    }
    bool take(char c) {
        blanks();
        if (at_ == end_ || *at_ != c) return false;
        ++at_;
        return true;
    }
    void skip_string() {
        for (++at_; at_ != end_; ++at_) {
            if (*at_ == '"') {
                ++at_;
                return;
            }
            if (*at_ == '\\' && ++at_ == end_) break;
        }
        fail();
    }
    void skip_nested() {
        std::size_t depth = 0;
        while (at_ != end_) {
            const char c = *at_;
            if (c == '"') {
                skip_string();
                continue;
            }
            ++at_;
            if (c == '{' || c == '[') ++depth;
            if ((c == '}' || c == ']') && --depth == 0) return;
        }
        fail();
    }

    const char* at_;
    const char* end_;
    bool good_ = true;
};

std::string_view inside(std::string_view raw) {
    const bool quoted = raw.size() >= 2 && raw.front() == '"' && raw.back() == '"';
    return quoted ? raw.substr(1, raw.size() - 2) : std::string_view{};
}

std::string unquoted(std::string_view raw) {
    const auto text = inside(raw);
    if (!text.contains('\\')) return std::string(text);
    boost::json::error_code failed;
    const auto value = boost::json::parse(raw, failed);
    const auto* decoded = failed ? nullptr : value.if_string();
    return decoded != nullptr ? std::string(decoded->c_str(), decoded->size()) : std::string();
}

std::int64_t integer(std::string_view raw) {
    std::int64_t value = 0;
    std::from_chars(raw.data(), raw.data() + raw.size(), value);
    return value;
}

bool read_fence(std::string_view key, Cursor& in, Fence& fence) {
    if (key == "id") {
        fence.id = unquoted(in.raw());
    } else if (key == "attempt") {
        fence.attempt = integer(in.raw());
    } else if (key == "epoch") {
        fence.epoch = integer(in.raw());
    } else {
        return false;
    }
    return true;
}

void read_task(Cursor& in, Assignment& task) {
    in.object([&](std::string_view key) {
        if (read_fence(key, in, task.fence)) return;
        const auto raw = in.raw();
        if (key == "type") task.type = unquoted(raw);
        if (key == "queue") task.queue = unquoted(raw);
        if (key == "tenant") task.tenant = unquoted(raw);
        if (key == "payload") task.payload = raw;
        if (key == "checkpoints") task.checkpoints = raw;
        if (key == "signals") task.signals = raw;
        if (key == "labels") task.labels = raw;
        if (key == "context") task.context = raw;
        if (key == "lease_until") task.lease_until = inside(raw);
    });
}

void read_item(Cursor& in, FrameItem& item) {
    in.object([&](std::string_view key) {
        if (read_fence(key, in, item.fence)) return;
        const auto raw = in.raw();
        if (key == "outcome") item.outcome = unquoted(raw);
        if (key == "detail") item.detail = unquoted(raw);
        if (key == "duplicate") item.duplicate = raw == "true";
        if (key == "cancel_requested") item.cancel_requested = raw == "true";
        if (key == "pause_requested") item.pause_requested = raw == "true";
    });
}

std::string* text_field(Frame& frame, std::string_view key) {
    if (key == "op") return &frame.op;
    if (key == "of") return &frame.of;
    if (key == "instance") return &frame.instance;
    if (key == "lease") return &frame.lease;
    if (key == "reason") return &frame.reason;
    if (key == "code") return &frame.code;
    if (key == "detail") return &frame.detail;
    if (key == "field") return &frame.field;
    return nullptr;
}

void clear(Frame& frame) {
    for (auto* text : {&frame.op, &frame.of, &frame.instance, &frame.lease, &frame.reason,
                       &frame.code, &frame.detail, &frame.field})
        text->clear();
    frame.tasks.clear();
    frame.items.clear();
    frame.fence = {};
}

template <class Strings>
void append_strings(std::string& out, const Strings& strings) {
    out += '[';
    for (const auto& text : strings) {
        if (out.back() != '[') out += ',';
        append_quoted(out, text);
    }
    out += ']';
}

void append_member(std::string& out, std::string_view name, std::string_view text) {
    if (text.empty()) return;
    out.append(",\"").append(name).append("\":");
    append_quoted(out, text);
}

}  // namespace

bool read_frame(std::string_view text, Frame& frame) {
    clear(frame);
    Cursor in(text);
    in.object([&](std::string_view key) {
        if (key == "tasks") {
            in.array([&] { read_task(in, frame.tasks.emplace_back()); });
        } else if (key == "items") {
            in.array([&] { read_item(in, frame.items.emplace_back()); });
        } else if (auto* field = text_field(frame, key)) {
            *field = unquoted(in.raw());
        } else if (!read_fence(key, in, frame.fence)) {
            in.raw();
        }
    });
    return in.finished() && !frame.op.empty();
}

std::vector<std::string_view> elements(std::string_view array) {
    std::vector<std::string_view> out;
    if (array.empty()) return out;
    Cursor in(array);
    in.array([&] { out.push_back(in.raw()); });
    if (!in.finished()) out.clear();
    return out;
}

std::string hello_frame(const Hello& hello, const std::vector<Fence>& running) {
    std::string out = R"({"op":"hello","worker":)";
    append_quoted(out, hello.worker);
    out += ",\"queues\":";
    append_strings(out, hello.queues);
    out.append(",\"slots\":").append(std::to_string(hello.slots));
    if (hello.lease) append_member(out, "lease", duration_text(*hello.lease));
    if (!hello.types.empty()) {
        out += ",\"types\":";
        append_strings(out, hello.types);
    }
    if (!hello.labels.empty()) {
        out += ",\"labels\":{";
        for (const auto& [name, value] : hello.labels) {
            if (out.back() != '{') out += ',';
            append_quoted(out, name);
            out += ':';
            append_quoted(out, value);
        }
        out += '}';
    }
    if (!running.empty()) {
        out += ",\"running\":[";
        for (const auto& fence : running) {
            if (out.back() != '[') out += ',';
            append_fence(out, fence);
            out += '}';
        }
        out += ']';
    }
    return out += '}';
}

void append_fence(std::string& out, const Fence& fence) {
    out += "{\"id\":";
    append_quoted(out, fence.id);
    out.append(",\"attempt\":").append(std::to_string(fence.attempt));
    out.append(",\"epoch\":").append(std::to_string(fence.epoch));
}

std::string done_item(const Fence& fence, std::string_view result) {
    std::string out;
    out.reserve(112 + result.size());
    append_fence(out, fence);
    return out.append(",\"result\":").append(result).append("}");
}

std::string fail_item(const Fence& fence, const FailureText& failure) {
    std::string out;
    append_fence(out, fence);
    out += ",\"error\":{\"kind\":";
    append_quoted(out, failure.kind);
    out += ",\"message\":";
    append_quoted(out, failure.message);
    append_member(out, "stack", failure.stack);
    append_member(out, "code", failure.code);
    out += '}';
    if (failure.retry_after) append_member(out, "retry_after", duration_text(*failure.retry_after));
    return clean_utf8(std::move(out += '}'));
}

std::string yield_item(const Fence& fence, std::optional<std::chrono::milliseconds> after,
                       bool until_signal) {
    std::string out;
    append_fence(out, fence);
    if (after) append_member(out, "after", duration_text(*after));
    if (until_signal) out += ",\"until_signal\":true";
    return out += '}';
}

std::string checkpoint_item(const Fence& fence, std::string_view stage, std::string_view data) {
    std::string out;
    append_fence(out, fence);
    append_member(out, "stage", stage);
    return clean_utf8(std::move(out.append(",\"data\":").append(data).append("}")));
}

std::string heartbeat_item(const Fence& fence, std::optional<double> progress,
                           std::string_view note) {
    std::string out;
    append_fence(out, fence);
    if (progress && std::isfinite(*progress))
        out.append(",\"progress\":").append(std::to_string(*progress));
    append_member(out, "note", note);
    return clean_utf8(std::move(out += '}'));
}

void FrameBuilder::add(std::string_view item) {
    if (count_ == kMostItems || (count_ > 0 && open_.size() + item.size() > kFrameBytes)) close();
    if (count_ == 0) {
        open_.append(R"({"op":")").append(op_).append(R"(","items":[)");
    } else if (!open_.ends_with('[')) {
        open_ += ',';
    }
    open_.append(item);
    ++count_;
}

void FrameBuilder::close() {
    if (count_ == 0) return;
    open_ += "]}";
    const auto size = open_.size();
    frames_.push_back(std::move(open_));
    open_.clear();
    open_.reserve(size);
    count_ = 0;
}

void FrameBuilder::clear() {
    open_.clear();
    frames_.clear();
    count_ = 0;
}

void FrameBuilder::take(std::vector<std::string>& out) {
    close();
    for (auto& frame : frames_) out.push_back(std::move(frame));
    frames_.clear();
}

}  // namespace holdfast::client
