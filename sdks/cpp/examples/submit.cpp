// Submits one task, waits for it and prints what came of it.
#include <holdfast/client.h>

#include <boost/json/serialize.hpp>
#include <chrono>
#include <iostream>

int main(int argc, char** argv) {
    try {
        holdfast::client::Client client(argc > 1 ? argv[1] : "http://127.0.0.1:7400");
        const auto receipt = client.submit({.type = "greet", .payload = {{"name", "Ada"}}});
        std::cout << "submitted " << receipt.id << '\n';
        const auto task = client.get(receipt.id, std::chrono::seconds(30));
        std::cout << boost::json::serialize(task) << '\n';
        return task.at("state") == "succeeded" ? 0 : 1;
    } catch (const holdfast::client::Error& error) {
        std::cerr << to_string(error.code) << ": " << error.detail << '\n';
        return 1;
    }
}
