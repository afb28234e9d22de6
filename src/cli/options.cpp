#include "cli/options.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <ostream>

#include "base/time.h"
#include "cli/completion.h"
#include "cli/words.h"

namespace holdfast::cli {
namespace {

std::optional<std::chrono::milliseconds> to_duration(const std::string& text) {
    const auto parsed = parse_duration(text);
    if (!parsed) return std::nullopt;
    return std::chrono::ceil<std::chrono::milliseconds>(*parsed);
}

/// The first of "-l,--label" that is long, without its dashes.
std::string long_name(const std::string& names) {
    const auto at = names.find("--");
    return names.substr(at, names.find(',', at) - at);
}

}  // namespace

struct Options::Impl {
    Impl(const std::string& name, std::string its_usage, const std::string& about)
        : app(about, "holdfast " + name), usage(std::move(its_usage)) {
        app.set_help_flag("-h,--help", "This text");
        app.allow_extras(false);
    }

    Arguments prepared(const Arguments& arguments);
    int complain(const std::string& what, Io& io) const;
    int list_flags(Io& io) const;

    CLI::App app;
    std::string usage;
    std::vector<std::string>* rest = nullptr;
    std::vector<std::pair<std::string, std::string>>
        optional_values;  ///< Option, and what it is bare.
};

Options::Options(std::string name, std::string usage, std::string about)
    : impl_(std::make_unique<Impl>(name, std::move(usage), about)) {}
Options::~Options() = default;

Options& Options::flag(bool& target, const std::string& name, const std::string& help) {
    impl_->app.add_flag(name, target, help);
    return *this;
}

Options& Options::text(std::string& target, const std::string& name, const std::string& value,
                       const std::string& help) {
    impl_->app.add_option(name, target, help)
        ->option_text(value)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    return *this;
}

Options& Options::texts(std::vector<std::string>& target, const std::string& name,
                        const std::string& value, const std::string& help) {
    impl_->app.add_option(name, target, help)->option_text(value + " …")->allow_extra_args(false);
    return *this;
}

Options& Options::choice(std::string& target, const std::string& name,
                         std::vector<std::string> words, const std::string& help) {
    std::string shown;
    for (const auto& word : words) shown += (shown.empty() ? "" : "|") + word;
    impl_->app.add_option(name, target, help)
        ->option_text(shown)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
        ->check([words = std::move(words), shown](const std::string& given) {
            if (std::ranges::find(words, given) != words.end()) return std::string();
            return "must be one of " + shown + ", not '" + printable(given) + "'";
        });
    return *this;
}

Options& Options::number(std::optional<std::int64_t>& target, const std::string& name,
                         const std::string& help) {
    impl_->app
        .add_option_function<std::int64_t>(
            name, [&target](const std::int64_t& given) { target = given; }, help)
        ->option_text("N");
    return *this;
}

Options& Options::decimal(std::optional<double>& target, const std::string& name,
                          const std::string& help) {
    impl_->app
        .add_option_function<double>(
            name, [&target](const double& given) { target = given; }, help)
        ->option_text("N");
    return *this;
}

Options& Options::duration(std::chrono::milliseconds& target, const std::string& name,
                           const std::string& help) {
    impl_->app
        .add_option_function<std::string>(
            name,
            [&target, name](const std::string& given) {
                const auto parsed = to_duration(given);
                if (!parsed)
                    throw CLI::ValidationError(
                        long_name(name),
                        "'" + printable(given) + "' is no duration; write 250ms, 30s, 2h30m");
                target = *parsed;
            },
            help)
        ->option_text("DURATION");
    return *this;
}

Options& Options::waiting(std::optional<std::chrono::milliseconds>& target, const std::string& name,
                          std::chrono::milliseconds bare, const std::string& help) {
    impl_->optional_values.emplace_back(long_name(name), std::to_string(bare.count()) + "ms");
    impl_->app
        .add_option_function<std::string>(
            name,
            [&target, name](const std::string& given) {
                target = to_duration(given);
                if (!target)
                    throw CLI::ValidationError(
                        long_name(name),
                        "'" + printable(given) + "' is no duration; write 30s, 2h30m");
            },
            help)
        ->option_text("[DURATION]");
    return *this;
}

Options& Options::argument(std::string& target, const std::string& name, const std::string& help,
                           bool required) {
    impl_->app.add_option(name, target, help)->required(required)->option_text(" ");
    return *this;
}

Options& Options::arguments(std::vector<std::string>& target, const std::string& name,
                            const std::string& help, bool required) {
    impl_->app.add_option(name, target, help)->required(required)->option_text(" ");
    return *this;
}

Options& Options::rest(std::vector<std::string>& target) {
    impl_->rest = &target;
    return *this;
}

/// What the library cannot do: a rest that is left alone, and a value that may be missing.
Arguments Options::Impl::prepared(const Arguments& arguments) {
    Arguments out;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (arguments[i] == "--" && rest != nullptr) {
            rest->assign(arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1, arguments.end());
            break;
        }
        out.push_back(arguments[i]);
        for (const auto& [name, bare] : optional_values) {
            if (arguments[i] != name) continue;
            const bool has_value = i + 1 < arguments.size() && to_duration(arguments[i + 1]);
            out.back() += "=" + (has_value ? arguments[++i] : bare);
        }
    }
    return out;
}

int Options::Impl::complain(const std::string& what, Io& io) const {
    io.err << mark(io) << printable(what) << "\n  usage: " << app.get_name()
           << (usage.empty() ? "" : " " + usage) << "\n  all options: " << app.get_name()
           << " --help\n";
    return kUsage;
}

int Options::Impl::list_flags(Io& io) const {
    for (const auto* option : app.get_options())
        for (const auto& name : option->get_lnames()) io.out << "--" << name << '\n';
    return kOk;
}

std::optional<int> Options::parse(const Arguments& arguments, Io& io) {
    // For the completion of shells.
    if (arguments.size() == 1 && arguments[0] == kListFlagsArgument) return impl_->list_flags(io);
    Arguments prepared = impl_->prepared(arguments);
    std::ranges::reverse(prepared);  // as the library wants them
    try {
        impl_->app.parse(std::move(prepared));
    } catch (const CLI::CallForHelp&) {
        auto text = impl_->app.help();
        const auto begin = text.find("Usage:");
        const auto end = text.find('\n', begin);
        if (begin != std::string::npos)
            text.replace(begin, end - begin,
                         "usage: " + impl_->app.get_name() + " " + impl_->usage);
        io.out << text;
        return kOk;
    } catch (const CLI::ParseError& error) {
        return impl_->complain(error.what(), io);
    }
    return std::nullopt;
}

}  // namespace holdfast::cli
