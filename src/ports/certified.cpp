#include "ports/certified.h"

#include <fmt/format.h>

namespace hostler {

Certified::Certified(std::shared_ptr<const Credentials> own, Keys& keys, Keep keep)
    : own_(std::move(own)), keys_(keys), keep_(std::move(keep)) {
    if (const auto facts = keys_.read(own_->certificate)) {
        identity_ = facts->identity;
        names_ = facts->names;
        begins_ = facts->not_before;
        ends_ = facts->not_after;
    }
}

Result<std::string> Certified::request() const { return TRY(keys_.renew(own_->key, identity_)).csr_pem; }

Task<> Certified::renewed(std::string certificate, std::string authority) {
    if (authority.empty()) authority = own_->authority;
    if (authority != own_->authority) CO_TRY(keys_.fingerprints(authority));
    const auto present = CO_TRY(keys_.read(own_->certificate));
    const auto facts = CO_TRY(keys_.read(certificate));
    if (facts.identity != identity_ || facts.key_fingerprint != present.key_fingerprint ||
        facts.not_after < present.not_after ||
        (certificate == own_->certificate && authority == own_->authority))
        co_return fail(Code::unauthenticated,
                       fmt::format("the renewed certificate is not for {} or no newer; it is not used",
                                   identity_.text()));
    CO_TRY(co_await keep_(certificate, authority));
    own_ = std::make_shared<const Credentials>(
        Credentials{std::move(certificate), own_->key, std::move(authority)});
    names_ = facts.names;
    begins_ = facts.not_before;
    ends_ = facts.not_after;
    co_return Result<>{};
}

}  // namespace hostler
