#include "cli/completion.h"

#include <holdfast/json.h>

#include <algorithm>
#include <ostream>
#include <set>
#include <sstream>

#include "cli/options.h"
#include "cli/words.h"

namespace holdfast::cli {
namespace {

constexpr std::string_view kBash = R"sh(_holdfast() {
    local IFS=$'\n'
    COMPREPLY=($(compgen -W "$(holdfast completion words -- "${COMP_WORDS[@]:1:COMP_CWORD-1}" 2>/dev/null)" \
        -- "${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _holdfast holdfast
)sh";
constexpr std::string_view kZsh = R"sh(#compdef holdfast
_holdfast() {
    local -a candidates
    candidates=(${(f)"$(holdfast completion words -- ${words[2,CURRENT-1]} 2>/dev/null)"})
    compadd -a candidates || _files
}
compdef _holdfast holdfast
)sh";
constexpr std::string_view kFish = R"sh(function __holdfast_words
    set -l tokens (commandline -opc)
    holdfast completion words -- $tokens[2..-1] 2>/dev/null
end
complete -c holdfast -a '(__holdfast_words)'
)sh";

/// What may follow what was typed: a command, one of its sub-commands, or its flags.
std::set<std::string> candidates(
    const std::vector<std::string>& names,
    const std::function<void(const std::string& name, Io& io)>& flags_of,
    const std::vector<std::string>& typed, Io& io) {
    std::set<std::string> out;
    if (typed.empty()) {
        out.insert(names.begin(), names.end());
        out.insert({"--help", "--version"});
        return out;
    }
    if (typed.size() == 1) {
        if (typed[0] == "suspended") out.insert({"list", "resume", "discard"});
        if (typed[0] == "queues") out.insert({"list", "pause", "resume", "close", "open", "limit"});
        if (typed[0] == "bulk") out.insert({"resume", "discard", "cancel", "pause"});
        if (typed[0] == "completion") out.insert({"bash", "zsh", "fish"});
    }
    if (std::ranges::find(names, typed[0]) == names.end()) return out;
    std::ostringstream flags;
    std::ostringstream ignored;
    Io apart{.in = io.in, .out = flags, .err = ignored, .environment = io.environment};
    flags_of(typed[0], apart);
    std::istringstream lines(flags.str());
    for (std::string line; std::getline(lines, line);)
        if (line.starts_with("--")) out.insert(line);
    return out;
}

}  // namespace

int completion(const std::vector<std::string>& names,
               const std::function<void(const std::string& name, Io& io)>& flags_of,
               const Arguments& arguments, Io& io) {
    std::string shell;
    std::vector<std::string> typed;
    Options options("completion", "bash|zsh|fish",
                    "Prints a script that completes commands and options.\n"
                    "  bash:  source <(holdfast completion bash)\n"
                    "  zsh:   source <(holdfast completion zsh)\n"
                    "  fish:  holdfast completion fish | source");
    options.argument(shell, "SHELL", "bash, zsh or fish").rest(typed);
    if (const auto ended = options.parse(arguments, io)) return *ended;
    if (shell == "words") {
        for (const auto& word : candidates(names, flags_of, typed, io)) io.out << word << '\n';
        return kOk;
    }
    if (shell != "bash" && shell != "zsh" && shell != "fish") {
        io.err << mark(io) << "no completion for '" << printable(shell)
               << "'\n  usage: holdfast completion bash|zsh|fish\n";
        return kUsage;
    }
    io.out << (shell == "bash" ? kBash : shell == "zsh" ? kZsh : kFish);
    return kOk;
}

int print_version(const std::string& version, const Arguments& arguments, Io& io) {
    std::string output = "table";
    std::string server;
    Options options("version", "", "The version of this program.");
    options.choice(output, "-o,--output", {"table", "json"}, "How to print");
    options.text(server, "--server", "URL", "Not asked: this is about the program");
    if (const auto ended = options.parse(arguments, io)) return *ended;
    if (output == "json") {
        io.out << client::json_text(boost::json::object{{"version", version}}) << '\n';
    } else {
        io.out << "holdfast " << version << '\n';
    }
    return kOk;
}

}  // namespace holdfast::cli
