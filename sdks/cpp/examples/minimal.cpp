#include <holdfast/worker.h>

int main() {
    using namespace holdfast::client;
    Worker worker({.queues = {"images"}, .slots = 8, .drain_on_signals = true});
    worker.handle("thumbnail", [](Job& job) -> boost::json::value {
        if (job.checkpoint("decoded") == nullptr)  // a later attempt goes on from here
            job.checkpoint("decoded", {{"pixels", 640 * 480}});
        return {{"made_from", job.payload()}};
    });
    worker.run();  // until SIGTERM; then it finishes what it runs
}
