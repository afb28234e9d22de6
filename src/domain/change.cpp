#include "domain/change.h"

#include "base/packing.h"

namespace holdfast::domain {
namespace {

std::uint64_t micros(Time t) {
    return static_cast<std::uint64_t>(t.time_since_epoch().count());
}

Time from_micros(std::uint64_t us) {
    return Time{Duration{static_cast<std::int64_t>(us)}};
}

State state_at(std::uint64_t n) {
    return n < kStates ? static_cast<State>(n) : State::none;
}

Event event_at(std::uint64_t n) {
    return n < kEvents ? static_cast<Event>(n) : Event::none;
}

Kind kind_at(std::uint64_t n) {
    return n < kKinds ? static_cast<Kind>(n) : Kind::task;
}

constexpr std::uint64_t kNamedNote = kEvents;  // in the place of an event's number: a text follows

}  // namespace

void pack(std::string& out, const Transition& t) {
    Packer(out)
        .number(static_cast<std::uint64_t>(t.event))
        .number(static_cast<std::uint64_t>(t.from))
        .number(static_cast<std::uint64_t>(t.to))
        .number(t.attempt)
        .number(micros(t.at))
        .text(t.message)
        .text(t.actor)
        .text(t.error.view());
}

std::vector<Transition> unpack_history(std::string_view bytes) {
    std::vector<Transition> rows;
    Unpacker in(bytes);
    while (!in.done()) {
        Transition t;
        t.event = event_at(in.number());
        t.from = state_at(in.number());
        t.to = state_at(in.number());
        t.attempt = static_cast<std::uint32_t>(in.number());
        t.at = from_micros(in.number());
        t.message = in.text();
        t.actor = in.text();
        t.error = Bytes(std::string(in.text()));
        if (in.ok()) rows.push_back(std::move(t));
    }
    return rows;
}

void pack_event(std::string& out, const Header& h, const Transition& t) {
    Packer(out)
        .number(static_cast<std::uint64_t>(t.event))
        .number(static_cast<std::uint64_t>(h.kind))
        .number(h.id.high)
        .number(h.id.low)
        .number(h.version)
        .number(static_cast<std::uint64_t>(t.from))
        .number(static_cast<std::uint64_t>(t.to))
        .number(t.attempt)
        .number(micros(t.at))
        .text(h.queue)
        .text(h.type)
        .text(h.tenant)
        .text(t.message)
        .text(t.error.view());
}

void pack_note(std::string& out, const Note& note, Time at) {
    Packer(out)
        .number(kNamedNote)
        .text(note.name)
        .number(static_cast<std::uint64_t>(note.subject.kind))
        .number(note.subject.id.high)
        .number(note.subject.id.low)
        .number(micros(at))
        .text(note.data.view());
}

std::vector<FeedEvent> unpack_events(std::string_view bytes) {
    std::vector<FeedEvent> events;
    Unpacker in(bytes);
    while (!in.done()) {
        FeedEvent e;
        const std::uint64_t event = in.number();
        e.name = event == kNamedNote ? in.text() : to_string(event_at(event));
        e.subject.kind = kind_at(in.number());
        e.subject.id.high = in.number();
        e.subject.id.low = in.number();
        if (event != kNamedNote) {
            e.version = in.number();
            e.from = state_at(in.number());
            e.to = state_at(in.number());
            e.attempt = static_cast<std::uint32_t>(in.number());
        }
        e.at = from_micros(in.number());
        if (event != kNamedNote) {
            e.queue = in.text();
            e.type = in.text();
            e.tenant = in.text();
            e.message = in.text();
        }
        e.data = Bytes(std::string(in.text()));
        if (in.ok()) events.push_back(std::move(e));
    }
    return events;
}

}  // namespace holdfast::domain
