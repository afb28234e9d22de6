// Structured logs on standard error: one line per event, readable on a terminal, JSON otherwise.
// Never log a payload, a result or a secret.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "base/time.h"

namespace holdfast::log {

enum class Level : std::uint8_t {
    debug,
    info,
    warn,
    error,
    critical,  ///< Somebody should be woken up.
};
enum class Form : std::uint8_t {
    automatic,  ///< text where standard error is a terminal, else json.
    text,       ///< 12:03:22.123 info  listening  address=127.0.0.1:7400
    json,       ///< {"time":"2026-11-15T12:03:22.123Z","level":"info","message":"listening",…}
};

constexpr std::string_view to_string(Level level) {
    constexpr std::string_view kNames[] = {"debug", "info", "warn", "error", "critical"};
    return kNames[static_cast<std::size_t>(level)];
}

/// A named value; both must live until the line is written. Names are ours: plain, unique in a
/// line, and none of time, level, message.
struct Field {
    Field(std::string_view field, std::string_view text) : name(field), value(text) {}
    Field(std::string_view field, bool truth) : name(field), value(truth) {}
    Field(std::string_view field, const char* text) : Field(field, std::string_view(text)) {}
    template <std::integral Number>
    Field(std::string_view field, Number number)
        : name(field), value(static_cast<std::int64_t>(number)) {}
    template <std::floating_point Number>
    Field(std::string_view field, Number number)
        : name(field), value(static_cast<double>(number)) {}

    std::string_view name;
    std::variant<std::string_view, std::int64_t, double, bool> value;
};

struct Options {
    Level least = Level::info;  ///< What is below it is not written.
    Form form = Form::automatic;
};

/// May be called again; lines before the first call are written with the default Options.
/// Colour is used on a terminal unless NO_COLOR is set or TERM is "dumb".
void set_up(const Options& options);

bool enabled(Level level);

/// Writes one line, whole, from any thread. Text from outside cannot forge a line or steer a
/// terminal: control characters and what is no UTF-8 are escaped, and long texts are cut.
void write(Level level, std::string_view message, std::initializer_list<Field> fields = {});

inline void debug(std::string_view message, std::initializer_list<Field> fields = {}) {
    write(Level::debug, message, fields);
}
inline void info(std::string_view message, std::initializer_list<Field> fields = {}) {
    write(Level::info, message, fields);
}
inline void warn(std::string_view message, std::initializer_list<Field> fields = {}) {
    write(Level::warn, message, fields);
}
inline void error(std::string_view message, std::initializer_list<Field> fields = {}) {
    write(Level::error, message, fields);
}
inline void critical(std::string_view message, std::initializer_list<Field> fields = {}) {
    write(Level::critical, message, fields);
}

// ---- the lines themselves, without their line end ----

inline constexpr std::size_t kLongestMessage = 4096;  ///< Bytes; what is beyond becomes "…".
inline constexpr std::size_t kLongestValue = 1024;

struct Line {
    Time at;
    Level level = Level::info;
    std::string_view message;
    std::span<const Field> fields;
};

/// `zone` is what the reader's clock is ahead of UTC.
std::string text_line(const Line& line, Duration zone, bool colour);
std::string json_line(const Line& line);

}  // namespace holdfast::log
