// `holdfast dev`: everything in one command, for the first minute and for developing against.
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <iostream>
#include <memory>

#include "app/commands.h"
#include "app/demo.h"
#include "app/serve.h"
#include "app/settings.h"
#include "base/async.h"

namespace holdfast::app {
namespace {

constexpr int kPortsTried = 10;

bool is_free(const config::Address& address) {
    using Tcp = asio::ip::tcp;
    asio::io_context context;
    boost::system::error_code ec;
    Tcp::acceptor acceptor(context);
    const Tcp::endpoint at(asio::ip::make_address(address.host), address.port);
    acceptor.open(at.protocol(), ec);
    acceptor.set_option(Tcp::acceptor::reuse_address(true), ec);
    acceptor.bind(at, ec);
    return !ec;
}

bool was_chosen(const config::Loaded& loaded, std::string_view name) {
    for (const config::Setting& setting : loaded.settings) {
        if (setting.name == name) return setting.source != "default";
    }
    return false;
}

/// The usual port may be somebody else's; one that was asked for is not replaced.
void find_a_port(config::Loaded& loaded, cli::Io& io) {
    config::Address& listen = loaded.config.server.listen;
    if (was_chosen(loaded, "server.listen")) return;
    const std::uint16_t wanted = listen.port;
    for (int i = 0; i < kPortsTried && !is_free(listen); ++i) ++listen.port;
    if (listen.port == wanted) return;
    io.err << "port " << wanted << " is taken: using " << listen.port << " instead\n";
    for (config::Setting& setting : loaded.settings) {
        if (setting.name == "server.listen")
            setting = {setting.name, listen.text(), "the first port that was free"};
    }
}

std::string program_name() {
    std::string path(4096, '\0');
    const auto length = ::readlink("/proc/self/exe", path.data(), path.size());
    return length > 0 ? path.substr(0, static_cast<std::size_t>(length)) : "holdfast";
}

void print_welcome(const config::Config& config, const std::string& url) {
    const std::string holdfast = program_name();
    const std::string server = config.server.listen.port == 7400 ? "" : " --server " + url;
    std::cout << "\n  data   " << config.store.url.redacted() << "  (kept over restarts)\n  demo   "
              << (config.dev.demo
                      ? "tasks that succeed, fail, crash their worker and get suspended; "
                        "--no-demo leaves it out"
                      : "none")
              << "\n\nIn another terminal:\n\n  " << holdfast << " top" << server << "\n  "
              << holdfast << " submit hello '{\"name\":\"world\"}' --queue mine" << server << "\n  "
              << holdfast << " work --queue mine" << server << " -- cat\n\nCtrl-C stops it.\n\n"
              << std::flush;
}

}  // namespace

int dev_command(const cli::Arguments& arguments, cli::Io& io) {
    int code = 0;
    auto loaded = settings_for("dev", arguments, io, code);
    if (!loaded) return code;
    find_a_port(*loaded, io);
    const config::Config& config = loaded->config;
    std::unique_ptr<Demo> demo;
    Company company;
    company.on_ready = [&](const std::string& url) {
        print_welcome(config, url);
        if (config.dev.demo) demo = std::make_unique<Demo>(url);
    };
    company.on_stopping = [&] {
        if (demo) demo->stop();
    };
    return serve(*loaded, company);
}

}  // namespace holdfast::app
