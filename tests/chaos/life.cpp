#include "life.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>

namespace holdfast::chaos {
namespace {

/// Longer than any call of a healthy test takes, on a slow machine too.
constexpr std::chrono::seconds kPatience{60};

Async<bool> checked(Promises* promises, engine::Engine* engine) {
    co_await promises->check(engine);
    co_return true;
}

}  // namespace

stores::SqliteOptions small_store(std::filesystem::path directory) {
    stores::SqliteOptions options;
    options.directory = std::move(directory);
    options.body_cache_bytes = 32 << 10;
    options.finished_cache = 20;
    options.reserve_bytes = 0;
    options.reserve_share = 0;
    options.ballast_bytes = 0;
    return options;
}

Result<std::unique_ptr<Life>> Life::open(stores::SqliteOptions options, Time start,
                                         std::uint64_t seed) {
    std::unique_ptr<Life> life(new Life(start));
    options.on_broken = [it = life.get()](const Error& error) {
        it->broken_ = error;
        if (it->load_ != nullptr) it->load_->stop();
    };
    const auto executor = life->context_.get_executor();
    TRY(life->store_, stores::SqliteStore::open(std::move(options), life->clock_, executor));
    life->engine_ = std::make_unique<engine::Engine>(*life->store_, life->clock_, executor,
                                                     engine::Options{.seed = seed | 1});
    return life;
}

/// A call that is never answered would hold the test for ever, and cannot be taken back.
void Life::run_out() {
    context_.restart();
    context_.run_for(kPatience);
    if (!context_.stopped()) {
        std::fprintf(stderr, "a call was not answered within %lld s\n",
                     static_cast<long long>(kPatience.count()));
        std::abort();
    }
}

void Life::run(LoadOptions options, Hear hear) {
    Load load(*engine_, options, std::move(hear));
    load_ = &load;
    load.start(context_);
    if (options.calls == UINT64_MAX) {
        context_.run();
    } else {
        run_out();
    }
    load_ = nullptr;
}

void Life::check(Promises& promises) {
    promises.expect(wait_for(store_->check()));
    wait_for(checked(&promises, engine_.get()));
}

Result<> Life::close() {
    return wait_for(store_->close());
}

Scratch::Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "holdfast-chaos-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
    path_ = name;
}

std::string Scratch::keep(const Media& media) {
    kept_ = true;
    const std::filesystem::path folder = path_ / "kept";
    std::filesystem::create_directory(folder);
    for (const auto& [path, bytes] : media) {
        std::ofstream file(folder / std::filesystem::path(path).filename(), std::ios::binary);
        file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    }
    return "; the disk is kept in " + folder.string();
}

Scratch::~Scratch() {
    std::error_code ignored;
    if (!kept_) std::filesystem::remove_all(path_, ignored);
}

}  // namespace holdfast::chaos
