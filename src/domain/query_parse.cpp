// Reading a filter line: text to clauses.
#include <algorithm>
#include <array>
#include <charconv>
#include <span>

#include "base/nearest.h"
#include "domain/query.h"
#include "domain/query_text.h"

namespace holdfast::domain {
namespace {

using How = Pattern::How;
using Op = Value::Op;
template <class T>
using Read = std::expected<T, QueryError>;

/// How the values of a field are written.
enum class Shape : std::uint8_t { text, word, hex, id, number, moment, ago, ahead, message };

struct FieldName {
    std::string_view name;
    Field field;
    Shape shape;
};
constexpr std::array kFields{
    FieldName{"state", Field::state, Shape::word},
    FieldName{"queue", Field::queue, Shape::text},
    FieldName{"type", Field::type, Shape::text},
    FieldName{"tenant", Field::tenant, Shape::text},
    FieldName{"id", Field::id, Shape::id},
    FieldName{"label", Field::label, Shape::text},
    FieldName{"worker", Field::worker, Shape::text},
    FieldName{"attempt", Field::attempt, Shape::number},
    FieldName{"retries", Field::retries, Shape::number},
    FieldName{"priority", Field::priority, Shape::number},
    FieldName{"age", Field::created, Shape::ago},
    FieldName{"created", Field::created, Shape::moment},
    FieldName{"updated", Field::updated, Shape::moment},
    FieldName{"running", Field::running, Shape::ago},
    FieldName{"wait", Field::wait, Shape::ahead},
    FieldName{"waiting", Field::waiting, Shape::word},
    FieldName{"group", Field::group, Shape::hex},
    FieldName{"error", Field::error, Shape::message},
    FieldName{"input", Field::input, Shape::text},
};

/// Words that others use for our fields.
struct Synonym {
    std::string_view theirs, ours;
};
constexpr std::array kSynonyms{
    Synonym{"kind", "type"},         Synonym{"name", "type"},        Synonym{"job", "type"},
    Synonym{"status", "state"},      Synonym{"node", "worker"},      Synonym{"tag", "label.KEY"},
    Synonym{"fingerprint", "group"}, Synonym{"retry", "retries"},    Synonym{"payload", "input"},
    Synonym{"message", "error"},     Synonym{"since", "created"},    Synonym{"customer", "tenant"},
    Synonym{"attempts", "attempt"},  Synonym{"labels", "label.KEY"}, Synonym{"duration", "running"},
};

constexpr std::array<std::string_view, 4> kWaitingWords{"delay", "retry", "signal", "paused"};

std::string listed(std::span<const std::string_view> words) {
    std::string text;
    for (const std::string_view word : words) text.append(text.empty() ? "" : ", ").append(word);
    return text;
}

std::string no_such_field(const std::string& name) {
    std::string detail = "there is no field " + name.substr(0, 64);
    std::array<std::string_view, kFields.size()> names;
    std::ranges::transform(kFields, names.begin(), &FieldName::name);
    const auto synonym = std::ranges::find(kSynonyms, name, &Synonym::theirs);
    if (synonym != kSynonyms.end())
        return detail + "; did you mean " + std::string(synonym->ours) + "?";
    if (const auto near = nearest(name, names))
        return detail + "; did you mean " + std::string(*near) + "?";
    return detail + "; fields are " + listed(names);
}

// ---- values that are a span of numbers ----

/// What a value stands for: a day is all of its moments.
struct Span {
    std::int64_t low = 0, high = 0;
};

Pattern spanning(std::int64_t low, std::int64_t high) {
    return {How::between, {}, low, high};
}

Pattern compared(Op op, const Span& span) {
    if (op == Op::above) return spanning(span.high + 1, INT64_MAX);
    if (op == Op::at_least) return spanning(span.low, INT64_MAX);
    if (op == Op::below) return spanning(INT64_MIN, span.low - 1);
    if (op == Op::at_most) return spanning(INT64_MIN, span.high);
    return spanning(span.low, span.high);
}

Read<Span> read_number(std::string_view text, std::size_t at, std::string_view field) {
    constexpr std::int64_t kMost = 1'000'000'000;
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size() || number < 0 || number > kMost)
        return misread(at, std::string(field) + " takes whole numbers, like " + std::string(field) +
                               ":>=3 or " + std::string(field) + ":1..5");
    return Span{number, number};
}

Read<Span> read_duration(std::string_view text, std::size_t at, std::string_view field) {
    const auto duration = parse_duration(text);
    if (!duration)
        return misread(at, std::string(field) + " takes a duration, like " + std::string(field) +
                               ":>10m or " + std::string(field) + ":<2h30m");
    return Span{duration->count(), duration->count()};
}

/// A day, a minute, a second or less; without a zone it is UTC.
Read<Span> read_moment(std::string_view text, std::size_t at, std::string_view field) {
    constexpr std::size_t kDay = 10, kMinute = 16, kSecond = 19;
    std::string whole(text);
    Duration length{1};
    if (text.size() == kDay) {
        whole += "T00:00:00Z";
        length = std::chrono::days{1};
    } else if (text.size() == kMinute) {
        whole += ":00Z";
        length = std::chrono::minutes{1};
    } else if (text.size() >= kSecond) {
        const bool has_zone =
            text.ends_with('Z') || text.find_first_of("+-", kDay) != std::string_view::npos;
        if (!has_zone) whole += 'Z';
        if (!text.contains('.')) length = std::chrono::seconds{1};
    }
    const auto time = parse_time(whole);
    if (time)
        return Span{time->time_since_epoch().count(),
                    (*time + length).time_since_epoch().count() - 1};
    if (parse_duration(text) && field == "created")
        return misread(at, "created takes a time; for how long ago write age, like age:<1h");
    return misread(at, std::string(field) + " takes a day or a time, like " + std::string(field) +
                           ":2026-11-01 or " + std::string(field) +
                           ":2026-11-01T08:00..2026-11-01T17:00");
}

Read<Span> read_span(const FieldName& field, std::string_view text, std::size_t at) {
    switch (field.shape) {
        case Shape::number:
            return read_number(text, at, field.name);
        case Shape::moment:
            return read_moment(text, at, field.name);
        default:
            return read_duration(text, at, field.name);
    }
}

/// a..b, a.., ..b
Read<Pattern> read_range(const FieldName& field, const Value& value, std::size_t dots) {
    Pattern range = spanning(INT64_MIN, INT64_MAX);
    const std::string_view text = value.text;
    if (dots > 0) {
        const auto low = read_span(field, text.substr(0, dots), value.at);
        if (!low) return std::unexpected(low.error());
        range.low = low->low;
    }
    if (dots + 2 < text.size()) {
        const auto high = read_span(field, text.substr(dots + 2), value.at + dots + 2);
        if (!high) return std::unexpected(high.error());
        range.high = high->high;
    }
    if (range.low > range.high)
        return misread(value.at, "the range is empty: what it begins with is after its end");
    return range;
}

Read<Pattern> read_spanning(const FieldName& field, const Value& value, Time now) {
    if (value.op == Op::contains)
        return misread(value.at, std::string(field.name) + " cannot contain a text");
    const bool is_duration = field.shape == Shape::ago || field.shape == Shape::ahead;
    const std::size_t dots = value.op == Op::none ? value.text.find("..") : std::string::npos;
    Pattern pattern;
    if (dots != std::string::npos) {
        auto range = read_range(field, value, dots);
        if (!range) return range;
        pattern = *std::move(range);
    } else {
        const auto span = read_span(field, value.text, value.at);
        if (!span) return std::unexpected(span.error());
        if (is_duration && value.op == Op::none)
            return misread(value.at, "say longer or shorter: " + std::string(field.name) + ":>" +
                                         value.text + " or " + std::string(field.name) + ":<" +
                                         value.text);
        pattern = compared(value.op, *span);
    }
    if (!is_duration) return pattern;
    const std::int64_t from = now.time_since_epoch().count();
    const bool ago = field.shape == Shape::ago;
    const std::int64_t low = ago ? pattern.high : pattern.low;
    const std::int64_t high = ago ? pattern.low : pattern.high;
    const auto moved = [&](std::int64_t by) { return ago ? from - by : from + by; };
    const bool no_low = low == (ago ? INT64_MAX : INT64_MIN);
    const bool no_high = high == (ago ? INT64_MIN : INT64_MAX);
    return spanning(no_low ? INT64_MIN : moved(low), no_high ? INT64_MAX : moved(high));
}

// ---- values that are texts ----

Read<Pattern> read_word(const FieldName& field, const Value& value) {
    const std::span<const std::string_view> words =
        field.field == Field::state ? std::span(kStateNames).subspan(1)
                                    : std::span<const std::string_view>(kWaitingWords);
    if (std::ranges::find(words, value.text) != words.end()) return Pattern{How::equal, value.text};
    std::string detail = std::string(field.name) + " has no value " + value.text.substr(0, 64);
    if (const auto near = nearest(value.text, words))
        return misread(value.at, detail + "; did you mean " + std::string(*near) + "?");
    return misread(value.at, detail + "; values are " + listed(words));
}

Read<Pattern> read_hex(const Value& value) {
    if (value.text == "*") return Pattern{How::present, {}};
    std::uint64_t number = 0;
    const char* end = value.text.data() + value.text.size();
    const auto [stop, error] = std::from_chars(value.text.data(), end, number, 16);
    if (error != std::errc{} || stop != end || number == 0)
        return misread(value.at,
                       "group takes a fingerprint, hexadecimal, as lists and failures show it");
    return Pattern{
        How::between, {}, static_cast<std::int64_t>(number), static_cast<std::int64_t>(number)};
}

bool is_id_letter(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || c == '-';
}

std::string lowered(std::string text) {
    for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return text;
}

Read<Pattern> read_id(const Value& value) {
    constexpr std::size_t kWhole = 36;
    std::string text = lowered(value.text);
    if (text.ends_with('*')) text.pop_back();
    if (text.empty() || text.size() > kWhole || !std::ranges::all_of(text, is_id_letter))
        return misread(value.at, "id takes an id or its beginning, like id:0199a3f2");
    return Pattern{text.size() == kWhole ? How::equal : How::prefix, std::move(text)};
}

Read<Pattern> read_text(const FieldName& field, const Value& value) {
    if (value.op == Op::contains) return Pattern{How::contains, value.text};
    if (value.op != Op::none)
        return misread(value.at, std::string(field.name) + " cannot be compared with < or >");
    if (!value.quoted && value.text == "*") return Pattern{How::present, {}};
    const bool anywhere = field.shape == Shape::message;
    if (value.starred) return Pattern{How::glob, anywhere ? '*' + value.text + '*' : value.text};
    return Pattern{anywhere ? How::contains : How::equal, value.text};
}

Read<Pattern> read_value(const FieldName& field, const Value& value, Time now) {
    if (value.text.empty() && !value.quoted)
        return misread(value.at, std::string(field.name) + " needs a value");
    switch (field.shape) {
        case Shape::number:
        case Shape::moment:
        case Shape::ago:
        case Shape::ahead:
            return read_spanning(field, value, now);
        case Shape::text:
        case Shape::message:
            return read_text(field, value);
        case Shape::word:
        case Shape::hex:
        case Shape::id:
            if (value.op != Op::none)
                return misread(value.at, std::string(field.name) + " takes plain values only");
            if (field.shape == Shape::hex) return read_hex(value);
            return field.shape == Shape::id ? read_id(value) : read_word(field, value);
    }
    std::unreachable();
}

// ---- clauses ----

/// The field of "label.plan", with what stands behind the dot in `path`.
Read<FieldName> read_field(const std::string& name, std::size_t at, std::string& path) {
    const std::size_t dot = name.find('.');
    const std::string first = name.substr(0, dot);
    const auto known = std::ranges::find(kFields, first, &FieldName::name);
    if (known == kFields.end()) return misread(at, no_such_field(first));
    const bool has_path = known->field == Field::label || known->field == Field::input;
    if (dot != std::string::npos) path = name.substr(dot + 1);
    if (dot != std::string::npos && (!has_path || path.empty()))
        return misread(at + dot, first + " has nothing behind a dot");
    if (known->field == Field::label && path.empty())
        return misread(at, "say which label, like label.plan:pro");
    FieldName field = *known;
    if (!path.empty()) field.name = "the value";
    if (field.field == Field::input && path.empty()) field.shape = Shape::message;
    return field;
}

/// A word of its own: the beginning of an id, or a part of a type.
Clause bare(const Value& value, bool negated) {
    constexpr std::size_t kShortestId = 4;
    const std::string& text = value.text;
    const bool is_id = !value.quoted && !value.starred && text.size() >= kShortestId &&
                       std::ranges::all_of(text, is_id_letter) &&
                       std::ranges::any_of(text, [](char c) { return c >= '0' && c <= '9'; });
    if (is_id) {
        if (auto id = read_id(value)) return {Field::id, negated, {}, {*std::move(id)}};
    }
    return {Field::type, negated, {}, {{value.starred ? How::glob : How::contains, text}}};
}

Read<Clause> read_clause(QueryText& text, Time now) {
    Clause clause;
    if (text.next_begins_word()) clause.negated = text.take('-');
    const std::size_t at = text.at();
    const std::string name = text.take_name();
    if (name.empty()) {
        auto value = text.take_value(false);
        if (!value) return std::unexpected(value.error());
        const bool is_word = value->op == Op::none || value->op == Op::contains;
        if (value->text.empty() || value->text.front() == ':' || !is_word)
            return misread(at, "a clause is field:value, like state:failed");
        return bare(*value, clause.negated);
    }
    const auto field = read_field(name, at, clause.path);
    if (!field) return std::unexpected(field.error());
    clause.field = field->field;
    do {
        auto value = text.take_value(true);
        if (!value) return std::unexpected(value.error());
        auto pattern = read_value(*field, *value, now);
        if (!pattern) return std::unexpected(pattern.error());
        clause.any.push_back(*std::move(pattern));
    } while (text.take(','));
    return clause;
}

}  // namespace

std::expected<std::vector<Clause>, QueryError> parse_query(std::string_view line, Time now) {
    QueryText text(line);
    if (text.size() > kLongestQuery)
        return misread(kLongestQuery, "a filter has at most 2000 characters");
    std::vector<Clause> clauses;
    for (text.skip_blanks(); !text.done(); text.skip_blanks()) {
        if (clauses.size() == kMostClauses)
            return misread(text.at(), "a filter has at most 50 clauses");
        auto clause = read_clause(text, now);
        if (!clause) return std::unexpected(clause.error());
        clauses.push_back(*std::move(clause));
    }
    return clauses;
}

}  // namespace holdfast::domain
