// E-mail to people: what an invitation or a password link has to say. A letter is sent after the commit that
// it tells of; when it cannot be sent, an event says so, and the secret in the answer is as good as before.
#pragma once

#include <string>

#include "api/types_user.h"
#include "roles/master/http/api.h"

namespace hostler::master {

struct Letter {
    std::string to;  // Empty: there is no address.
    std::string subject, text;
    std::string kind, id, tenant;  // Of what its event tells.
};
Letter letter_of(const Desk& desk, const api::CreateInvitation& request, const api::CreatedInvitation& made);
Letter letter_of(const Desk& desk, const api::CreateUser& request, const api::CreatedUser& made);
Letter letter_of(const Desk& desk, const api::NameUser& request, const api::CreatedPasswordLink& made);

// Letters of one tenant: a tenant's admin chooses the addresses.
inline constexpr RateLimit letters_tenant{.per_second = 100.0 / 3'600, .burst = 50};
inline constexpr std::size_t letters_under_way_max = 256;

enum class Sends { letter, nothing };
// Sends it in the background, or tells what would become of it.
api::MailState send_letter(Term& term, Letter letter, Sends sends);

// As write_hashing; `mail` of the answer is filled in, and the letter is sent.
template <const auto& operation, class Decide>
void write_mailing(Api& service, Decide decide) {
    using Op = std::remove_cvref_t<decltype(operation)>;
    service.handlers().on<operation>(
        [&service, decide](api::Call call, typename Op::Request request) -> Task<typename Op::Response> {
            const TermPtr term = CO_TRY(service.leader());
            const Digest& digest = term->ports().digest;
            const Sends sends = call.dry_run ? Sends::nothing : Sends::letter;
            const typename Op::Request asked = request;
            auto made = CO_TRY(co_await service.perform<Op>(
                [decide, &digest](Desk& desk, const api::Call& of, const typename Op::Request& wanted)
                    -> Result<typename Op::Response> { return decide(desk, of, wanted, digest); },
                std::move(call), std::move(request)));
            made.mail = send_letter(*term, letter_of(term->look(), asked, made), sends);
            co_return made;
        });
}

}  // namespace hostler::master
