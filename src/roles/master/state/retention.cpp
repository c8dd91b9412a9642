#include "roles/master/state/retention.h"

#include <algorithm>
#include <limits>

namespace hostler::master {

namespace {

constexpr std::size_t at_once = 256;  // A few milliseconds of the estate's thread.
constexpr std::int64_t ever = std::numeric_limits<std::int64_t>::max();

// Those whose time, by this index, is before `until`; the oldest first.
template <class T>
void forget(Desk& desk, Table<T>& table, const Index<T, std::int64_t>& time, std::int64_t until,
            bool keep_in_store) {
    std::vector<std::string> ids;
    for (const T* row : time.between(0, until, at_once)) ids.push_back(Kind<T>::id(*row));
    for (const std::string& id : ids) {
        if (keep_in_store)
            retire(desk, table, id);
        else
            table.erase(id);
    }
}

// Of each tenant the oldest.
void forget_answers_beyond(Desk& desk, std::size_t tenant_max) {
    const auto& by = desk.estate.answers.by();
    std::vector<std::string> ids;
    for (const std::string& tenant : by.tenant.take_touched()) {
        const std::size_t count = by.tenant.count(tenant);
        const std::size_t beyond = std::min(count - std::min(count, tenant_max), at_once);
        for (const Answer* answer : by.tenant_expires_at.between({tenant, 0}, {tenant, ever}, beyond))
            ids.push_back(answer->id);
    }
    for (const std::string& id : ids) desk.estate.answers.erase(id);  // Its tenant is looked at once more.
}

}  // namespace

void forget_what_is_over(Desk& desk) {
    Estate& estate = desk.estate;
    const std::int64_t now = estate.micros();
    const std::int64_t kept = std::chrono::microseconds{desk.settings.ended_kept}.count();
    forget(desk, estate.sign_ins, estate.sign_ins.by().expires_at, now, false);
    const std::int64_t idle = std::chrono::microseconds{desk.settings.session_idle}.count();
    forget(desk, estate.logins, estate.logins.by().expires_at, now, false);
    forget(desk, estate.logins, estate.logins.by().used_at, now - idle, false);
    forget(desk, estate.password_links, estate.password_links.by().expires_at, now, false);
    forget(desk, estate.invitations, estate.invitations.by().expires_at, now, false);
    forget(desk, estate.operations, estate.operations.by().ended_at, now - kept, true);
    forget(desk, estate.consolidations, estate.consolidations.by().ended_at, now - kept, true);
    // A used one answers its host once more until then.
    forget(desk, estate.host_tokens, estate.host_tokens.by().expires_at, now - kept, true);
    forget(desk, estate.answers, estate.answers.by().expires_at, now, false);
    forget_answers_beyond(desk, desk.settings.answers_tenant_max);
}

}  // namespace hostler::master
