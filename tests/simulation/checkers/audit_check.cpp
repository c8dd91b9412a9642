#include "audit_check.h"

#include <fmt/format.h>

#include "roles/master/http/audit_seals.h"

namespace hostler::simulation {

namespace {

Task<> look_at_audit(master::TermPtr term, Findings& found, std::shared_ptr<AuditChecked> into) {
    Store& store = term->ports().store;
    CO_TRY(co_await term->settled());
    AuditAnchors anchors = CO_TRY(co_await store.audit_anchors(0, 1000));
    ChainCheck check{term->ports().digest, anchors.base};
    check.expect_head(anchors.head);
    const SealCheck good = master::seal_check(term->look(), term->ports());
    for (const AuditSeal& seal : anchors.seals) check.add_seal(seal, good);
    AuditQuery query{.limit = 1000, .order = AuditOrder::written};
    while (true) {
        const AuditPage page = CO_TRY(co_await store.audit(query));
        for (const AuditLine& line : page.lines) check.add(line);
        if (!page.next) break;
        query.after = page.next;
    }
    check.end();
    for (const ChainFinding& one : check.findings())
        found.report(Invariant::audit, fmt::format("audit line {} (line {} of commit {}): {}", one.position,
                                                   one.line, one.number, one.text));
    *into = {.done = true, .chained = check.chained(), .seals = check.seals()};
    co_return Result<>{};
}

}  // namespace

void check_audit(const master::TermPtr& term, Findings& found, std::shared_ptr<AuditChecked> into) {
    term->tasks().start("audit check", look_at_audit(term, found, std::move(into)));
}

}  // namespace hostler::simulation
