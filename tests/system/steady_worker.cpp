// steady_worker SERVER QUEUE SLOTS: completes every task it is given until it is killed.
#include <holdfast/worker.h>
#include <unistd.h>

#include <cstdio>
#include <string>

int main(int argc, char** argv) {
    if (argc != 4) {
        std::fputs("usage: steady_worker SERVER QUEUE SLOTS\n", stderr);
        return 2;
    }
    holdfast::client::WorkerOptions options;
    options.server = argv[1];
    options.queues = {argv[2]};
    options.slots = static_cast<unsigned>(std::stoul(argv[3]));
    options.inline_handlers = true;
    options.lease = std::chrono::seconds{2};
    options.reconnect_max = std::chrono::milliseconds{500};
    holdfast::client::Worker worker(std::move(options));
    int number = 0;
    worker.handle_any([&](holdfast::client::Job& job) -> boost::json::value {
        return {{"process", ::getpid()}, {"number", ++number}, {"attempt", job.attempt()}};
    });
    worker.run();
}
