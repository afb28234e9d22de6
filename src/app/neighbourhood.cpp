#include "app/neighbourhood.h"

#include "app/json_list.h"

namespace holdfast::app {

using coordination::Hint;
using coordination::Instance;

Neighbourhood::Neighbourhood(coordination::Coordination& coordination, engine::Engine& engine,
                             nodes::Workers& workers, Self self, Clock& clock,
                             const asio::any_io_executor& executor)
    : coordination_(coordination),
      engine_(engine),
      workers_(workers),
      self_(std::move(self)),
      presence_(coordination, clock, executor, {.id = self_.instance, .seed = Rng::from_system()()},
                [this](Instance& instance) { describe(instance); }) {
    coordination_.on_hint([this](const Hint& hint) { heard(hint); });
    // Alone, there is nobody to be told anything.
    presence_.on_company(
        [this](bool company) { engine_.set_neighbours(company ? &coordination_ : nullptr); });
}

void Neighbourhood::join(TaskGroup& group, std::string address) {
    address_ = std::move(address);
    group.spawn(coordination::Presence::run(&presence_, &group));
}

Async<void> Neighbourhood::leave() {
    co_await presence_.leave();
    co_await coordination_.stop();
}

void Neighbourhood::heard(const Hint& hint) {
    switch (hint.of) {
        case Hint::Of::drain:
            workers_.drain(hint.name);
            return;
        case Hint::Of::instances:
            return presence_.look();
        default:
            return engine_.heard(hint);
    }
}

void Neighbourhood::describe(Instance& instance) {
    std::vector<Json> roles;
    roles.reserve(self_.roles.size());
    for (const http::Role role : self_.roles) roles.push_back(Json::quoted(to_string(role)));
    instance.about = JsonObject{}
                         .add("version", self_.version)
                         .add("address", address_)
                         .add("roles", list_of(roles))
                         .add("workers", static_cast<std::int64_t>(workers_.size()))
                         .done();
    instance.workers = Json::stored(workers_.json(self_.instance, kMostAnnounced));
}

/// What it says of itself may come from another version: what is not known there is left out.
Json Neighbourhood::json(const Instance& instance) const {
    JsonObject object;
    object.add("id", instance.id).add("self", Json::of(instance.id == self_.instance));
    for (const std::string_view field : {"version", "address", "roles", "workers"}) {
        const Json value = instance.about.member(field);
        if (!value.is_null()) object.add(field, value);
    }
    return object.add("started_at", format_time(instance.started_at))
        .add("seen_at", format_time(instance.seen_at))
        .done();
}

Async<Result<Json>> Neighbourhood::instances() {
    CO_TRY(const auto all, co_await coordination_.instances());
    std::vector<Json> items;
    items.reserve(all.size());
    for (const Instance& one : all) items.push_back(json(one));
    co_return JsonObject{}.add("instances", list_of(items)).done();
}

Async<std::vector<Json>> Neighbourhood::other_workers() {
    const auto asked = co_await coordination_.instances();
    std::vector<Json> all;
    for (const Instance& one : asked ? *asked : presence_.others()) {
        if (one.id == self_.instance) continue;
        for (Json& worker : one.workers.elements()) all.push_back(std::move(worker));
    }
    co_return all;
}

Async<bool> Neighbourhood::drain_elsewhere(std::string worker) {
    const Json name = Json::quoted(worker);
    const Json stream = Json::quoted("stream");
    for (const Json& other : co_await other_workers()) {
        if (other.member("name") != name || other.member("kind") != stream) continue;
        coordination_.tell({Hint::Of::drain, std::move(worker)});
        co_return true;
    }
    co_return false;
}

}  // namespace holdfast::app
