// What the end of a program means for its task.
#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <string>

#include "cli/child.h"

namespace holdfast::cli {

inline constexpr int kExitPermanent = 65;  ///< EX_DATAERR
inline constexpr int kExitTransient = 75;  ///< EX_TEMPFAIL

struct Verdict {
    enum class Kind : std::uint8_t { done, transient, permanent };
    Kind kind = Kind::done;
    boost::json::value result = {};
    std::string message = {};  ///< The last line that it wrote to standard error, or how it ended.
    std::string stack = {};    ///< All that is kept of standard error.
    std::string code = {};
    std::string told = {};  ///< For who watches the worker.
};

/// Exit 0: done with what it printed, JSON or else plain text; 65: permanent; anything else: transient.
Verdict verdict_of(const ChildEnd& end, bool cancelled);

}  // namespace holdfast::cli
