// What a client was told, in a form that goes through a pipe line by line.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/uuid.h"
#include "domain/record.h"

namespace holdfast::chaos {

struct Told {
    enum class What : std::uint8_t {
        accepted,  ///< A submission; text: its idempotency key.
        claimed,  ///< A task was handed out: not on disk yet, and its epoch is used up all the same.
        seen,     ///< Somebody read it.
        stepped,    ///< A call was answered "done"; text of a completion: the result.
        staged,     ///< text: the stage that is in the log.
        signalled,  ///< text: the signal that is in the log.
        spent,      ///< text: the key of an entry in the ledger.
        limited,    ///< The queue `text` has the concurrency `version`.
    };
    What what = What::accepted;
    Uuid id{};
    domain::Event event = domain::Event::none;
    domain::State state = domain::State::none;
    std::uint32_t attempt = 0;
    domain::Epoch epoch{};
    std::uint64_t version = 0;
    std::string text{};  ///< Without line breaks.

    friend bool operator==(const Told&, const Told&) = default;
};

using Hear = std::function<void(const Told&)>;

/// With its line break.
std::string to_line(const Told& told);
std::optional<Told> read_line(std::string_view line);

}  // namespace holdfast::chaos
