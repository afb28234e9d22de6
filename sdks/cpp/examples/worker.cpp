// Runs tasks of type "greet" until SIGTERM, which lets it finish what it has begun.
#include <holdfast/worker.h>

#include <iostream>

int main(int argc, char** argv) {
    holdfast::client::WorkerOptions options;
    if (argc > 1) options.server = argv[1];
    options.drain_on_signals = true;
    options.log = [](std::string_view line) { std::cerr << line << '\n'; };
    try {
        holdfast::client::Worker worker(std::move(options));
        worker.handle("greet", [](holdfast::client::Job& job) -> boost::json::value {
            const auto* name = job.payload().is_object()
                                   ? job.payload().get_object().if_contains("name")
                                   : nullptr;
            if (name == nullptr || !name->is_string())
                throw holdfast::client::PermanentError("payload.name must be a string");
            return {{"greeting", "Hello, " + std::string(name->get_string())}};
        });
        worker.run();
    } catch (const holdfast::client::Error& error) {
        std::cerr << to_string(error.code) << ": " << error.detail << '\n';
        return 1;
    }
}
