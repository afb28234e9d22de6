// Hints on their way: gathered, and as one message.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coordination/coordination.h"

namespace holdfast::coordination {

/// What is to be told with the next message. Bounded: what does not fit is dropped, as a hint may be.
class HintBatch {
  public:
    static constexpr std::size_t kMost = 1000;

    /// True: it is the first, so somebody has to see to it that the batch is sent.
    bool add(Hint hint);
    bool empty() const { return counts_.empty(); }
    std::vector<Hint> take();

  private:
    std::map<std::pair<Hint::Of, std::string>, std::uint32_t> counts_;
};

/// One line for who tells, then one per hint: a letter, a count, a blank, a name.
std::string pack_hints(std::string_view instance, const std::vector<Hint>& hints);

struct HintMessage {
    std::string_view from;
    std::vector<Hint> hints;
};
/// What is not understood is left out: another version may be telling it. None: there is no sender.
std::optional<HintMessage> unpack_hints(std::string_view message);

}  // namespace holdfast::coordination
