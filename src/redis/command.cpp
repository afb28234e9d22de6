#include "redis/command.h"

#include <cstring>

namespace holdfast::redis {
namespace {

constexpr std::string_view kLineEnd = "\r\n";

/// "*3\r\n" or "$17\r\n".
void add_count(std::string& out, char kind, std::size_t count) {
    std::array<char, 24> text{kind};
    char* const end = std::to_chars(text.data() + 1, text.data() + text.size() - 2, count).ptr;
    std::memcpy(end, kLineEnd.data(), kLineEnd.size());
    out.append(text.data(), end + kLineEnd.size());
}

/// Where the word that begins at `from` ends.
std::size_t end_of_word(const std::string& bytes, std::size_t from) {
    std::size_t size = 0;
    const auto count = std::from_chars(bytes.data() + from + 1, bytes.data() + bytes.size(), size);
    const auto body = static_cast<std::size_t>(count.ptr - bytes.data()) + kLineEnd.size();
    return body + size + kLineEnd.size();
}

}  // namespace

Command& Command::add(std::string_view word) {
    add_count(bytes_, '$', word.size());
    bytes_.append(word).append(kLineEnd);
    ++words_;
    return *this;
}

void Command::write_to(std::string& out) const {
    add_count(out, '*', words_);
    out.append(bytes_);
}

Command Command::with_head(std::string_view first, std::string_view second) const {
    Command changed(first, second);
    changed.bytes_.append(bytes_, end_of_word(bytes_, end_of_word(bytes_, 0)));
    changed.words_ = words_;
    return changed;
}

}  // namespace holdfast::redis
