// A task of three stages. Kill the worker in the middle and start it again: the stages that were
// stored are not done twice.
#include <holdfast/worker.h>

#include <array>
#include <chrono>
#include <iostream>
#include <thread>

namespace {

boost::json::value build_report(holdfast::client::Job& job) {
    constexpr std::array kStages{"fetch", "compute", "render"};
    double finished = 0;
    for (const auto* stage : kStages) {
        job.progress(finished++ / kStages.size(), stage);
        if (job.checkpoint(stage) != nullptr) continue;
        std::cout << job.id() << ": " << stage << std::endl;
        std::this_thread::sleep_for(std::chrono::seconds(1));
        job.checkpoint(stage, {{"by_attempt", job.attempt()}});
    }
    return {{"fetched_by_attempt", job.checkpoint("fetch")->at("by_attempt")},
            {"finished_by_attempt", job.attempt()}};
}

}  // namespace

int main(int argc, char** argv) {
    holdfast::client::WorkerOptions options;
    if (argc > 1) options.server = argv[1];
    options.lease = std::chrono::seconds(3);  // how soon another worker may take over
    options.drain_on_signals = true;
    try {
        holdfast::client::Worker worker(std::move(options));
        worker.handle("report", build_report);
        worker.run();
    } catch (const holdfast::client::Error& error) {
        std::cerr << to_string(error.code) << ": " << error.detail << '\n';
        return 1;
    }
}
