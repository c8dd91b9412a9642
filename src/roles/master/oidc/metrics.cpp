#include "roles/master/oidc/metrics.h"

#include "roles/master/oidc/oidc_state.h"

namespace hostler::master {

void write_oidc_metrics(MetricsPage& page, Term& term) {
    using enum MetricsPage::Type;
    const OidcState& state = oidc_of(term);
    page.begin("hostler_master_idp_sign_ins_total",
               "Sign-ins by identity providers, in this term, and sessions that providers ended.", counter);
    page.value({{"result", "ok"}}, state.count.signed_in);
    page.value({{"result", "failed"}}, state.count.refused);
    page.value({{"result", "logged_out"}}, state.count.logged_out);
    page.add("hostler_master_idp_away_total", "Calls that identity providers did not answer as they should.",
             counter, state.count.away);
    std::uint64_t away = 0;
    for (const auto& [id, by] : state.published) away += by->discovery.failed || by->keys.failed ? 1 : 0;
    page.add("hostler_master_idps_away", "Identity providers that were away when they were asked last.",
             gauge, away);
    page.add_bounded("hostler_master_idp_attempts", "Browsers that are at an identity provider.",
                     state.attempts.size(), attempts_max);
}

}  // namespace hostler::master
