// Hints: whoever waits for something is told to look, here and on the other instances. Nothing rests on them: whoever
// waits looks again by itself.
#include "engine/engine.h"

namespace holdfast::engine {
namespace {

using coordination::Hint;

}  // namespace

/// A step of a task is durable.
void Engine::announce(const domain::Header& h) {
    if (h.state == State::queued) return announce_work(h.queue, 1);
    if (h.is_held()) return announce_request(h);
    if (!domain::is_final(h.state) || (waiters_.size() == 0 && neighbours_ == nullptr)) return;
    std::string id = h.id.text();
    waiters_.ring_all(id);
    if (neighbours_ != nullptr) neighbours_->tell({Hint::Of::task, std::move(id)});
}

/// One task needs one worker, on whichever instance that is.
void Engine::announce_work(const std::string& queue, std::uint32_t tasks) {
    waiters_.ring_some(queue, tasks);
    if (neighbours_ != nullptr) neighbours_->tell({Hint::Of::queue, queue, tasks});
}

void Engine::announce_request(const domain::Header& h) {
    if (!h.cancel_requested && !h.pause_requested) return;
    if (on_request_) on_request_(h.id, h.cancel_requested, h.pause_requested);
    if (neighbours_ == nullptr) return;
    if (h.cancel_requested) neighbours_->tell({Hint::Of::cancel, h.id.text()});
    if (h.pause_requested) neighbours_->tell({Hint::Of::pause, h.id.text()});
}

void Engine::heard(const Hint& hint) {
    switch (hint.of) {
        case Hint::Of::queue:
            return waiters_.ring_some(hint.name, hint.count);
        case Hint::Of::task:
            return waiters_.ring_all(hint.name);
        case Hint::Of::settings:
            queues_.forget(hint.name);
            return waiters_.ring_all(hint.name);
        case Hint::Of::cancel:
        case Hint::Of::pause:
            if (const auto id = Uuid::parse(hint.name); id && on_request_)
                on_request_(*id, hint.of == Hint::Of::cancel, hint.of == Hint::Of::pause);
            return;
        case Hint::Of::drain:
        case Hint::Of::instances:
            return;  // no business of the engine
    }
}

}  // namespace holdfast::engine
