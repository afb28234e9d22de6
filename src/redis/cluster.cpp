// A cluster: the slots' servers, a link to each, and the way from one to the other.
#include <algorithm>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

#include "base/log.h"
#include "redis/client.h"
#include "redis/errands.h"
#include "redis/slot_map.h"

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;

constexpr int kMostRedirections = 8;
constexpr Duration kFirstRetry = 5ms;
constexpr Duration kLongestRetry = 100ms;
constexpr Duration kLeastBetweenRefreshes = 50ms;
constexpr Duration kRefreshInTrouble = 200ms;
constexpr Duration kRefreshAnyway = 30s;
constexpr Duration kPatience = 300ms;
constexpr Duration kNewFor = 5s;

class Cluster final : public Client::Impl {
  public:
    Cluster(Options options, Clock& clock, asio::any_io_executor executor)
        : Impl(std::move(options), clock, std::move(executor)),
          errands_(questions(), clock, this->executor()),
          group_(this->executor()),
          refresh_(clock, this->executor()),
          idle_(this->executor(), asio::steady_timer::time_point::max()),
          rng_(Rng::from_system()) {}

    Async<Result<std::vector<Reply>>> call_each(Command command) override;
    std::optional<std::string> trouble() const override;

  private:
    using LinkPtr = std::shared_ptr<Link>;
    struct Counted;
    /// One search for the map: the first answer counts.
    struct Round {
        Round(Clock& clock, const asio::any_io_executor& executor) : heard(clock, executor) {}
        Alarm heard;
        std::optional<SlotMap> map;
    };
    struct Way {
        LinkPtr link;
        bool asking = false;
        bool vouched_for = false;  ///< Another server has just sent us there.
    };

    Async<Result<>> connect() override;
    Async<void> disconnect() override;
    Async<Outcome> route(Slot slot, const Command* command) override;
    Async<Result<Address>> find_any() override;
    void before_stop() override {
        stopping_ = true;
        errands_.give_up();
    }

    ConnectionOptions questions() const;
    Async<Outcome> follow(Slot slot, const Command* command);
    static Async<Outcome> send(Way way, const Command* command);
    LinkPtr link_for(Slot slot);
    LinkPtr link_to(const Address& address);
    Async<void> retire(LinkPtr link);
    Async<void> pause(int tries);

    Async<void> keep_the_map();
    Async<Result<>> refresh();
    static Async<void> ask(LinkPtr link, std::shared_ptr<Round> round);
    void use(SlotMap map);

    Errands errands_;
    TaskGroup group_;
    Alarm refresh_;
    asio::steady_timer idle_;  ///< Cancelled when the last call has come back.
    Rng rng_;
    SlotMap map_;
    std::set<Address> masters_;
    std::map<Address, LinkPtr> links_;
    std::set<LinkPtr> retiring_;
    int calls_ = 0;
    bool stopping_ = true;
};

// ---- coming and going ----

Async<Result<>> Cluster::connect() {
    stopping_ = false;
    Result<> done = co_await refresh();
    for (const Address& address : std::set<Address>(masters_)) {
        if (done) done = co_await link_to(address)->tried();
    }
    if (const auto slot = map_.first_without_owner(); done && slot)
        done = refuse(Code::unavailable,
                      "the cluster has no server for slot " + std::to_string(*slot));
    if (!done) {
        co_await disconnect();
        co_return done;
    }
    group_.spawn(keep_the_map());
    co_return done;
}

Async<void> Cluster::disconnect() {
    before_stop();
    refresh_.ring();
    std::set<LinkPtr> links = retiring_;
    for (auto& [address, link] : std::exchange(links_, {})) links.insert(std::move(link));
    for (const LinkPtr& link : links) co_await link->stop();
    while (calls_ > 0) {
        boost::system::error_code ignored;
        co_await idle_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    }
    co_await group_.join();
}

std::optional<std::string> Cluster::trouble() const {
    if (const auto slot = map_.first_without_owner())
        return "the cluster has no server for slot " + std::to_string(*slot);
    for (const Address& address : masters_) {
        const auto link = links_.find(address);
        if (link == links_.end()) return "redis " + to_string(address) + ": not connected";
        if (auto why = link->second->trouble()) return why;
    }
    return {};
}

/// Any server may be asked for the map, also a replica.
ConnectionOptions Cluster::questions() const {
    ConnectionOptions options = connection_options();
    options.introduction.wants_master = false;
    options.introduction.wants_run_id = false;
    return options;
}

// ---- calls ----

/// Counted, however it ends: a caller who is cancelled leaves by an exception.
struct Cluster::Counted {
    explicit Counted(Cluster* owner) : cluster(owner) { ++cluster->calls_; }
    ~Counted() {
        if (--cluster->calls_ == 0) cluster->idle_.cancel();
    }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;
    Cluster* cluster;
};

Async<Outcome> Cluster::route(Slot slot, const Command* command) {
    const Counted counted(this);
    co_return co_await follow(slot, command);
}

Async<Outcome> Cluster::follow(Slot slot, const Command* command) {
    const Time until = clock().now() + options().call_timeout;
    Way way{link_for(slot)};
    int tries = 0;
    for (int redirections = 0; redirections < kMostRedirections;) {
        if (!way.link)
            co_return std::unexpected(Failure{
                {Code::unavailable, trouble().value_or("the client is not started"), {}}, false});
        Outcome outcome = co_await send(way, command);
        const Address asked = way.link->address();
        if (!outcome) {
            // Never sent, and somebody else has the slot by now: no harm in asking there.
            refresh_.ring();
            const LinkPtr now = link_for(slot);
            if (outcome.error().sent || now == way.link || !now) co_return outcome;
            way = {now};
            ++redirections;
            continue;
        }
        if (!outcome->root().is_error()) co_return outcome;
        const Redirection to = redirection_in(outcome->root().text(), asked.host);
        switch (to.kind) {
            case Redirection::Kind::none:
                co_return outcome;
            case Redirection::Kind::moved:
                map_.set(to.slot, to.address);
                refresh_.ring();
                way = {link_to(to.address), false, true};
                ++redirections;
                break;
            case Redirection::Kind::ask:
                way = {link_to(to.address), true, true};
                ++redirections;
                break;
            case Redirection::Kind::later:
                if (stopping_ || clock().now() + kLongestRetry > until) co_return outcome;
                refresh_.ring();
                co_await pause(tries++);
                way = {link_for(slot)};
                break;
        }
    }
    co_return std::unexpected(
        Failure{{Code::unavailable, "the cluster's servers redirect in a circle", {}}, false});
}

/// A link that was only just made is waited for, and so is one that was down when another server sends us there: it may
/// be up again, or a master now. The attempt under way may be from before that, so there is a second one. Else one that
/// is known to be down is not waited for.
Async<Outcome> Cluster::send(Way way, const Command* command) {
    const int attempts = way.vouched_for ? 2 : way.link->is_new() ? 1 : 0;
    for (int i = 0; i < attempts && !way.link->is_up(); ++i) {
        if (!way.link->is_new()) way.link->hurry();
        co_await way.link->tried();
    }
    co_return co_await (way.asking ? way.link->call_asking(*command) : way.link->call(*command));
}

Async<void> Cluster::pause(int tries) {
    constexpr int kMostDoublings = 8;
    const Duration most =
        std::min(kLongestRetry, kFirstRetry * (1L << std::min(tries, kMostDoublings)));
    Alarm alarm(clock(), executor());
    co_await alarm.wait_for(most / 2 + Duration(static_cast<Duration::rep>(rng_.below(
                                           static_cast<std::uint64_t>(most.count() / 2)))));
}

/// No slot: any that is up, each in its turn.
Cluster::LinkPtr Cluster::link_for(Slot slot) {
    if (stopping_) return {};
    if (slot) {
        const Address* const owner = map_.owner(*slot);
        return owner == nullptr ? LinkPtr() : link_to(*owner);
    }
    if (links_.empty()) return {};
    auto next = std::next(links_.begin(), static_cast<std::ptrdiff_t>(rng_.below(links_.size())));
    for (std::size_t i = 0; i < links_.size() && !next->second->is_up(); ++i) {
        if (++next == links_.end()) next = links_.begin();
    }
    return next->second;
}

Cluster::LinkPtr Cluster::link_to(const Address& address) {
    if (stopping_) return {};
    LinkPtr& link = links_[address];
    if (link) return link;
    link = std::make_shared<Link>(LinkOptions{.find = [address] { return known(address); },
                                              .connection = connection_options(),
                                              .longest_pause = options().longest_pause,
                                              .on_up =
                                                  [this](bool another) {
                                                      if (another) another_server();
                                                  },
                                              .on_down = [this] { refresh_.ring(); }},
                                  clock(), executor());
    link->start();
    return link;
}

Async<Result<std::vector<Reply>>> Cluster::call_each(Command command) {
    const Counted counted(this);
    std::vector<Reply> replies;
    for (const Address& address : std::set<Address>(masters_)) {
        const LinkPtr link = link_to(address);
        if (!link) co_return refuse(Code::unavailable, "the client is not started");
        CO_TRY(Reply reply, plain(co_await send({link}, &command)));
        replies.push_back(std::move(reply));
    }
    if (replies.empty()) co_return refuse(Code::unavailable, "the client is not started");
    co_return replies;
}

/// What is published reaches every server of a cluster.
Async<Result<Address>> Cluster::find_any() {
    const LinkPtr link = link_for({});
    if (!link || !link->is_up())
        co_return refuse(Code::unavailable, "no server of the cluster answers");
    co_return link->address();
}

// ---- the map ----

Async<void> Cluster::keep_the_map() {
    while (!stopping_) {
        const Duration wait = trouble() ? kRefreshInTrouble : kRefreshAnyway;
        co_await refresh_.wait_for(wait);
        if (stopping_) break;
        if (const auto done = co_await refresh(); !done)
            log::debug("no slot map", {{"cause", done.error().detail}});
        // However many calls find that the map is old: it is asked for once in a while.
        Alarm pace(clock(), executor());
        co_await pace.wait_for(kLeastBetweenRefreshes);
    }
}

/// Asks those who answer, then everybody who might.
Async<Result<>> Cluster::refresh() {
    std::vector<LinkPtr> up;
    for (const auto& [address, link] : links_) {
        if (link->is_up()) up.push_back(link);
    }
    std::ranges::shuffle(up, rng_);
    const auto round = std::make_shared<Round>(clock(), executor());
    for (const LinkPtr& link : up) {
        group_.spawn(ask(link, round));
        co_await round->heard.wait_for(kPatience);
        if (stopping_) co_return refuse(Code::unavailable, "the client was stopped");
        if (!round->map) continue;
        use(*std::move(round->map));
        co_return Result<>{};
    }
    Error last{Code::unavailable, "no address of the cluster is known", {}};
    std::set<Address> others(options().addresses.begin(), options().addresses.end());
    others.insert(masters_.begin(), masters_.end());
    for (const Address& address : others) {
        const Result<Reply> reply = co_await errands_.ask(address, Command("CLUSTER", "SLOTS"));
        if (stopping_) co_return refuse(Code::unavailable, "the client was stopped");
        auto map = reply ? SlotMap::read(*reply, address.host) : std::unexpected(reply.error());
        if (map) {
            use(*std::move(map));
            co_return Result<>{};
        }
        last = std::move(map).error();
    }
    co_return std::unexpected(std::move(last));
}

/// One that hangs keeps nobody waiting: after a while the next is asked as well.
Async<void> Cluster::ask(LinkPtr link, std::shared_ptr<Round> round) {
    const Command question("CLUSTER", "SLOTS");
    const Result<Reply> reply = plain(co_await link->call(question));
    if (reply && !round->map) {
        if (auto map = SlotMap::read(*reply, link->address().host)) round->map = *std::move(map);
    }
    round->heard.ring();
}

void Cluster::use(SlotMap map) {
    map_ = std::move(map);
    const std::set<Address> before = std::exchange(masters_, map_.masters());
    for (const Address& address : masters_) link_to(address);
    // Who was asked may not have heard yet of a server that another has just sent us to.
    const Time old = clock().now() - kNewFor;
    for (auto link = links_.begin(); link != links_.end();) {
        if (masters_.contains(link->first) || link->second->made() > old) {
            ++link;
            continue;
        }
        group_.spawn(retire(std::move(link->second)));
        link = links_.erase(link);
    }
    // A server that has gone may have taken with it what another, in its place, never heard.
    if (!std::ranges::includes(masters_, before)) another_server();
}

Async<void> Cluster::retire(LinkPtr link) {
    retiring_.insert(link);
    link->leave("it serves no slots any more");
    co_await link->left();
    retiring_.erase(link);
}

}  // namespace

std::unique_ptr<Client::Impl> cluster(Options options, Clock& clock,
                                      asio::any_io_executor executor) {
    return std::make_unique<Cluster>(std::move(options), clock, std::move(executor));
}

}  // namespace holdfast::redis
