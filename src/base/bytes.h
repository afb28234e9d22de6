// Opaque bytes that several holders may share: a body is written once and then only handed around.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast {

/// Immutable, shared by copying, one pointer wide. Copies may live on different threads.
class Bytes {
  public:
    Bytes() = default;
    explicit Bytes(std::string_view text) {
        if (text.empty()) return;
        block_ = static_cast<Block*>(::operator new(sizeof(Block) + text.size()));
        new (block_) Block{.holders = 1, .size = text.size()};
        std::memcpy(block_->text(), text.data(), text.size());
    }
    Bytes(const Bytes& other) : block_(other.block_) {
        if (block_ != nullptr) block_->holders.fetch_add(1, std::memory_order_relaxed);
    }
    Bytes(Bytes&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
    Bytes& operator=(Bytes other) noexcept {
        std::swap(block_, other.block_);
        return *this;
    }
    ~Bytes() {
        if (block_ != nullptr && block_->holders.fetch_sub(1, std::memory_order_acq_rel) == 1)
            ::operator delete(block_);
    }

    std::string_view view() const {
        return block_ == nullptr ? std::string_view{}
                                 : std::string_view(block_->text(), block_->size);
    }
    std::size_t size() const { return view().size(); }
    bool empty() const { return block_ == nullptr; }

    friend bool operator==(const Bytes& a, const Bytes& b) { return a.view() == b.view(); }

  private:
    struct Block {
        std::atomic<std::uint32_t> holders;
        std::uint64_t size;
        char* text() { return reinterpret_cast<char*>(this + 1); }  // the bytes follow the block
    };
    Block* block_ = nullptr;
};

/// A text that many values carry and nobody changes: copying it allocates nothing.
class Text {
  public:
    Text() = default;
    Text(std::string_view text)
        : bytes_(text) {}  // NOLINT(google-explicit-constructor): a text is a text
    Text(const std::string& text) : bytes_(text) {}  // NOLINT(google-explicit-constructor)
    Text(const char* text)
        : bytes_(std::string_view(text)) {}  // NOLINT(google-explicit-constructor)

    std::string_view view() const { return bytes_.view(); }
    operator std::string_view() const { return view(); }  // NOLINT(google-explicit-constructor)
    bool empty() const { return bytes_.empty(); }

    friend bool operator==(const Text& a, const Text& b) { return a.view() == b.view(); }
    friend std::string operator+(std::string a, const Text& b) { return a.append(b.view()); }

  private:
    Bytes bytes_;
};

}  // namespace holdfast
