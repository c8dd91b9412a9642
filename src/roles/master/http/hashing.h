// Operations that make a secret, or look one up by its hash.
#pragma once

#include "roles/master/http/api.h"

namespace hostler::master {

// As Api::write; `decide` gets the Digest, too.
template <const auto& operation, class Decide>
void write_hashing(Api& service, Decide decide) {
    using Op = std::remove_cvref_t<decltype(operation)>;
    service.handlers().on<operation>(
        [&service, decide](api::Call call, typename Op::Request request) -> Task<typename Op::Response> {
            const TermPtr term = CO_TRY(service.leader());
            const Digest& digest = term->ports().digest;
            co_return co_await service.perform<Op>(
                [decide, &digest](Desk& desk, const api::Call& asked, const typename Op::Request& wanted)
                    -> Result<typename Op::Response> { return decide(desk, asked, wanted, digest); },
                std::move(call), std::move(request));
        });
}

}  // namespace hostler::master
