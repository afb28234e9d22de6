#include "base/log.h"

#define FMT_HEADER_ONLY
#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "base/json.h"

namespace holdfast::log {
namespace {

constexpr std::string_view kCut = "…";

struct Character {
    char32_t code = 0;
    std::size_t length = 1;
    bool valid = false;
};

/// The character at the front of a text that is not empty. What is no UTF-8 is taken bytewise.
Character first_character(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char lead = byte(0);
    if (lead < 0x80) return {lead, 1, true};
    const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return {lead, 1, false};
    char32_t code = lead & (0x7fU >> length);
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xc0U) != 0x80) return {lead, 1, false};
        code = (code << 6) | (byte(i) & 0x3fU);
    }
    constexpr std::array<char32_t, 5> kLeast{0, 0, 0x80, 0x800, 0x10000};
    const bool surrogate = code >= 0xd800 && code <= 0xdfff;
    if (code < kLeast[length] || surrogate || code > 0x10ffff) return {lead, 1, false};
    return {code, length, true};
}

/// Moves the cursor, ends a line or turns the direction of what follows.
bool is_control(char32_t c) {
    return c < 0x20 || (c >= 0x7f && c <= 0x9f) || c == 0x2028 || c == 0x2029 || c == 0x61c ||
           c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) ||
           (c >= 0x2066 && c <= 0x2069);
}

void append_hex(std::string& out, const char* prefix, std::size_t width, char32_t code) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    out += prefix;
    while (width-- > 0) out += kDigits[(code >> (4 * width)) & 0xf];
}

void append_control(std::string& out, char32_t code) {
    switch (code) {
        case '\n':
            out += "\\n";
            return;
        case '\r':
            out += "\\r";
            return;
        case '\t':
            out += "\\t";
            return;
        default:
            append_hex(out, "\\u", 4, code);
    }
}

/// Both forms escape alike; in JSON a byte that is no UTF-8 can only be replaced, as text it is
/// shown.
void append_escaped(std::string& out, std::string_view text, std::size_t longest, bool quoted,
                    bool json) {
    std::size_t at = 0;
    while (at < text.size()) {
        const Character c = first_character(text.substr(at));
        if (at + c.length > longest) {
            out += kCut;
            return;
        }
        if (!c.valid) {
            if (json)
                out += "\\ufffd";
            else
                append_hex(out, "\\x", 2, c.code);
        } else if (is_control(c.code)) {
            append_control(out, c.code);
        } else if (quoted && (c.code == '"' || c.code == '\\')) {
            out.append("\\").append(text, at, 1);
        } else {
            out.append(text, at, c.length);
        }
        at += c.length;
    }
}

void append_json(std::string& out, std::string_view text, std::size_t longest) {
    out += '"';
    append_escaped(out, text, longest, true, true);
    out += '"';
}

std::string number(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    return Json::number(value).text();
}

/// A value that a reader, or grep, could take for something else stands in quotes.
bool needs_quotes(std::string_view text) {
    return text.empty() || text.find_first_of(" \"=\\") != std::string_view::npos;
}

struct AppendText {
    std::string& out;
    void operator()(std::string_view text) const {
        const bool quoted = needs_quotes(text);
        if (quoted) out += '"';
        append_escaped(out, text, kLongestValue, quoted, false);
        if (quoted) out += '"';
    }
    void operator()(std::int64_t value) const { out += std::to_string(value); }
    void operator()(double value) const { out += number(value); }
    void operator()(bool value) const { out += value ? "true" : "false"; }
};

struct AppendJson {
    std::string& out;
    void operator()(std::string_view text) const { append_json(out, text, kLongestValue); }
    void operator()(std::int64_t value) const { out += std::to_string(value); }
    void operator()(double value) const { out += Json::number(value).text(); }
    void operator()(bool value) const { out += value ? "true" : "false"; }
};

std::string_view colour_of(Level level) {
    constexpr std::array<std::string_view, 5> kColours{"\x1b[2m", "\x1b[32m", "\x1b[33m",
                                                       "\x1b[31m", "\x1b[1;31m"};
    return kColours[static_cast<std::size_t>(level)];
}
constexpr std::string_view kDim = "\x1b[2m";
constexpr std::string_view kPlain = "\x1b[0m";

spdlog::level::level_enum spdlog_level(Level level) {
    constexpr std::array kLevels{spdlog::level::debug, spdlog::level::info, spdlog::level::warn,
                                 spdlog::level::err, spdlog::level::critical};
    return kLevels[static_cast<std::size_t>(level)];
}

Time now() {
    return std::chrono::floor<Duration>(std::chrono::system_clock::now());
}

Duration local_zone(Time at) {
    const std::time_t seconds = std::chrono::system_clock::to_time_t(at);
    std::tm local{};
    localtime_r(&seconds, &local);
    return std::chrono::seconds{local.tm_gmtoff};
}

bool is_set(const char* variable) {
    const char* value = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): nobody sets any
    return value != nullptr && *value != '\0';
}

bool terminal_is_dumb() {
    const char* term = std::getenv("TERM");  // NOLINT(concurrency-mt-unsafe): nobody sets any
    return term != nullptr && std::string_view(term) == "dumb";
}

/// spdlog holds back what is below the level and writes whole lines, one at a time. The line is
/// ours: its own patterns do not escape.
class Logger {
  public:
    Logger() : logger_("holdfast", std::make_shared<spdlog::sinks::stderr_sink_mt>()) {
        logger_.set_formatter(std::make_unique<spdlog::pattern_formatter>(
            "%v", spdlog::pattern_time_type::utc, "\n"));
        set_up({});
    }
    void set_up(const Options& options) {
        const bool terminal = isatty(STDERR_FILENO) == 1;
        text_ = options.form == Form::text || (options.form == Form::automatic && terminal);
        colour_ = terminal && !is_set("NO_COLOR") && !terminal_is_dumb();
        logger_.set_level(spdlog_level(options.least));
    }
    bool enabled(Level level) const { return logger_.should_log(spdlog_level(level)); }
    void write(const Line& line) {
        const std::string text =
            text_ ? text_line(line, local_zone(line.at), colour_) : json_line(line);
        logger_.log(spdlog_level(line.level), spdlog::string_view_t(text));
    }

  private:
    spdlog::logger logger_;
    std::atomic<bool> text_ = false;
    std::atomic<bool> colour_ = false;
};

/// Never destroyed: what dies at the end of the process may still log.
Logger& logger() {
    static auto& only = *new Logger;
    return only;
}

}  // namespace

std::string text_line(const Line& line, Duration zone, bool colour) {
    const auto paint = [&](std::string_view how) { return colour ? how : std::string_view{}; };
    const std::string stamp = format_time(line.at + zone);
    std::string out;
    out.append(paint(kDim)).append(stamp, stamp.find('T') + 1, 12).append(paint(kPlain));
    const std::string_view name = to_string(line.level);
    out.append(" ").append(paint(colour_of(line.level))).append(name).append(paint(kPlain));
    out.append(std::max<std::size_t>(6, name.size() + 1) - name.size(), ' ');
    append_escaped(out, line.message, kLongestMessage, false, false);
    for (const Field& field : line.fields) {
        out.append("  ").append(paint(kDim)).append(field.name).append("=").append(paint(kPlain));
        std::visit(AppendText{out}, field.value);
    }
    return out;
}

std::string json_line(const Line& line) {
    std::string out = R"({"time":")" + format_time(line.at) + R"(","level":")";
    out.append(to_string(line.level)).append(R"(","message":)");
    append_json(out, line.message, kLongestMessage);
    for (const Field& field : line.fields) {
        out += ',';
        append_json(out, field.name, kLongestValue);
        out += ':';
        std::visit(AppendJson{out}, field.value);
    }
    return out += '}';
}

void set_up(const Options& options) {
    logger().set_up(options);
}

bool enabled(Level level) {
    return logger().enabled(level);
}

void write(Level level, std::string_view message, std::initializer_list<Field> fields) {
    if (!enabled(level)) return;
    logger().write({now(), level, message, {fields.begin(), fields.size()}});
}

}  // namespace holdfast::log
