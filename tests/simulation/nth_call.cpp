#include "nth_call.h"

#include <fmt/format.h>

namespace hostler::simulation {

bool Fate::strikes(std::string_view what) {
    if (++calls != fails_at) return false;
    failed = what;
    return true;
}

Error Fate::error() const {
    const std::string what = fmt::format("call {}, {}, was made to fail", calls, failed);
    if (how == Failing::disk_full) return {Code::exhausted, what, "disk_full"};
    return {Code::unavailable, what};
}

// As a store does it: after a commit that failed nothing more is written before lead().
Task<> FatefulStore::commit(Changes changes) {
    if (ended_) return end(*ended_);
    if (!fate_.strikes("commit")) return store_.commit(std::move(changes));
    ended_ = fate_.error();
    if (fate_.how != Failing::answer_lost) return end(*ended_);
    return lose(store_.commit(std::move(changes)), *ended_);
}

Task<> FatefulStore::end(Error error) { co_return std::unexpected(std::move(error)); }

Task<> FatefulStore::lose(Task<> written, Error error) {
    CO_TRY(co_await std::move(written));
    co_return std::unexpected(std::move(error));
}

Task<Lease> FatefulStore::lead(Contender who, Duration length, std::uint64_t above) {
    ended_.reset();
    return fate_.of<Lease>("lead", [&] { return store_.lead(std::move(who), length, above); });
}

}  // namespace hostler::simulation
