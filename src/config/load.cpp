// Gathers what was said by file, environment and flags, each over the one before, and judges it.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <ranges>
#include <system_error>

#include "base/nearest.h"
#include "config/config.h"
#include "config/options.h"
#include "config/presets.h"
#include "config/toml_file.h"
#include "config/values.h"

namespace holdfast::config {
namespace {

using Kind = Entry::Kind;

constexpr std::size_t kLargestFile = std::size_t{1} << 20;
constexpr std::size_t kMostProblems = 20;
constexpr std::string_view kPrefix = "HOLDFAST_";

/// What all of them begin with says nothing about which was meant.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known,
                         std::string_view prefix = {}) {
    std::vector<std::string_view> candidates;
    candidates.reserve(known.size());
    for (const std::string_view name : known) candidates.push_back(name.substr(prefix.size()));
    const auto meant = nearest(word.substr(prefix.size()), candidates);
    if (!meant) return {};
    return std::string("; did you mean ").append(prefix).append(*meant).append("?");
}

/// A key written without its section is meant more often than one with a similar name.
std::string did_you_mean_key(const Entry& entry) {
    std::vector<std::string> names{"presets"};
    for (const Option& option : options()) {
        const std::size_t dot = option.name.find('.');
        names.emplace_back(entry.kind == Kind::table ? option.name.substr(0, dot) : option.name);
        if (option.name.substr(dot + 1) == entry.path.back())
            return "; did you mean " + std::string(option.name) + '?';
    }
    return did_you_mean(entry.name(), names);
}

std::optional<std::string> wrong_type(Type type, Kind kind) {
    const auto need = [&](bool fits, const char* what) -> std::optional<std::string> {
        if (fits) return std::nullopt;
        return std::string("must be ") + what;
    };
    switch (type) {
        case Type::count:
            return need(kind == Kind::whole, "a whole number, without quotes");
        case Type::size:
            return need(kind == Kind::whole || kind == Kind::text,
                        "a size as text, like \"1MiB\", or a number of bytes");
        case Type::duration:
            return need(kind == Kind::text, "a duration as text, like \"30s\"");
        case Type::truth:
            return need(kind == Kind::truth, "true or false, without quotes");
        case Type::choice:
        case Type::address:
        case Type::store_url:
        case Type::name:
            return need(kind == Kind::text, "text in quotes");
        case Type::names:
            return need(kind == Kind::text || kind == Kind::texts,
                        "a list of texts, like [\"a\", \"b\"]");
    }
    std::unreachable();
}

/// "no-demo" for a truth that is named "demo".
const Option* find_flag(std::string_view flag, bool& negated) {
    for (const Option& option : options()) {
        const std::string own = flag_of(option);
        negated = option.type == Type::truth && flag == "no-" + own;
        if (negated || flag == own) return &option;
    }
    return nullptr;
}

/// A flag of the command line, taken apart.
struct Flag {
    std::string name;                  ///< Without dashes.
    std::optional<std::string> value;  ///< Of `--name=value`.
};

std::optional<Flag> as_flag(const std::string& arg) {
    if (!arg.starts_with("--") || arg.size() == 2) return std::nullopt;
    const std::size_t equals = arg.find('=');
    if (equals == std::string::npos) return Flag{arg.substr(2), std::nullopt};
    return Flag{arg.substr(2, equals - 2), arg.substr(equals + 1)};
}

/// An unknown one is taken to: its value shall not be called a mistake too.
bool takes_value(std::string_view flag) {
    bool negated = false;
    const Option* option = find_flag(flag, negated);
    return option == nullptr || option->type != Type::truth;
}

/// Values that follow their flag are joined to it: `--name value` becomes `--name=value`.
struct JoinedArgs {
    std::vector<Flag> flags;
    std::vector<std::string> problems;
};

JoinedArgs join(const std::vector<std::string>& args) {
    JoinedArgs joined;
    for (std::size_t i = 0; i < args.size(); ++i) {
        auto flag = as_flag(args[i]);
        if (!flag) {
            joined.problems.push_back(in_quotes(args[i]) + ": unexpected argument");
            continue;
        }
        if (!flag->value && takes_value(flag->name)) {
            const bool follows = i + 1 < args.size() && !args[i + 1].starts_with("--");
            if (follows) flag->value = args[++i];
        }
        joined.flags.push_back(*std::move(flag));
    }
    return joined;
}

Result<std::string> read_file(const std::string& path) {
    const auto cannot = [&](const std::string& why) {
        return refuse(Code::invalid_argument, path + ": cannot be read: " + why);
    };
    errno = 0;
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"),
                                                               std::fclose);
    if (!file) return cannot(std::generic_category().message(errno));
    std::string text(kLargestFile + 1, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), file.get()));
    if (std::ferror(file.get()) != 0) return cannot(std::generic_category().message(errno));
    if (text.size() > kLargestFile) return cannot("it is larger than 1 MiB");
    return text;
}

class Loader {
  public:
    explicit Loader(const Inputs& inputs) : inputs_(inputs), args_(join(inputs.args)) {}

    Result<Loaded> load() {
        take_defaults();
        take_file();
        take_environment();
        take_flags();
        if (!problems_.empty()) return failure();
        for (std::size_t i = 0; i < options().size(); ++i) {
            const Option& option = options()[i];
            option.put(loaded_.config, given_[i].value);
            loaded_.settings.push_back(
                {std::string(option.name), show_value(option, given_[i].value), given_[i].source});
        }
        show_presets();
        return std::move(loaded_);
    }

  private:
    struct Given {
        Value value;
        std::string source = "default";
    };

    void complain(std::string problem) { problems_.push_back(std::move(problem)); }

    std::unexpected<Error> failure() const {
        std::string all;
        for (std::size_t i = 0; i < std::min(problems_.size(), kMostProblems); ++i)
            all.append(i == 0 ? "" : "\n").append(problems_[i]);
        if (problems_.size() > kMostProblems)
            all += "\nand " + std::to_string(problems_.size() - kMostProblems) + " more";
        return std::unexpected(Error{Code::invalid_argument, std::move(all), field_});
    }

    void take_defaults() {
        for (const Option& option : options())
            given_.push_back({*read_value(option, option.fallback)});
    }

    void take(const Option& option, std::string_view text, const std::string& source) {
        const auto value = read_value(option, text);
        if (!value) {
            if (field_.empty()) field_ = option.name;
            const std::string detail = option.secret ? "has a wrong value" : value.error().detail;
            return complain(source + ": " + std::string(option.name) + ": " + detail);
        }
        given_[static_cast<std::size_t>(&option - options().data())] = {*value, source};
    }

    /// The file that was named, or the first of the usual ones that is there.
    std::optional<std::string> file() const {
        for (const Flag& flag : args_.flags | std::views::reverse) {
            if (flag.name == kConfigFlag && flag.value) return flag.value;
        }
        const auto named = inputs_.environment.find(kConfigVariable);
        if (named != inputs_.environment.end() && !named->second.empty()) return named->second;
        for (const std::string& path : inputs_.usual_files) {
            std::error_code error;
            if (std::filesystem::exists(path, error) || error) return path;
        }
        return std::nullopt;
    }

    void take_file() {
        const auto path = file();
        if (!path) return;
        const auto text = read_file(*path);
        if (!text) return complain(text.error().detail);
        const auto entries = parse_toml(*text, *path);
        if (!entries) return complain(entries.error().detail);
        loaded_.file = *path;
        for (const Entry& entry : *entries) {
            if (entry.path.front() != "presets") take_entry(entry);
        }
        presets_ = read_presets(*entries);
        problems_.insert(problems_.end(), presets_.problems.begin(), presets_.problems.end());
    }

    void take_entry(const Entry& entry) {
        const Option* option = find_option(entry.name());
        if (entry.kind == Kind::table && is_section(entry.name())) return;
        if (option == nullptr)
            return complain(entry.where + ": " + in_quotes(entry.name()) + " is not an option" +
                            did_you_mean_key(entry));
        if (const auto wrong = wrong_type(option->type, entry.kind))
            return complain(entry.where + ": " + entry.name() + ": " + *wrong);
        take(*option, entry.kind == Kind::texts ? joined(entry.texts) : entry.text, entry.where);
    }

    static std::string joined(const std::vector<std::string>& texts) {
        std::string all;
        for (const std::string& text : texts) all.append(all.empty() ? "" : ",").append(text);
        return all;
    }

    static bool is_section(const std::string& name) {
        return std::ranges::any_of(
            options(), [&](const Option& option) { return option.name.starts_with(name + '.'); });
    }

    void take_environment() {
        std::vector<std::string> known;
        for (const Option& option : options()) known.push_back(variable_of(option));
        for (const OtherVariable& other : other_variables()) known.emplace_back(other.name);
        for (const auto& [name, text] : inputs_.environment) {
            if (!name.starts_with(kPrefix)) continue;
            const auto found = std::ranges::find(known, name);
            const auto at = static_cast<std::size_t>(found - known.begin());
            if (found == known.end())
                complain(in_quotes(name) + " is not a variable of Holdfast" +
                         did_you_mean(name, known, kPrefix));
            else if (at < options().size() && !text.empty())
                take(options()[at], text, name);
        }
    }

    void take_flags() {
        for (const std::string& problem : args_.problems) complain(problem);
        for (const Flag& flag : args_.flags) {
            if (flag.name != kConfigFlag)
                take_flag(flag);
            else if (!flag.value)
                complain("--config: needs a value: the path of a file");
        }
    }

    void take_flag(const Flag& flag) {
        const std::string source = "--" + flag.name;
        bool negated = false;
        const Option* option = find_flag(flag.name, negated);
        if (option == nullptr)
            return complain(in_quotes(source) + " is not a flag of " +
                            std::string(inputs_.command) + did_you_mean(source, flags(), "--"));
        if (!belongs_to(*option, inputs_.command))
            return complain(source + " is a flag of " +
                            std::string(option->commands.substr(0, option->commands.find(' '))) +
                            ", not of " + std::string(inputs_.command));
        if (negated && flag.value) return complain(source + ": takes no value");
        if (option->type != Type::truth && !flag.value)
            return complain(source + ": needs a value: " + std::string(placeholder(option->type)));
        take(*option, flag.value ? *flag.value : negated ? "false" : "true", source);
    }

    std::vector<std::string> flags() const {
        std::vector<std::string> known{"--" + std::string(kConfigFlag)};
        for (const Option& option : options()) {
            if (!belongs_to(option, inputs_.command)) continue;
            known.push_back("--" + flag_of(option));
            if (option.type == Type::truth) known.push_back("--no-" + flag_of(option));
        }
        return known;
    }

    void show_presets() {
        for (std::size_t i = 0; i < presets_.presets.size(); ++i) {
            const domain::Preset& preset = presets_.presets[i];
            loaded_.settings.push_back({"presets." + preset.name,
                                        domain::format_policy(preset.policy), presets_.sources[i]});
        }
        loaded_.config.presets = std::move(presets_.presets);
    }

    const Inputs& inputs_;
    JoinedArgs args_;
    std::vector<Given> given_;  // in the order of options()
    ReadPresets presets_;
    std::vector<std::string> problems_;
    std::string field_;  // of the first problem
    Loaded loaded_;
};

}  // namespace

Result<Loaded> load(const Inputs& inputs) {
    return Loader(inputs).load();
}

Config defaults() {
    Config config;
    for (const Option& option : options()) option.put(config, *read_value(option, option.fallback));
    return config;
}

Environment environment_of(const char* const* environ) {
    Environment found;
    for (; environ != nullptr && *environ != nullptr; ++environ) {
        const std::string_view line = *environ;
        const std::size_t equals = line.find('=');
        if (line.starts_with(kPrefix) && equals != std::string_view::npos)
            found.emplace(line.substr(0, equals), line.substr(equals + 1));
    }
    return found;
}

SplitArgs split_args(std::string_view command, const std::vector<std::string>& args) {
    SplitArgs split;
    for (std::size_t i = 0; i < args.size(); ++i) {
        const auto flag = as_flag(args[i]);
        bool negated = false;
        const Option* option = flag ? find_flag(flag->name, negated) : nullptr;
        const bool known =
            flag && (flag->name == kConfigFlag || (option && belongs_to(*option, command)));
        auto& side = known ? split.options : split.rest;
        side.push_back(args[i]);
        if (known && !flag->value && takes_value(flag->name) && i + 1 < args.size())
            side.push_back(args[++i]);
        if (args[i] == "--" && !known) {  // what follows is another program's
            split.rest.insert(split.rest.end(), args.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                              args.end());
            break;
        }
    }
    return split;
}

}  // namespace holdfast::config
