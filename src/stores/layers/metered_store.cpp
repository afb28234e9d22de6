#include "stores/layers/metered_store.h"

namespace holdfast::stores {
namespace {

const prometheus::Histogram::BucketBoundaries kSeconds{
    0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5};
const prometheus::Histogram::BucketBoundaries kItems{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024};
constexpr std::array<const char*, 4> kVerdictNames{"committed", "conflict", "duplicate", "refused"};

prometheus::Histogram& histogram(prometheus::Registry& registry, const char* name, const char* help,
                                 const prometheus::Histogram::BucketBoundaries& buckets) {
    return prometheus::BuildHistogram().Name(name).Help(help).Register(registry).Add({}, buckets);
}

}  // namespace

Meters::Meters(Clock& clock, prometheus::Registry& registry)
    : clock_(clock),
      errors_(prometheus::BuildCounter()
                  .Name("holdfast_store_errors_total")
                  .Help("Calls of the store that failed, by operation and code.")
                  .Register(registry)),
      commit_seconds_(histogram(registry, "holdfast_commit_seconds",
                                "Time until a commit is durable.", kSeconds)),
      commit_batch_(
          histogram(registry, "holdfast_commit_batch", "Changes in one commit.", kItems)) {
    auto& seconds = prometheus::BuildHistogram()
                        .Name("holdfast_store_call_seconds")
                        .Help("Time a call of the store takes.")
                        .Register(registry);
    for (std::size_t op = 0; op < kOpNames.size(); ++op) {
        seconds_[op] = &seconds.Add({{"op", std::string(kOpNames[op])}}, kSeconds);
    }
    auto& verdicts = prometheus::BuildCounter()
                         .Name("holdfast_changes_total")
                         .Help("Changes that the store was asked to apply, by verdict.")
                         .Register(registry);
    for (std::size_t v = 0; v < kVerdictNames.size(); ++v) {
        verdicts_[v] = &verdicts.Add({{"verdict", kVerdictNames[v]}});
    }
}

void Meters::observe(Op op, std::size_t items, Duration took, const Error* error) {
    const double seconds = std::chrono::duration<double>(took).count();
    seconds_[static_cast<std::size_t>(op)]->Observe(seconds);
    if (op == Op::commit) {
        commit_seconds_.Observe(seconds);
        commit_batch_.Observe(static_cast<double>(items));
    }
    if (error != nullptr)
        errors_
            .Add(
                {{"op", std::string(to_string(op))}, {"code", std::string(to_string(error->code))}})
            .Increment();
}

void Meters::count_verdicts(const std::vector<Outcome>& outcomes) {
    for (const Outcome& outcome : outcomes)
        verdicts_[static_cast<std::size_t>(outcome.verdict)]->Increment();
}

}  // namespace holdfast::stores
