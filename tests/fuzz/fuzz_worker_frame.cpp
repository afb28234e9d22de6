// What a worker may send on its stream: frames, one per line, into one session. Whatever comes, a frame is
// either understood or answered with an error, every answer is JSON, and slots are never overdrawn.
#include "fuzz.h"
#include "nodes/session.h"

namespace {

using namespace holdfast;
using namespace holdfast::nodes;
using fuzz::require;

const Time kNow{std::chrono::sys_days{std::chrono::November / 15 / 2026}};

class Driver {
  public:
    void say(std::string_view text) {
        const bool open = session_.state() != Session::State::closed;
        const bool understood = read_frame(text).has_value();
        const bool told = obey(session_.received(text, kNow));
        require(!open || understood || told);
        if (session_.wanted() > 0) give();
        require(session_.state() != Session::State::serving ||
                session_.wanted() + session_.running() >= session_.hello().slots);
    }
    void end() {
        obey(session_.lost());
        answer_all();
        require(session_.wanted() == 0);
    }

  private:
    /// True if something was sent.
    bool obey(Actions todo) {
        bool sent = false;
        for (Action& action : todo) {
            if (const auto* send = std::get_if<Send>(&action)) {
                sent = true;
                const Json frame = Json::stored(send->frame);
                require(frame.value().is_object() && frame.value().at("op").is_string());
            } else if (auto* ask = std::get_if<Ask>(&action)) {
                require(!ask->refs.empty() && ask->refs.size() <= engine::kLargestBatch);
                asks_.push_back(std::move(*ask));
            }
        }
        if (asks_.size() > 4) answer_all();
        return sent;
    }
    /// One answer of each kind in turn.
    void answer_all() {
        for (const Ask& ask : std::exchange(asks_, {})) {
            ++turn_;
            if (std::holds_alternative<Renew>(ask.request)) {
                const engine::Beat beat{kNow, turn_ % 2 == 0, turn_ % 3 == 0};
                obey(session_.renewed(
                    ask.refs,
                    engine::Each<engine::Beat>(ask.refs.size(),
                                               turn_ % 5 == 0 ? refused<engine::Beat>() : beat)));
            } else {
                const engine::Done done{.state = domain::State::running,
                                        .duplicate = turn_ % 2 == 0,
                                        .version = 1,
                                        .pause_requested = turn_ % 3 == 0,
                                        .cancel_requested = false};
                const auto of = static_cast<Of>(turn_ % 6);
                obey(session_.answered(
                    of, ask.refs, ask.silent,
                    engine::Each<engine::Done>(ask.refs.size(), turn_ % 5 == 0
                                                                    ? refused<engine::Done>()
                                                                    : Result<engine::Done>(done))));
            }
        }
    }
    template <class T>
    Result<T> refused() const {
        return refuse(turn_ % 2 == 0 ? Code::stale_lease : Code::unavailable, "no");
    }
    void give() {
        std::vector<engine::ClaimedTask> tasks(1);
        tasks[0].record.header.id = Uuid{0x0193'0000'0000'7000, 0x8000'0000'0000'0000U | turn_ % 4};
        tasks[0].record.header.attempt = 1;
        tasks[0].record.header.epoch = domain::Epoch{1};
        obey(session_.claimed(tasks));
    }

    Session session_{{"here", std::chrono::seconds{30}}, kNow};
    std::vector<Ask> asks_;
    std::uint64_t turn_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Driver driver;
    std::string_view rest = fuzz::text_of(data, size);
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        driver.say(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    driver.end();
    return 0;
}
