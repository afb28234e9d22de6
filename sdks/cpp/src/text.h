// Small pieces of text that the wire wants.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "holdfast/json.h"

namespace holdfast::client {

/// "30s", "1500ms"; never negative.
std::string duration_text(std::chrono::milliseconds duration);
/// "2h30m", "250ms"; none when it is no duration.
std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);
/// "2026-11-15T23:37:11.042Z", as the server writes it; none when it is anything else.
std::optional<std::chrono::sys_time<std::chrono::milliseconds>> parse_time(std::string_view text);

/// The same text with what is no UTF-8 replaced by U+FFFD: a frame with bad bytes in it would cost
/// the connection.
std::string clean_utf8(std::string text);

/// 128 random bits as hexadecimal digits.
std::string random_key();

/// `text` as a JSON string, with its quotes.
void append_quoted(std::string& out, std::string_view text);

}  // namespace holdfast::client
