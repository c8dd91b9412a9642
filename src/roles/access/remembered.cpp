#include "roles/access/remembered.h"

#include <charconv>

namespace hostler::access {

namespace {

constexpr std::string_view epoch_key = "epoch";
constexpr std::string_view revoked_prefix = "revoked/";

}  // namespace

Remembered::Remembered(Journal& journal) : journal_(journal) {
    for (const auto& [key, value] : journal.all()) {
        if (key == epoch_key) std::from_chars(value.data(), value.data() + value.size(), epoch_);
        if (key.starts_with(revoked_prefix)) revoked_.insert(key.substr(revoked_prefix.size()));
    }
}

Task<> Remembered::raise(std::uint64_t epoch) {
    if (epoch <= epoch_) co_return Result<>{};
    CO_TRY(co_await journal_.put(std::string{epoch_key}, std::to_string(epoch)));
    epoch_ = std::max(epoch_, epoch);
    co_return Result<>{};
}

void Remembered::revoke(std::string host) {
    if (revoked_.insert(host).second) unwritten_.insert(std::move(host));
}

Task<> Remembered::write() {
    while (!unwritten_.empty()) {
        const std::string host = *unwritten_.begin();
        CO_TRY(co_await journal_.put(std::string{revoked_prefix} + host, ""));
        unwritten_.erase(host);
    }
    co_return Result<>{};
}

}  // namespace hostler::access
