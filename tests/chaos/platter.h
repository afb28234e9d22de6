// Files as a disk keeps them: what programs see, and what a power cut leaves of it.
//
// A write is seen at once and safe after a sync of its file. Until then a power cut may drop it, keep it, or
// keep some of its sectors; an earlier write may be gone and a later one there, which is all that reordering
// can do. A file that grew may be longer with nothing, or rubbish, in its new part. Names are kept as a
// file system with a journal keeps them: what was created and deleted is lost from the end.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/rng.h"

namespace holdfast::chaos {

/// What is on a disk between two lives of a machine: bytes by path.
using Media = std::map<std::string, std::string>;

class File {
  public:
    /// The bytes are safe.
    explicit File(std::string bytes = {}) : seen_(std::move(bytes)), safe_(seen_) {}

    const std::string& seen() const { return seen_; }
    bool is_safe() const { return unsafe_.empty(); }
    void write(std::size_t offset, std::string_view bytes);
    void truncate(std::size_t size);
    void sync();
    /// A sync that failed, as on Linux: what was unsafe may or may not have reached the disk, is still
    /// seen, and no later sync tries it again.
    void fail_to_sync(Rng& rng);
    std::string after_cut(Rng& rng) const;

  private:
    struct Step {
        std::size_t at = 0;                ///< Of a write: where. Of a truncation: the new size.
        std::optional<std::string> bytes;  ///< None: a truncation.
    };
    static void replay(std::string& disk, const std::vector<Step>& steps, Rng& rng);

    std::string seen_;
    std::string safe_;
    std::vector<Step> unsafe_;
};

/// The files of one disk. A file without a name lives as long as somebody has it open.
class Platter {
  public:
    using FilePtr = std::shared_ptr<File>;

    explicit Platter(Media media);

    FilePtr find(const std::string& path) const;
    FilePtr create(const std::string& path);
    void remove(const std::string& path);
    void sync_names();
    std::uint64_t bytes() const;

    /// As the next process finds them when only this one died.
    Media seen() const;
    /// As the next machine finds them when power is lost now.
    Media after_cut(Rng& rng) const;

  private:
    using Names = std::map<std::string, FilePtr>;
    struct Step {
        std::string path;
        FilePtr file;  ///< None: deleted.
    };
    static void apply(Names& names, const Step& step);

    Names seen_;
    Names safe_;
    std::vector<Step> unsafe_;
};

}  // namespace holdfast::chaos
