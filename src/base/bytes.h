// Opaque bytes that several holders may share: a body is written once and then only handed around.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace holdfast {

class Bytes {
  public:
    Bytes() = default;
    explicit Bytes(std::string text)
        : text_(text.empty() ? nullptr : std::make_shared<const std::string>(std::move(text))) {}

    std::string_view view() const { return text_ ? std::string_view(*text_) : std::string_view{}; }
    std::size_t size() const { return view().size(); }
    bool empty() const { return text_ == nullptr; }

    friend bool operator==(const Bytes& a, const Bytes& b) { return a.view() == b.view(); }

  private:
    std::shared_ptr<const std::string> text_;
};

}  // namespace holdfast
