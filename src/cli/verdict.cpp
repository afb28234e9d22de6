#include "cli/verdict.h"

#include <boost/json/parse.hpp>
#include <cstring>

namespace holdfast::cli {
namespace {

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view kBlank = " \t\r\n";
    const auto begin = text.find_first_not_of(kBlank);
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

std::string last_line(std::string_view text) {
    text = trimmed(text);
    const auto at = text.find_last_of('\n');
    return std::string(trimmed(at == std::string_view::npos ? text : text.substr(at + 1)));
}

boost::json::value result_of(std::string_view output) {
    output = trimmed(output);
    if (output.empty()) return nullptr;
    boost::json::parse_options options;
    options.max_depth = 64;
    boost::json::error_code failed;
    auto value = boost::json::parse({output.data(), output.size()}, failed, {}, options);
    if (failed) return boost::json::string(output.data(), output.size());
    return value;
}

Verdict failure(Verdict::Kind kind, const ChildEnd& end, const std::string& how) {
    Verdict verdict{.kind = kind};
    verdict.message = last_line(end.errors);
    if (verdict.message.empty()) verdict.message = "the program ended with " + how;
    verdict.stack = end.errors;
    verdict.code = how;
    verdict.told = (kind == Verdict::Kind::permanent ? "failed for good: " : "failed: ") + how;
    for (char& c : verdict.code)
        if (c == ' ') c = '_';
    return verdict;
}

}  // namespace

Verdict verdict_of(const ChildEnd& end, bool cancelled) {
    using Kind = Verdict::Kind;
    if (!end.problem.empty()) {
        Verdict verdict{.kind = Kind::transient};
        verdict.message = verdict.told = end.problem;
        verdict.code = "cannot_run";
        return verdict;
    }
    const bool good = end.signal == 0 && end.code == 0;
    if (cancelled && !good) {
        Verdict verdict = failure(Kind::transient, end, "cancel");
        verdict.message = "cancelled";
        verdict.told = "cancelled";
        return verdict;
    }
    if (end.signal != 0)
        return failure(Kind::transient, end, "signal " + std::to_string(end.signal));
    const auto how = "exit " + std::to_string(end.code);
    if (end.code == kExitPermanent) return failure(Kind::permanent, end, how);
    if (end.code != 0) return failure(Kind::transient, end, how);
    if (end.output_too_long) {
        Verdict verdict = failure(Kind::permanent, end, "too long a result");
        verdict.message = "the result on standard output is longer than 1 MiB";
        return verdict;
    }
    Verdict verdict;
    verdict.result = result_of(end.output);
    verdict.told = "done";
    return verdict;
}

}  // namespace holdfast::cli
