// Twice: as it comes, and with nothing kept in memory that can be read from disk.
#include <unistd.h>

#include <filesystem>

#include "stores/conformance/conformance.h"
#include "stores/conformance/support.h"
#include "stores/sqlite/sqlite_store.h"
#include "testing/manual_clock.h"

namespace {

using namespace holdfast;
using namespace holdfast::stores::conformance;

std::filesystem::path new_directory() {
    std::string path =
        (std::filesystem::temp_directory_path() / "holdfast-conformance-XXXXXX").string();
    if (mkdtemp(path.data()) == nullptr) throw std::runtime_error("cannot make " + path);
    return path;
}

class SqliteFixture final : public Fixture {
  public:
    explicit SqliteFixture(bool lean) {
        options_.directory = new_directory();
        options_.ballast_bytes = options_.reserve_bytes = 0;
        options_.reserve_share = 0;
        options_.on_broken = [](const Error& error) { ADD_FAILURE() << error.detail; };
        if (lean) options_.finished_cache = options_.body_cache_bytes = 0;
        open();
    }
    ~SqliteFixture() override {
        store_.reset();
        std::filesystem::remove_all(options_.directory);
    }
    stores::Store& store() override { return *store_; }
    void advance(Duration d) override { clock_.advance(d); }
    void reopen() override {
        store_.reset();
        open();
    }

  private:
    void open() {
        auto opened = stores::SqliteStore::open(options_, clock_, io().get_executor());
        if (!opened) throw std::runtime_error(opened.error().detail);
        store_ = *std::move(opened);
    }

    stores::SqliteOptions options_;
    holdfast::testing::ManualClock clock_;
    std::unique_ptr<stores::SqliteStore> store_;
};

Backend sqlite_backend() {
    return {"sqlite", all_but({}), [] { return std::make_unique<SqliteFixture>(false); }};
}
Backend lean_backend() {
    return {"sqlite_lean", all_but({}), [] { return std::make_unique<SqliteFixture>(true); }};
}

}  // namespace

HOLDFAST_CONFORMANCE(sqlite, sqlite_backend());
HOLDFAST_CONFORMANCE(sqlite_lean, lean_backend());
