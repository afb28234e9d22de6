// Rows that a store kept and somebody damaged, and error texts that are no text.
#include "domain/change.h"
#include "domain/failure.h"
#include "domain/task_json.h"
#include "fuzz.h"

namespace {

using namespace holdfast;
using namespace holdfast::domain;
using fuzz::require;

void check_history(std::string_view bytes) {
    for (const Transition& t : unpack_history(bytes)) {
        std::string packed;
        pack(packed, t);
        require(unpack_history(packed) == std::vector{t});
        require(!Json::stored(transition_json(t).text()).is_null());
    }
}

void check_feed(std::string_view bytes) {
    for (const FeedEvent& e : unpack_events(bytes)) {
        const auto event = event_from(e.name);
        if (!event || e.version == 0) continue;  // a note
        Header h;
        h.id = e.subject.id;
        h.kind = e.subject.kind;
        h.version = e.version;
        h.queue = e.queue;
        h.type = e.type;
        h.tenant = e.tenant;
        std::string packed;
        pack_event(packed, h, {*event, e.from, e.to, e.attempt, e.at, e.message, {}, e.data});
        require(unpack_events(packed) == std::vector{e});
    }
}

void check_failure(std::string_view text) {
    const Failure cut =
        truncated({ErrorKind::transient, std::string(text), std::string(text), std::string(text)});
    require(cut.message.size() <= kLongestMessage && cut.code.size() <= kLongestCode);
    require(truncated(cut) == cut);
    require(!Json::stored(to_json(cut).text()).is_null());
    require(fingerprint("t", cut) != 0);
    require(normalised(text).size() <= text.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes = fuzz::text_of(data, size);
    check_history(bytes);
    check_feed(bytes);
    check_failure(bytes);
    return 0;
}
