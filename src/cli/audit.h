// `hostler audit export` and `hostler audit verify`: the audit as a file, and whether it is whole.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/client.h"
#include "cli/render.h"

namespace hostler::cli {

struct AuditExportCommand {
    CLI::App* app = nullptr;
    std::string out, tenant, project, since, until;

    void add(CLI::App& noun);
    bool chosen() const { return app && app->parsed(); }
    bool has_filters() const {
        return !tenant.empty() || !project.empty() || !since.empty() || !until.empty();
    }
};

// Lines of JSON: a head, seals, records in the order of the chain, an end (docs/operate/security.md). Page by
// page; the file gets its name once it is whole. Errors: as the API's; conflict (the file is there already);
// unavailable (it cannot be written).
Task<> run_audit_export(CliWorld& world, ApiClient& client, const AuditExportCommand& command);

// Part by part to the end. Errors: as the API's; internal ("audit_broken": something is wrong, which was
// shown).
Task<> run_audit_verify(CliWorld& world, ApiClient& client, ApiCall call, const Style& style);

}  // namespace hostler::cli
