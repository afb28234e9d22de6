#include "cli/commands.h"

#include "cli/completion.h"

namespace holdfast::cli {

Commands client_commands() {
    return {
        {"submit", "Submit a task", submit},
        {"get", "One task, perhaps when it has finished", get},
        {"list", "Tasks that match, newest first", list},
        {"history", "Every step of a task, with every attempt's error", history},
        {"explain", "Why a task is not running and what will move it", explain},
        {"cancel", "Cancel tasks; a running one is asked to stop", cancel},
        {"pause", "Pause tasks; a running one at its next checkpoint", pause},
        {"resume", "Resume paused or suspended tasks, perhaps with a new payload", resume},
        {"discard", "Give tasks up for good", discard},
        {"signal", "Wake a task that waits for a signal", signal},
        {"suspended", "Tasks that wait for a person: list, resume, discard", suspended},
        {"bulk", "Act on every task that matches", bulk},
        {"failures", "What goes wrong, by kind", failures},
        {"work", "Run a program for every task of a queue", work},
        {"workers", "Who works here", workers},
        {"instances", "The servers that share this store", instances},
        {"queues", "Queues: list, pause, resume, close, open, limit", queues},
        {"audit", "What operators did, and why", audit},
        {"stats", "Counts by queue, type and state", stats},
        {"events", "What happens, as it happens", events},
        {"top", "A live view: queues, rates, workers, newest failures", top},
    };
}

Commands with_general_commands(Commands commands, std::string version) {
    commands.push_back({"version", "The version of this program",
                        [version = std::move(version)](const Arguments& arguments, Io& io) {
                            return print_version(version, arguments, io);
                        }});
    std::vector<std::string> names{"completion"};
    for (const auto& command : commands) names.push_back(command.name);
    auto flags_of = [all = commands](const std::string& name, Io& io) {
        for (const auto& command : all)
            if (command.name == name) command.run({std::string(kListFlagsArgument)}, io);
    };
    commands.insert(commands.end() - 1, {"completion", "Completion for bash, zsh and fish",
                                         [names, flags_of](const Arguments& arguments, Io& io) {
                                             return completion(names, flags_of, arguments, io);
                                         }});
    return commands;
}

}  // namespace holdfast::cli
