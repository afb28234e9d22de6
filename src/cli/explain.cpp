#include <algorithm>
#include <array>
#include <ostream>

#include "cli/commands.h"
#include "cli/context.h"
#include "cli/words.h"

namespace holdfast::cli {
namespace {

struct Meaning {
    std::string_view code, text;
};
constexpr std::array kMeanings{
    Meaning{"invalid_argument",
            "The request is wrong: the message names the field. Sending it again cannot help."},
    Meaning{"not_found",
            "There is no such task, queue or page here. Finished tasks are removed after a while."},
    Meaning{
        "wrong_state",
        "The task is in a state from which this is not possible, e.g. discarding one that runs. "
        "Cancel it first, or wait."},
    Meaning{"stale_lease",
            "The worker's lease is over and somebody else may have the task. The worker drops it."},
    Meaning{"conflict",
            "The idempotency key was used for another task. Use a new key for a new task."},
    Meaning{"overloaded", "The server has too much to do and did nothing. Try again later."},
    Meaning{"unavailable",
            "The server, or its store, could not finish the request. It may or may not have "
            "happened: look, then try again."},
    Meaning{
        "forbidden",
        "This server does not allow it: it was started read-only. Ask another instance, or start "
        "it without --read-only."},
    Meaning{"unauthorized", "The server wants another token, or does not allow this."},
    Meaning{"unreachable", "No connection to the server came about: nothing was sent."},
    Meaning{"timed_out", "No answer came in time. It may or may not have happened."},
    Meaning{"other", "Something that has no code of its own: the message is all there is."},
};

}  // namespace

int explain(const Arguments& arguments, Io& io) {
    Context context(io);
    std::string id;
    Options options(
        "explain", "ID|CODE [OPTIONS]",
        "Why a task is not running, what will move it and when; or what an error's code means.");
    options.argument(id, "ID", "The task, or a code such as stale_lease");
    return run_client(context, options, arguments, [&] {
        const auto* const meaning = std::ranges::find(kMeanings, id, &Meaning::code);
        if (meaning != kMeanings.end()) {
            if (context.as_json()) {
                context.print(json::object{{"code", id}, {"meaning", std::string(meaning->text)}});
            } else {
                io.out << meaning->text << '\n';
            }
            return kOk;
        }
        const auto explanation = context.server().explain(id);
        if (context.as_json()) {
            context.print(explanation);
            return kOk;
        }
        io.out << printable(text_of(explanation, "sentence")) << '\n';
        const auto by = text_of(explanation, "wakes_by");
        const auto at = time_of(explanation, "wakes_at", io);
        if (!by.empty()) io.out << "moved by: " << printable(by) << '\n';
        if (!at.empty()) io.out << "at the latest: " << printable(at) << '\n';
        return kOk;
    });
}

}  // namespace holdfast::cli
