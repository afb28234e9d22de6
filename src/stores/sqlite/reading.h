// The reading side of the journal: a connection of its own, so that a reader never waits for a writer.
#pragma once

#include <map>
#include <string>

#include "stores/sqlite/journal.h"

namespace holdfast::stores::sqlite {

class Reading final : public Archive {
  public:
    Tried<> open(const std::string& path, const std::string& vfs);

    Tried<std::vector<std::optional<FinishedRow>>> finished(const std::vector<Uuid>& ids) override;
    Tried<> walk(const FinishedQuery& query,
                 const std::function<bool(const FinishedRow&)>& visit) override;
    Tried<Old> old(std::uint64_t from, Time before, Time now, std::size_t limit) override;
    Tried<std::vector<Bytes>> bodies(const std::vector<std::uint64_t>& made) override;
    Tried<std::vector<LogEntry>> log(std::string_view log, const Uuid& owner, std::size_t skip,
                                     std::size_t limit) override;
    Tried<std::vector<LogRow>> log_keys(const Uuid& owner) override;
    Tried<std::vector<FeedRow>> feed(std::uint64_t from, std::size_t events) override;
    Tried<> check() override;
    Tried<> backup(const std::string& to) override;

  private:
    /// Prepared once, by its text.
    Statement& statement(const std::string& sql);

    std::string path_, vfs_;
    Database database_;
    std::map<std::string, Statement> statements_;
};

}  // namespace holdfast::stores::sqlite
