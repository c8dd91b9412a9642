#include "cli/commands.h"

#include <fmt/format.h>

#include "api/operation_list.h"
#include "api/operations_cluster.h"
#include "api/operations_host.h"
#include "api/operations_instance.h"
#include "api/operations_job.h"
#include "api/router.h"
#include "cli/render.h"
#include "cli/typed.h"

namespace hostler::cli {

namespace {

using api::Kind;

std::vector<std::string_view> words(std::string_view text) {
    std::vector<std::string_view> out;
    while (!text.empty()) {
        const auto end = text.find(' ');
        if (end != 0) out.push_back(text.substr(0, end));
        text.remove_prefix(end == text.npos ? text.size() : end + 1);
    }
    return out;
}

// A flag's other, shorter names: --spec for --spec-name, --tenant for --tenant-id, --ttl for --ttl-seconds.
std::string_view shortened(std::string_view flag) {
    for (const std::string_view end : {"-id", "-name", "-seconds"})
        if (flag.ends_with(end)) return flag.substr(0, flag.size() - end.size());
    return {};
}

// The letters that other programs have for the same: -p, -e, -v of ports, variables and volumes, -n, -f, -t
// of logs.
std::string_view letter_of(const api::Property& property) {
    const api::Schema* element = property.schema->kind == Kind::list ? property.schema->element : nullptr;
    if (element && element->name == "Port") return "-p";
    if (element && element->name == "Env") return "-e";
    if (element && element->name == "VolumeMount") return "-v";
    if (property.name == "tail") return "-n,--lines";
    if (property.name == "follow") return "-f";
    if (property.name == "timestamps") return "-t";
    return {};
}

std::string value_name(const api::Property& property) {
    const api::Schema& schema = *property.schema;
    switch (schema.kind) {
        case Kind::integer: return property.field->unit == api::Unit::seconds ? "TIME" : "NUMBER";
        case Kind::number: return "NUMBER";
        case Kind::enumeration: return fmt::format("{{{}}}", fmt::join(schema.values, ","));
        case Kind::list:
            if (schema.element->name == "Port") return "PORT[,public][,probe][,base-url=/PATH]";
            if (schema.element->name == "Env") return "NAME=VALUE";
            if (schema.element->name == "VolumeMount") return "[VOLUME:]/PATH[:ro]";
            if (schema.element->name == "SecretValue") return "KEY[=@FILE|=-]";
            if (schema.element->name == "SecretEnv") return "NAME=SECRET/KEY";
            if (schema.element->name == "SecretFile") return "/PATH=SECRET[/KEY]";
            if (schema.element->name == "GroupRole") return "GROUP=ROLE[,tenant=TENANT][,project=PROJECT]";
            if (schema.element->name == "ClusterPool") return "NAME=COUNT[,gpu-type=WORDS][,…]";
            if (schema.element->name == "JobAfter") return "JOB[:succeeded|failed|ended]";
            if (schema.element->name == "QuotaLimit") return "RESOURCE=LIMIT[,guaranteed=AMOUNT]";
            return "TEXT";
        case Kind::text:
            if (property.field->form == &api::forms::quantity) return "QUANTITY";
            if (property.field->form == &api::forms::label_filter) return "NAME[=VALUE]";
            if (property.field->form == &api::forms::owner_filter) return "KIND[/ID]";
            return "TEXT";
        case Kind::map: return "NAME=VALUE";
        case Kind::boolean:
        case Kind::time:
        case Kind::object: break;
    }
    return "";
}

std::string upper(std::string text) {
    for (char& c : text)
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    return text;
}

std::string help_of(const api::Property& property) {
    const api::Field& field = *property.field;
    std::string help{field.help};
    if (!field.example.empty() && field.form == &api::forms::quantity)
        help += fmt::format(" As {}.", field.example);
    if (field.hidden) help += " @FILE or '-': read there; alone: asked for.";
    if (property.required && !field.hidden && property.name != "tenantID") help += " (required)";
    return help;
}

// Flags that begin as what was typed does ("--gpu-num" of "--gpus"), else the nearest.
std::vector<std::string> flags_near(const std::string& typed, const std::vector<std::string>& known) {
    constexpr std::size_t letters_min = 5;  // Two of them are dashes.
    std::string stem = typed;
    if (stem.ends_with('s')) stem.pop_back();
    std::vector<std::string> near;
    for (const std::string& one : known)
        if (typed.size() >= letters_min && (one.starts_with(typed) || one.starts_with(stem + "-")))
            near.push_back(one);
    if (!near.empty()) return near;
    if (const auto meant = api::nearest(typed, {known.begin(), known.end()}); !meant.empty())
        near.emplace_back(meant);
    return near;
}

// Of the noun that the words of `path` up to `last` are.
std::string noun_help(const std::vector<std::string_view>& path, std::size_t last) {
    const std::string name =
        fmt::format("{}", fmt::join(path.begin(), path.begin() + static_cast<long>(last) + 1, " "));
    const auto found = std::ranges::find(api::nouns(), name, &api::Noun::name);
    return found == api::nouns().end() ? "" : std::string(found->help);
}

CLI::App* child(CLI::App& parent, const std::string& name) {
    for (CLI::App* one : parent.get_subcommands([](const CLI::App*) { return true; }))
        if (one->get_name() == name) return one;
    return nullptr;
}

// "--size: 1 required QUANTITY missing", as CLI11 says it, for people.
std::string in_words(std::string_view complaint) {
    constexpr std::string_view before = ": 1 required ";
    constexpr std::string_view after = " missing";
    const auto at = complaint.find(before);
    if (at == complaint.npos || !complaint.ends_with(after)) return std::string(complaint);
    const std::string_view value = complaint.substr(at + before.size());
    return fmt::format("{} needs a value: {}", complaint.substr(0, at),
                       value.substr(0, value.size() - after.size()));
}

// `cluster create --restore SAVE NAME` in the words of people.
constexpr api::Operation restore_cluster = [] {
    api::Operation made = api::ops::create_cluster;
    made.verb = "restore";
    made.help = "Create a cluster from a save of another one.";
    made.example = "cluster restore ks-7f3k2m9qxy train2 --control 3";
    return made;
}();

}  // namespace

std::string kebab(std::string_view json_name) {
    std::string out;
    for (std::size_t i = 0; i < json_name.size(); ++i) {
        const char c = json_name[i];
        const bool capital = c >= 'A' && c <= 'Z';
        const bool after_capital = i > 0 && json_name[i - 1] >= 'A' && json_name[i - 1] <= 'Z';
        if (capital && i > 0 && !after_capital) out += '-';
        out += capital ? static_cast<char>(c - 'A' + 'a') : c;
    }
    return out;
}

bool can_wait(const api::Operation& operation) {
    namespace ops = api::ops;
    const auto instance = std::to_array<const api::Operation*>(
        {&ops::create_instance, &ops::delete_instance, &ops::stop_instance, &ops::start_instance,
         &ops::restart_instance, &ops::retry_instance});
    return operation.status == 202 || &operation == &ops::drain_host || &operation == &ops::submit_job ||
           &operation == &ops::cancel_job || std::ranges::find(instance, &operation) != instance.end();
}

CommandTree::CommandTree(const CliWorld& world) : app("Hostler: GPU machines as one cloud.", "hostler") {
    app.fallthrough();
    app.allow_extras();
    app.require_subcommand(0, 1);  // Also of each below: what follows a command is never another one.
    app.get_formatter()->column_width(32);
    add_globals(world);
    for (const api::Operation* operation : api::operations()) add_command(*operation);
    add_command(restore_cluster);
    add_local();
    std::string footer =
        "Short forms: `hostler ps`, `hostler logs NAME`, `hostler explain NAME`, `hostler events`, `hostler "
        "offers`.\n"
        "A program as a job: `hostler run --gpus 1 --image IMAGE -- COMMAND`.\n";
    if (!world.other_commands.empty()) footer += "\nParts of the cloud itself:\n";
    for (const auto& [name, help] : world.other_commands) {
        others_.push_back(name);
        footer += fmt::format("  {:<12}{}\n", name, help);
    }
    footer +=
        "\nThe API's address and key come from --api and --key, else HOSTLER_API and HOSTLER_KEY, else the "
        "file\n"
        "that `hostler login` writes (HOSTLER_CONFIG names another). HOSTLER_CA stands for --ca.\n";
    app.footer(footer);
}

void CommandTree::add_local() {
    local.apply = app.add_subcommand("apply", "Create or update resources from a file.");
    local.apply
        ->add_option("-f,--file,FILE", local.files,
                     "YAML or JSON file, '-' for standard input; may be repeated.")
        ->type_name("FILE")
        ->expected(1)
        ->allow_extra_args(false)
        ->take_all()
        ->required();
    local.apply->add_flag("--dry-run", local.dry_run, "Check what can be checked, and change nothing.");
    local.apply->footer(
        "Each document names its kind (as volume) and its fields as the API names them.\n\n"
        "Example:\n  hostler apply -f cloud.yaml --dry-run");
    local.people.add(app);
    local.completion = app.add_subcommand("completion", "Print a script that completes commands in a shell.");
    local.completion->add_option("SHELL", local.shell, "bash, zsh or fish.")->required();
    local.completion->footer("Example:\n  source <(hostler completion bash)");
    local.remote.add(app);
    local.run.add(app);
    local.top.add(app);
    local.consolidate.add(app);
    local.audit_export.add(*child(app, "audit"));
    local.kubeconfig.add(*child(app, "cluster"));
    for (CLI::App* one : {local.apply, local.people.login, local.people.logout, local.completion})
        one->fallthrough()->allow_extras();
}

void CommandTree::add_globals(const CliWorld& world) {
    app.add_option("--api", globals.api, "Address of the API; of several masters, with commas.")
        ->type_name("URL")
        ->group("Everywhere");
    app.add_option("--key", globals.key, "API key; HOSTLER_KEY keeps it out of the list of processes.")
        ->type_name("KEY")
        ->group("Everywhere");
    app.add_option("--ca", globals.ca,
                   "File with the authorities to believe of an https:// address; without it "
                   "those of this machine.")
        ->type_name("FILE")
        ->group("Everywhere");
    app.add_option("-o,--output", globals.output, "How to print data.")
        ->type_name("{table,json,yaml,csv,name,html}")
        ->group("Everywhere");
    app.add_flag("--no-color", globals.no_color, "No colours, as with NO_COLOR set.")->group("Everywhere");
    app.add_flag("-y,--yes", globals.yes, "Yes to every question.")->group("Everywhere");
    app.add_flag("--version", globals.version, "Print the version.")->group("Everywhere");
    app.set_help_flag("-h,--help", "Print help.");
    app.get_help_ptr()->group("Everywhere");
}

void CommandTree::add_command(const api::Operation& operation) {
    CLI::App* parent = &app;
    std::vector<std::string_view> path = words(operation.noun);
    if (!operation.verb.empty()) path.push_back(operation.verb);
    for (std::size_t i = 0; i < path.size(); ++i) {
        const std::string word{path[i]};
        CLI::App* next = child(*parent, word);
        if (!next) {
            const bool leaf = i + 1 == path.size();
            next = parent->add_subcommand(word, leaf ? std::string(operation.help) : noun_help(path, i));
            if (word == "list") next->alias("ls");
            next->fallthrough()->allow_extras();
        }
        parent = next;
    }
    auto command = std::make_unique<Command>();
    command->operation = &operation;
    command->app = parent;
    if (!operation.example.empty()) parent->footer(fmt::format("Example:\n  hostler {}", operation.example));
    commands.push_back(std::move(command));
}

void CommandTree::add_options(const std::vector<std::string>& typed) {
    const auto is_typed = [&](const CLI::App& one) {
        return std::ranges::any_of(typed, [&](const std::string& word) { return one.check_name(word); });
    };
    for (const auto& command : commands) {
        const CLI::App* at = command->app;
        while (at != &app && is_typed(*at)) at = at->get_parent();
        if (at != &app) continue;
        add_flags(*command, command->operation->request(), {});
        add_common(*command);
    }
}

void CommandTree::add_flags(Command& command, const api::Schema& schema, std::vector<std::string> path) {
    const bool restores = command.operation == &restore_cluster;
    if (restores) {  // The save comes before the name.
        const api::Property& save = *schema.find("restore");
        auto flag = std::make_unique<Flag>();
        flag->property = &save;
        flag->path = {save.name};
        flag->name = "SAVE";
        flag->option = command.app->add_option(flag->name, flag->values, help_of(save))
                           ->type_name("")
                           ->expected(1)
                           ->allow_extra_args(false)
                           ->required();
        command.flags.push_back(std::move(flag));
    }
    for (const api::Property& property : schema.properties) {
        if (restores &&
            (property.name == "restore" || property.name == "driver" || property.name == "version"))
            continue;
        auto inner = path;
        inner.push_back(property.name);
        if (property.schema->kind == Kind::object)
            add_flags(command, *property.schema, std::move(inner));
        else
            add_flag(command, property, std::move(inner));
    }
}

void CommandTree::add_flag(Command& command, const api::Property& property, std::vector<std::string> path) {
    auto flag = std::make_unique<Flag>();
    flag->property = &property;
    flag->path = std::move(path);
    std::string long_name = kebab(property.name);
    // Labels that its host must have; --label is for its own.
    if (flag->path.size() > 1 && flag->path[flag->path.size() - 2] == "placement" &&
        property.name == "labels")
        long_name = "host-labels";
    // Of a queue: --guaranteed-gpus, --most-gpus.
    if (flag->path.size() > 1 && command.operation->name == "setQueue")
        long_name = fmt::format("{}-{}", kebab(flag->path[flag->path.size() - 2]), long_name);
    if (long_name.starts_with("is-")) long_name = long_name.substr(3);
    const bool top = flag->path.size() == 1;
    const bool in_path = top && api::place_of(*command.operation, property) == api::Place::path;
    const bool positional = in_path || (top && property.name == command.operation->argument);
    // A field of the request itself has its name before one of an object within it, in whatever order.
    const auto taken = [&](const std::string& name) {
        return name.empty() || command.app->get_option_no_throw("--" + name) ||
               (!top && command.operation->request().find(name)) || app.get_option_no_throw("--" + name);
    };
    // One at a time: --port, --env.
    if (flag->is_list() && long_name.ends_with('s') && !taken(long_name.substr(0, long_name.size() - 1)))
        long_name.resize(long_name.size() - (long_name.ends_with("sses") ? 2 : 1));
    flag->name = positional ? upper(long_name) : "--" + long_name;
    std::string names = in_path ? flag->name : "--" + long_name;
    const std::string shorter{shortened(long_name)};
    if (!in_path && !taken(shorter)) names += ",--" + shorter;
    if (const auto letter = letter_of(property);
        !letter.empty() && !command.app->get_option_no_throw(std::string{letter.substr(0, 2)}))
        names = fmt::format("{},{}", letter, names);
    if (positional && !in_path) names += "," + flag->name;
    const std::string help = help_of(property);
    if (property.schema->kind == Kind::boolean) {
        flag->option = command.app->add_flag(names, flag->on, help);
    } else {
        flag->option = command.app->add_option(names, flag->values, help)
                           ->type_name(positional ? "" : value_name(property))
                           ->expected(1)
                           ->allow_extra_args(false);
        // Several words, behind each other.
        if (positional && flag->is_list())
            flag->option->expected(1, CLI::detail::expected_max_vector_size)->allow_extra_args(true);
        if (flag->is_hidden()) flag->option->type_name("[FROM]")->expected(0, 1);
        if (flag->is_list() || flag->is_label_filter()) flag->option->take_all();
    }
    command.flags.push_back(std::move(flag));
}

void CommandTree::add_common(Command& command) {
    const api::Operation& operation = *command.operation;
    CLI::App& on = *command.app;
    if (operation.list) {
        on.add_option("--limit", command.limit, "Maximum number of items. Default: all.")
            ->type_name("NUMBER");
        if (operation.takes_query())
            on.add_option("--query", command.query,
                          "Only what fits: FIELD OP VALUE, several with blanks between them. A wrong field "
                          "is answered with all that there are.")
                ->type_name("QUERY");
        if (operation.pages != api::Pages::own)
            on.add_option("--order", command.order,
                          "created: the oldest first; -created: the newest (--order=-created).")
                ->type_name("ORDER");
        on.add_option("--cursor", command.cursor, "Go on behind an earlier page.")->type_name("TEXT");
    }
    if (operation.watch) on.add_flag("-w,--watch", command.watch, "Go on and print what changes.");
    if (api::can_dry_run(operation))
        on.add_flag("--dry-run", command.dry_run, "Ask what would happen, and change nothing.");
    if (api::keeps_answer(operation))
        on.add_option("--idempotency-key", command.idempotency_key,
                      "A name for this call: sent again, it has no "
                      "further effect.")
            ->type_name("TEXT");
    if (operation.writes())
        on.add_option("-f,--file", command.file,
                      "Take fields from this YAML or JSON file, '-' for standard input; flags win.")
            ->type_name("FILE");
    if (can_wait(operation)) {
        on.add_flag("--wait", command.wait, "Wait until it is done, and show how far it is.");
        on.add_option("--timeout", command.timeout, "How long to wait, as 90s, 10m or 1h.")
            ->type_name("TIME")
            ->capture_default_str();
    }
}

Result<> CommandTree::parse(std::vector<std::string> args, std::string& help) {
    local.run.take_words(args, first_word(args, app));
    local.remote.take_words(args);
    expand(args, app);
    TRY(check_first_word(args, app, others_));
    add_options(args);
    const std::vector<std::string> typed = args;
    const auto deepest = [&] {
        CLI::App* at = &app;
        while (!at->get_subcommands().empty()) at = at->get_subcommands().front();
        return at;
    };
    try {
        std::reverse(args.begin(), args.end());  // As CLI11 wants them.
        app.parse(args);
    } catch (const CLI::CallForHelp&) {
        std::string before;
        for (const CLI::App* up = deepest()->get_parent(); up; up = up->get_parent())
            before = before.empty() ? up->get_name() : up->get_name() + " " + before;
        help = deepest()->help(before);
        return {};
    } catch (const CLI::RequiredError& error) {
        return fail(Code::invalid, fmt::format("{}; --help tells more", error.what()));
    } catch (const CLI::ParseError& error) {
        return fail(Code::invalid, in_words(error.what()));
    }
    TRY(refuse_extras(typed));
    CLI::App* at = deepest();
    const bool leaf = at->get_subcommands([](const CLI::App*) { return true; }).empty();
    if (leaf) take_order();
    if (globals.version || leaf) return {};
    if (at == &app) {
        help = app.help();
        return {};
    }
    std::vector<std::string> verbs;
    for (const CLI::App* one : at->get_subcommands([](const CLI::App*) { return true; }))
        verbs.push_back(one->get_name());
    return fail(Code::invalid,
                fmt::format("hostler {} needs a subcommand: {}", at->get_name(), fmt::join(verbs, ", ")));
}

// `-o price`, where answers can be ordered, says by what, unless it is a way to print them, or nearly one:
// that is refused with those that there are.
void CommandTree::take_order() {
    Command* command = chosen();
    if (!command || !api::nearest(globals.output, {output_formats.begin(), output_formats.end()}).empty())
        return;
    for (const auto& flag : command->flags)
        if (flag->path == std::vector<std::string>{"order"} && flag->values.empty())
            flag->values = {std::exchange(globals.output, Globals{}.output)};
}

Result<> CommandTree::refuse_extras(const std::vector<std::string>& typed) const {
    const auto extras = app.remaining(true);
    if (extras.empty()) return {};
    const std::string& extra = extras.front();
    TRY(local.remote.refuse_words(typed, extra));
    TRY(local.run.refuse_words(typed, extra));
    const CLI::App* at = &app;
    std::vector<std::string> known;
    const auto take_options = [&](const CLI::App& from) {
        for (const CLI::Option* option : from.get_options())
            for (const auto& name : option->get_lnames()) known.push_back("--" + name);
    };
    take_options(app);
    while (!at->get_subcommands().empty()) {
        at = at->get_subcommands().front();
        take_options(*at);
    }
    const std::string word = extra.substr(0, extra.find('='));
    if (extra.starts_with('-')) {
        const auto near = flags_near(word, known);
        return fail(Code::invalid, fmt::format("there is no flag {} here{}", word,
                                               near.empty() ? "; --help shows all"
                                                            : fmt::format("; did you mean '{}'?",
                                                                          fmt::join(near, "' or '"))));
    }
    known.clear();
    for (const CLI::App* one : at->get_subcommands([](const CLI::App*) { return true; }))
        known.push_back(one->get_name());
    if (known.empty()) return fail(Code::invalid, fmt::format("'{}' is one argument too many", extra));
    std::string_view meant = api::nearest(word, {known.begin(), known.end()});
    if (const auto verb = verb_meant(word); std::ranges::find(known, verb) != known.end()) meant = verb;
    return fail(Code::invalid, fmt::format("there is no command '{}' here; {}", extra,
                                           meant.empty() ? fmt::format("there are {}", fmt::join(known, ", "))
                                                         : fmt::format("did you mean '{}'?", meant)));
}

Command* CommandTree::chosen() const {
    for (const auto& command : commands)
        if (command->app->parsed()) return command.get();
    return nullptr;
}

}  // namespace hostler::cli
