#include "domain/query_text.h"

namespace holdfast::domain {
namespace {

/// Lenient: bytes that are no UTF-8 stand for themselves, and match nothing.
std::vector<char32_t> decoded(std::string_view text) {
    std::vector<char32_t> letters;
    letters.reserve(text.size());
    for (std::size_t i = 0; i < text.size();) {
        const auto first = static_cast<unsigned char>(text[i]);
        const std::size_t length = first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
        char32_t letter = length == 1 ? first : first & (0xffU >> (length + 1));
        for (std::size_t k = 1; k < length && i + k < text.size(); ++k)
            letter = (letter << 6) | (static_cast<unsigned char>(text[i + k]) & 0x3fU);
        letters.push_back(letter);
        i += length;
    }
    return letters;
}

void append(std::string& out, char32_t letter) {
    const auto put = [&](char32_t bits) { out += static_cast<char>(bits); };
    if (letter < 0x80) {
        put(letter);
    } else if (letter < 0x800) {
        put(0xc0 | (letter >> 6));
        put(0x80 | (letter & 0x3f));
    } else if (letter < 0x10000) {
        put(0xe0 | (letter >> 12));
        put(0x80 | ((letter >> 6) & 0x3f));
        put(0x80 | (letter & 0x3f));
    } else {
        put(0xf0 | (letter >> 18));
        put(0x80 | ((letter >> 12) & 0x3f));
        put(0x80 | ((letter >> 6) & 0x3f));
        put(0x80 | (letter & 0x3f));
    }
}

/// What a full-width letter stands for.
char32_t folded(char32_t letter) {
    constexpr char32_t kFirstWide = 0xff01, kLastWide = 0xff5e;
    if (letter >= kFirstWide && letter <= kLastWide) return letter - kFirstWide + U'!';
    if (letter == 0x3000) return U' ';                      // the ideographic blank
    if (letter == 0x201c || letter == 0x201d) return U'"';  // “ ”
    if (letter == 0x3001) return U',';                      // 、
    return letter;
}

}  // namespace

QueryText::QueryText(std::string_view utf8) : letters_(decoded(utf8)) {}

char32_t QueryText::letter(std::size_t place) const {
    return place < letters_.size() ? folded(letters_[place]) : U'\0';
}

bool QueryText::is_blank(std::size_t place) const {
    const char32_t c = letter(place);
    return place >= letters_.size() || c == U' ' || c == U'\t' || c == U'\n' || c == U'\r';
}

void QueryText::skip_blanks() {
    while (!done() && is_blank(at_)) ++at_;
}

bool QueryText::take(char wanted) {
    if (done() || letter(at_) != static_cast<char32_t>(wanted)) return false;
    ++at_;
    return true;
}

bool QueryText::next_begins_word() const {
    return !is_blank(at_ + 1);
}

std::string QueryText::take_name() {
    std::size_t end = at_;
    while (!is_blank(end) &&
           std::u32string_view(U":\",<>~=").find(letter(end)) == std::u32string_view::npos)
        ++end;
    if (end == at_ || letter(end) != U':') return {};
    std::string name;
    for (; at_ < end; ++at_) append(name, letter(at_));
    ++at_;
    return name;
}

std::expected<void, QueryError> QueryText::take_quoted(Value& value) {
    const std::size_t opened = at_++;
    value.quoted = true;
    for (; !done(); ++at_) {
        if (letters_[at_] == U'\\' && at_ + 1 < letters_.size()) {
            append(value.text, letters_[++at_]);
        } else if (letter(at_) == U'"') {
            ++at_;
            return {};
        } else {
            append(value.text, letters_[at_]);
        }
    }
    return misread(opened, "the quote is not closed");
}

std::expected<Value, QueryError> QueryText::take_value(bool listed) {
    Value value;
    value.at = at_;
    if (take('~')) {
        value.op = Value::Op::contains;
    } else if (take('>')) {
        value.op = take('=') ? Value::Op::at_least : Value::Op::above;
    } else if (take('<')) {
        value.op = take('=') ? Value::Op::at_most : Value::Op::below;
    }
    while (!is_blank(at_) && !(listed && letter(at_) == U',')) {
        if (letter(at_) == U'"') {
            if (auto quoted = take_quoted(value); !quoted) return std::unexpected(quoted.error());
            continue;
        }
        value.starred = value.starred || letter(at_) == U'*';
        append(value.text, letter(at_++));
    }
    return value;
}

}  // namespace holdfast::domain
