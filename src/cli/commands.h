// The tree of commands, made from the table of operations.
#pragma once

#include <CLI/CLI.hpp>
#include <array>
#include <memory>
#include <string_view>

#include "api/operation.h"
#include "api/schema.h"
#include "cli/audit.h"
#include "cli/consolidate.h"
#include "cli/kubeconfig.h"
#include "cli/login.h"
#include "cli/remote.h"
#include "cli/run_command.h"
#include "cli/top.h"
#include "cli/world.h"

namespace hostler::cli {

// Of --output.
inline constexpr auto output_formats =
    std::to_array<std::string_view>({"table", "json", "yaml", "csv", "name", "html"});

// A flag (or positional argument) that fills one field of a request.
struct Flag {
    const api::Property* property = nullptr;
    std::vector<std::string> path;    // Of the field: {"template", "cmd"}.
    std::string name;                 // As people type it: "--cmd", "NAME".
    std::vector<std::string> values;  // As they were typed.
    bool on = false;                  // Of a boolean without a value.
    CLI::Option* option = nullptr;
    bool given() const { return !values.empty() || (option && option->count() > 0); }
    bool is_list() const { return property->schema->kind == api::Kind::list || is_map(); }
    // What people type unseen: it is asked for, or read from a file.
    bool is_hidden() const { return property->field && property->field->hidden; }
    bool is_map() const { return property->schema->kind == api::Kind::map; }
    bool is_label_filter() const {
        return property->field && property->field->form == &api::forms::label_filter;
    }
};

struct Command {
    const api::Operation* operation = nullptr;
    CLI::App* app = nullptr;
    std::vector<std::unique_ptr<Flag>> flags;
    std::string file;             // --file
    std::string idempotency_key;  // --idempotency-key
    std::string cursor;           // --cursor
    std::string order;            // --order
    std::string query;            // --query
    std::string timeout = "10m";  // --timeout
    int limit = 0;                // --limit; 0: all pages.
    bool dry_run = false;
    bool watch = false;
    bool wait = false;
};

struct Globals {
    std::string api;
    std::string key;
    std::string ca;
    std::string output = "table";
    bool no_color = false;
    bool yes = false;
    bool version = false;
};

struct LocalCommands {  // Those that are no operation.
    CLI::App* completion = nullptr;
    CLI::App* apply = nullptr;
    std::string shell;
    std::vector<std::string> files;  // Of apply.
    bool dry_run = false;
    LoginCommands people;
    RemoteCommands remote;
    TopCommand top;
    ConsolidateCommand consolidate;
    AuditExportCommand audit_export;
    KubeconfigCommand kubeconfig;
    RunCommand run;
};

// What may stand at the end of a line.
struct Candidates {
    std::vector<std::string> words;
    const api::Operation* names = nullptr;  // A list whose items' names fit, too;
    bool files = false;                     // so do names of files.
};

class CommandTree {
public:
    explicit CommandTree(const CliWorld& world);

    // Errors: invalid (what was typed is no command: a sentence that names the nearest). `help` is set when
    // help was asked for instead.
    Result<> parse(std::vector<std::string> args, std::string& help);

    // The command that was typed; null for a local one.
    Command* chosen() const;
    // What may stand at the end of `words` (completion): its last is what has been typed of it so far.
    Candidates candidates(std::vector<std::string> words);

    CLI::App app;
    Globals globals;
    LocalCommands local;
    std::vector<std::unique_ptr<Command>> commands;

private:
    void add_globals(const CliWorld& world);
    void add_local();
    void add_command(const api::Operation& operation);
    // To the commands whose words are all among these: the options of all commands take longer to make than
    // most calls last.
    void add_options(const std::vector<std::string>& typed);
    void add_flags(Command& command, const api::Schema& schema, std::vector<std::string> path);
    void add_flag(Command& command, const api::Property& property, std::vector<std::string> path);
    void add_common(Command& command);
    void take_order();
    // `typed`: with short forms written out.
    Result<> refuse_extras(const std::vector<std::string>& typed) const;
    bool complete_value(const CLI::App& at, const std::string& before, Candidates& out) const;

    std::vector<std::string> others_;
};

// "specName" → "spec-name".
std::string kebab(std::string_view json_name);
// Waits until something happens afterwards, so that --wait means something: instances that start or end,
// jobs, and what answers 202.
bool can_wait(const api::Operation& operation);

}  // namespace hostler::cli
