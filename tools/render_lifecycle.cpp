// Prints docs/lifecycle.md from the table in domain/lifecycle.h:
//     build/release/tools/render_lifecycle > docs/lifecycle.md
#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include "domain/lifecycle.h"
#include "domain/lifecycle_words.h"

namespace {

using namespace holdfast::domain;

std::string code(std::string_view word) {
    return '`' + std::string(word) + '`';
}

template <class Enum>
std::vector<Enum> all(std::size_t count) {
    std::vector<Enum> values;
    for (std::size_t i = 1; i < count; ++i) values.push_back(static_cast<Enum>(i));  // 0 is none
    return values;
}

std::string_view sort_of(State s) {
    if (is_final(s)) return "final";
    if (is_held(s)) return "held";
    if (is_parked(s)) return "parked";
    if (is_timed(s)) return "timed";
    return "ready";
}

std::string_view moved_by(State s) {
    if (is_final(s)) return "nothing any more";
    if (is_held(s)) return "its worker, or the end of its lease";
    if (is_parked(s)) return "an operator";
    if (is_timed(s)) return "its timer";
    return "a worker that asks";
}

/// Steps of `event` with the same sort of move in one row: "`running`, `accepted` → `queued`".
struct Row {
    std::string from;
    std::string to;
};

std::vector<Row> rows_of(Event event) {
    std::vector<Row> rows;
    const auto add = [&](const std::string& from, const std::string& to) {
        for (Row& row : rows) {
            if (row.to == to) {
                row.from += ", " + from;
                return;
            }
        }
        rows.push_back({from, to});
    };
    for (const Step& step : kLifecycle) {
        if (step.event != event) continue;
        const std::string from = step.from == State::none ? "–" : code(to_string(step.from));
        add(from, step.from == step.to ? "stays" : code(to_string(step.to)));
    }
    return rows;
}

void print_states() {
    std::puts("## States\n");
    std::puts("| state | sort | meaning | what moves it |\n|---|---|---|---|");
    for (const State s : all<State>(kStates)) {
        std::printf("| %s | %s | %s | %s |\n", code(to_string(s)).c_str(),
                    std::string(sort_of(s)).c_str(), std::string(meaning(s)).c_str(),
                    std::string(moved_by(s)).c_str());
    }
    std::puts(
        "\nA *ready* task stands in a lane. A *held* one has a worker, a lease and a fence. A "
        "*timed* "
        "one has a\nmoment at which it becomes ready. A *parked* one waits for a person and has no "
        "timer. A *final* one is\nover: no step leaves it. Every unfinished task is ready, has a "
        "timer, or is parked.\n");
}

/// The steps that a reader wants to see first; all of them stand in the table below.
constexpr std::array kMainPath{
    Event::submitted, Event::woken,  Event::claimed,     Event::accepted, Event::started,
    Event::completed, Event::failed, Event::lease_ended, Event::yielded,  Event::resumed,
};

void print_diagram() {
    std::puts("## The main path\n");
    std::puts("```mermaid\nstateDiagram-v2");
    std::set<std::string> drawn;
    for (const Step& step : kLifecycle) {
        const bool side_way = step.from == step.to || step.to == State::paused ||
                              step.from == State::paused || step.to == State::failed ||
                              (step.from != State::running && step.event != Event::claimed &&
                               is_held(step.from) && !is_held(step.to));
        if (side_way || std::ranges::find(kMainPath, step.event) == kMainPath.end()) continue;
        const std::string from =
            step.from == State::none ? "[*]" : std::string(to_string(step.from));
        const std::string line = from + " --> " + std::string(to_string(step.to)) + " : " +
                                 std::string(to_string(step.event));
        if (drawn.insert(line).second) std::printf("    %s\n", line.c_str());
    }
    std::puts("    succeeded --> [*]\n```\n");
}

void print_steps() {
    std::printf("## Steps\n\nAll %zu of them; nothing else ever happens to a task.\n\n",
                kLifecycle.size());
    std::puts("| event | from | to | meaning |\n|---|---|---|---|");
    for (const Event e : all<Event>(kEvents)) {
        std::string name = code(to_string(e));
        std::string words(meaning(e));
        for (const Row& row : rows_of(e)) {
            std::printf("| %s | %s | %s | %s |\n", name.c_str(), row.from.c_str(), row.to.c_str(),
                        words.c_str());
            name.clear();
            words.clear();
        }
    }
}

}  // namespace

int main() {
    std::puts(
        "# The life of a task\n\n"
        "<!-- Rendered by tools/render_lifecycle from src/domain/lifecycle.h: change the table, "
        "not "
        "this page. -->\n\n"
        "A task moves only by the steps below. They are one table in `src/domain/lifecycle.h`;\n"
        "`decide()` takes no other step, and a test walks every command in every situation that "
        "can "
        "be\nreached and compares what it saw with the table.\n");
    print_states();
    print_diagram();
    print_steps();
    return 0;
}
