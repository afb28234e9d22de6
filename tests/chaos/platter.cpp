#include "platter.h"

#include <algorithm>
#include <array>

namespace holdfast::chaos {
namespace {

constexpr std::size_t kSector = 512;

void put(std::string& disk, std::size_t at, std::string_view bytes) {
    if (disk.size() < at + bytes.size()) disk.resize(at + bytes.size());
    bytes.copy(disk.data() + at, bytes.size());
}

/// The file is longer, and what was written there is not.
void grow(std::string& disk, std::size_t size, Rng& rng) {
    const std::size_t before = disk.size();
    if (size <= before) return;
    disk.resize(size);
    if (!rng.chance(0.3)) return;
    for (std::size_t i = before; i < size; ++i) disk[i] = static_cast<char>(rng());
}

void put_some_sectors(std::string& disk, std::size_t at, std::string_view bytes, double kept,
                      Rng& rng) {
    if (rng.chance(0.5)) grow(disk, at + bytes.size(), rng);
    while (!bytes.empty()) {
        const std::size_t part = std::min(kSector - at % kSector, bytes.size());
        if (rng.chance(kept)) put(disk, at, bytes.substr(0, part));
        at += part;
        bytes.remove_prefix(part);
    }
}

}  // namespace

// ---- a file ----

void File::write(std::size_t offset, std::string_view bytes) {
    put(seen_, offset, bytes);
    unsafe_.push_back({offset, std::string(bytes)});
}

void File::truncate(std::size_t size) {
    seen_.resize(size);
    unsafe_.push_back({size, std::nullopt});
}

void File::sync() {
    for (const Step& step : unsafe_) {
        if (step.bytes) {
            put(safe_, step.at, *step.bytes);
        } else {
            safe_.resize(step.at);
        }
    }
    unsafe_.clear();
}

void File::fail_to_sync(Rng& rng) {
    replay(safe_, unsafe_, rng);
    unsafe_.clear();
}

std::string File::after_cut(Rng& rng) const {
    std::string disk = safe_;
    replay(disk, unsafe_, rng);
    return disk;
}

/// Whole runs of luck are as likely as mixtures: most bugs need one file kept and another one lost.
void File::replay(std::string& disk, const std::vector<Step>& steps, Rng& rng) {
    constexpr std::array kLuck{0.0, 0.1, 0.5, 0.9, 1.0};
    const double kept = kLuck[rng.below(kLuck.size())];
    const double torn = rng.chance(0.5) ? 0.3 : 0;
    const std::size_t end = rng.chance(0.3) ? rng.below(steps.size() + 1) : steps.size();
    for (std::size_t i = 0; i < end; ++i) {
        const Step& step = steps[i];
        if (!step.bytes) {
            if (rng.chance(kept)) disk.resize(step.at);
        } else if (rng.chance(torn)) {
            put_some_sectors(disk, step.at, *step.bytes, rng.unit(), rng);
        } else if (rng.chance(kept)) {
            put(disk, step.at, *step.bytes);
        } else if (rng.chance(0.2)) {
            grow(disk, step.at + step.bytes->size(), rng);
        }
    }
}

// ---- the names ----

Platter::Platter(Media media) {
    for (auto& [path, bytes] : media) seen_[path] = std::make_shared<File>(std::move(bytes));
    safe_ = seen_;
}

Platter::FilePtr Platter::find(const std::string& path) const {
    const auto found = seen_.find(path);
    return found == seen_.end() ? nullptr : found->second;
}

Platter::FilePtr Platter::create(const std::string& path) {
    auto file = std::make_shared<File>();
    unsafe_.push_back({path, file});
    apply(seen_, unsafe_.back());
    return file;
}

void Platter::remove(const std::string& path) {
    unsafe_.push_back({path, nullptr});
    apply(seen_, unsafe_.back());
}

void Platter::sync_names() {
    safe_ = seen_;
    unsafe_.clear();
}

void Platter::apply(Names& names, const Step& step) {
    if (step.file) {
        names[step.path] = step.file;
    } else {
        names.erase(step.path);
    }
}

std::uint64_t Platter::bytes() const {
    constexpr std::uint64_t kBlock = 4096;
    std::uint64_t sum = 0;
    for (const auto& [path, file] : seen_)
        sum += (file->seen().size() + kBlock - 1) / kBlock * kBlock;
    return sum;
}

Media Platter::seen() const {
    Media media;
    for (const auto& [path, file] : seen_) media[path] = file->seen();
    return media;
}

Media Platter::after_cut(Rng& rng) const {
    Names names = safe_;
    const std::size_t kept = rng.below(unsafe_.size() + 1);
    for (std::size_t i = 0; i < kept; ++i) apply(names, unsafe_[i]);
    Media media;
    for (const auto& [path, file] : names) media[path] = file->after_cut(rng);
    return media;
}

}  // namespace holdfast::chaos
