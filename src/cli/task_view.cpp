#include "cli/task_view.h"

#include <algorithm>
#include <array>
#include <ostream>
#include <thread>

#include "cli/words.h"

namespace holdfast::cli {
namespace {

constexpr std::chrono::milliseconds kPatience{5'000};  ///< A suspended task is noticed this late.
constexpr std::chrono::milliseconds kFollowEvery{250};

void say_suspended(const std::string& id, const Context& context) {
    context.io.err << "  it waits for a person. Errors:  holdfast history " << id
                   << "\n  then:  holdfast resume " << id << "   or   holdfast discard " << id
                   << '\n';
}

std::string error_line(const json::value& step) {
    const auto* object = step.if_object();
    const auto* error = object != nullptr ? object->if_contains("error") : nullptr;
    if (error == nullptr || !error->is_object()) return {};
    const auto kind = text_of(*error, "kind");
    return (kind.empty() ? "" : kind + ": ") + text_of(*error, "message");
}

}  // namespace

void print_task(const json::object& task, const Context& context) {
    if (context.as_json()) return context.print(task);
    constexpr std::array kTimes{"created_at", "started_at", "finished_at",
                                "updated_at", "run_at",     "deadline"};
    std::size_t width = 0;
    for (const auto& member : task) width = std::max(width, member.key().size());
    for (const auto& member : task) {
        const std::string name(member.key());
        if (member.value().is_null()) continue;
        const bool is_time = std::ranges::find(kTimes, name) != kTimes.end();
        const auto text = is_time ? time_of(task, name, context.io) : text_of(task, name);
        if (context.io.out_is_terminal) {
            context.io.out << name << std::string(width + 2 - name.size(), ' ') << printable(text)
                           << '\n';
        } else {
            context.io.out << name << '\t' << printable(text) << '\n';
        }
    }
}

void print_tasks(const json::array& tasks, const Context& context) {
    if (context.as_json()) return context.print(tasks);
    if (tasks.empty()) return context.say("no tasks");
    Table table({{.name = "ID", .worth = 9},
                 {.name = "STATE", .worth = 8},
                 {.name = "TYPE", .worth = 7},
                 {.name = "QUEUE", .worth = 6},
                 {.name = "ATTEMPT", .worth = 3, .right = true},
                 {.name = "CREATED", .worth = 5},
                 {.name = "ERROR", .worth = 4, .cut = true}});
    for (const auto& task : tasks)
        table.add({text_of(task, "id"), text_of(task, "state"), text_of(task, "type"),
                   text_of(task, "queue"), text_of(task, "attempt"),
                   time_of(task, "created_at", context.io), error_line(task)});
    table.print(context.io);
}

int wait_and_print(const std::string& id, std::chrono::milliseconds wait, Context& context) {
    json::object task;
    for (;;) {
        const auto piece = std::min(wait, kPatience);
        task = context.server().get(id, piece);
        wait -= piece;
        if (is_over(text_of(task, "state")) || wait.count() <= 0) break;
    }
    print_task(task, context);
    const auto state = text_of(task, "state");
    if (!is_over(state)) {
        context.io.err << mark(context.io) << id << " has not finished yet: it is " << state
                       << "\n  why:  holdfast explain " << id << '\n';
        return kOther;
    }
    if (state == "suspended" && !context.as_json()) say_suspended(id, context);
    return exit_of_state(state);
}

void print_step(const json::value& step, const Context& context) {
    if (context.as_json()) return context.print(step);
    auto message = error_line(step);
    if (message.empty()) message = text_of(step, "message");
    const auto attempt = text_of(step, "attempt");
    const auto from = text_of(step, "from");
    const std::string gap = context.io.out_is_terminal ? "  " : "\t";
    const auto state = context.io.out_is_terminal && !from.empty()
                           ? from + " → " + text_of(step, "to")
                           : text_of(step, "to");
    context.io.out << time_of(step, "at", context.io) << gap << printable(state) << gap
                   << printable(text_of(step, "event")) << gap << printable(attempt) << gap
                   << printable(message) << '\n'
                   << std::flush;
}

int follow(const std::string& id, Context& context) {
    std::size_t seen = 0;
    for (;;) {
        const auto task = context.server().get(id);
        const auto steps = context.server().history(id);
        for (; seen < steps.size(); ++seen) print_step(steps[seen], context);
        const auto state = text_of(task, "state");
        // The task was read before its steps: once it is over, all of them have been shown.
        if (is_over(state)) {
            if (state == "suspended" && !context.as_json()) say_suspended(id, context);
            return exit_of_state(state);
        }
        std::this_thread::sleep_for(kFollowEvery);
    }
}

}  // namespace holdfast::cli
