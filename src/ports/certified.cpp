#include "ports/certified.h"

#include <fmt/format.h>

namespace hostler {

Certified::Certified(std::shared_ptr<const Credentials> own, Keys& keys, Keep keep)
    : own_(std::move(own)), keys_(keys), keep_(std::move(keep)) {
    if (const auto facts = keys_.read(own_->certificate)) {
        identity_ = facts->identity;
        begins_ = facts->not_before;
        ends_ = facts->not_after;
    }
}

Result<std::string> Certified::request() const { return TRY(keys_.renew(own_->key, identity_)).csr_pem; }

Task<> Certified::renewed(std::string certificate) {
    const auto present = CO_TRY(keys_.read(own_->certificate));
    const auto facts = CO_TRY(keys_.read(certificate));
    if (facts.identity != identity_ || facts.key_fingerprint != present.key_fingerprint ||
        facts.not_after <= present.not_after)
        co_return fail(Code::unauthenticated,
                       fmt::format("the renewed certificate is not for {} or ends no later; it is not used",
                                   identity_.text()));
    CO_TRY(co_await keep_(certificate));
    own_ =
        std::make_shared<const Credentials>(Credentials{std::move(certificate), own_->key, own_->authority});
    begins_ = facts.not_before;
    ends_ = facts.not_after;
    co_return Result<>{};
}

}  // namespace hostler
