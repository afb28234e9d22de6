#include "coordination/coordination.h"
#include "domain/submission.h"

namespace holdfast::coordination {

Result<> check_ttl(Duration ttl) {
    if (ttl < kShortestTtl || ttl > kLongestTtl)
        return invalid("ttl", "must be between 1ms and 7d");
    return {};
}

Result<> check(const LockRequest& request) {
    TRY_VOID(domain::check_token("key", request.key));
    TRY_VOID(domain::check_token("holder", request.holder));
    TRY_VOID(check_ttl(request.ttl));
    if (request.capacity == 0) return invalid("capacity", "must be at least 1");
    return {};
}

}  // namespace holdfast::coordination
