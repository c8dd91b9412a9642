#include "cli/run_job.h"

#include <fmt/format.h>

#include <csignal>

#include "api/codec.h"
#include "api/operations_job.h"
#include "api/operations_spec.h"
#include "cli/choose_spec.h"
#include "cli/documents.h"
#include "cli/follow_job.h"
#include "cli/render.h"
#include "cli/request.h"
#include "cli/script_job.h"
#include "cli/values.h"
#include "core/safe_text.h"
#include "core/signal.h"
#include "core/task_group.h"

namespace hostler::cli {

namespace {

constexpr int signalled = 128;
constexpr std::size_t specs_max = 100'000;

// ---- what is submitted

// "/usr/bin/Python3" → "python3-qzkw"
std::string default_name(const std::string& word, const CliWorld& world) {
    constexpr std::size_t name_max = 40;
    std::string name;
    for (char c : word.substr(word.rfind('/') + 1)) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
        const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        if (plain)
            name += c;
        else if (!name.empty() && name.back() != '-')
            name += '-';
        if (name.size() == name_max) break;
    }
    while (name.ends_with('-')) name.pop_back();
    if (name.empty()) name = "job";
    name += '-';
    constexpr std::uint32_t letters = 26;
    for (int i = 0; i < 4; ++i) name += static_cast<char>('a' + world.dice() % letters);
    return name;
}

// The flag of a field that the request's check complains of: "envs[0].name" is of --env.
std::string flag_of(const RunCommand& command, std::string_view path) {
    const std::string_view field = path.substr(0, path.find_first_of(".["));
    if (field == "cmd") return "COMMAND";
    for (const RunCommand::Given& one : command.given)
        if (one.property == field) return one.flag;
    return std::string{path};
}

Result<json::value> value_of(const RunCommand::Given& given, const CliWorld& world) {
    const api::Property* property = api::ops::submit_job.request().find(given.property);
    HOSTLER_ASSERT(property);
    if (property->schema->kind == api::Kind::list) {
        json::array list;
        for (const std::string& one : given.values)
            list.push_back(TRY(to_value(*property->schema->element, nullptr, one, world)));
        return list;
    }
    if (given.values.size() != 1) return fail(Code::invalid, "is given more than once");
    return to_value(*property->schema, property->field, given.values.front(), world);
}

// Flags win over what `shape` has, of a script.
void take_shape(const RunCommand& command, bool named, std::vector<FieldError>& wrong, Shape& shape) {
    if (!command.gpu_type.empty()) shape.gpu_type = command.gpu_type;
    const std::pair<const char*, const std::string*> flags[] = {{"--gpus", &command.gpus},
                                                                {"--gpu-type", &command.gpu_type},
                                                                {"--cpu", &command.cpu},
                                                                {"--memory", &command.memory}};
    for (const auto& [flag, text] : flags)
        if (named && !text->empty()) wrong.push_back({flag, "a spec has its own: give this or --spec"});
    if (!command.gpus.empty()) {
        const auto number = whole_number(command.gpus);
        if (number && number->as_int64() >= 0)
            shape.gpus = number->as_int64();
        else
            wrong.push_back({"--gpus", number ? "must be 0 or more" : number.error().message});
    }
    const auto quantity = [&](const char* flag, const std::string& text, std::optional<Quantity>& into) {
        if (text.empty()) return;
        const auto parsed = parse_quantity(text);
        if (parsed && parsed->milli > 0)
            into = *parsed;
        else
            wrong.push_back({flag, parsed ? "must be more than 0" : parsed.error().message});
    };
    quantity("--cpu", command.cpu, shape.cpu);
    quantity("--memory", command.memory, shape.memory);
}

struct Wish {
    json::object job;  // Without a spec when `shape` is to choose one.
    Shape shape;
    std::vector<std::string> notes;
    OutputWanted output;  // Of a script.
};

// Of a script, beside those that were given: these win.
void take_script(ScriptJob script, const CliWorld& world, Wish& wish) {
    wish.shape = std::move(script.shape);
    for (const auto& field : script.job)
        if (!wish.job.contains(field.key())) wish.job[field.key()] = field.value();
    if (!wish.job.contains("name")) wish.job["name"] = default_name(script.name, world);
    json::array& envs = wish.job["envs"].get_array();
    for (const json::value& one : script.job["envs"].get_array())
        if (std::ranges::none_of(envs, [&](const json::value& given) {
                return text_of(given, "name") == text_of(one, "name");
            }))
            envs.push_back(one);
}

void take_command(const RunCommand& command, const CliWorld& world, std::vector<FieldError>& wrong,
                  Wish& wish) {
    if (command.words.empty()) {
        wrong.push_back(
            {"COMMAND", "is required, behind --, as: hostler run --image IMAGE -- python train.py"});
        return;
    }
    wish.job["cmd"] = quoted(command.words);
    if (!wish.job.contains("name")) wish.job["name"] = default_name(command.words.front(), world);
}

// All that can be known without the API. Errors: invalid, with every wrong flag.
Result<Wish> wish_of(const RunCommand& command, const CliWorld& world) {
    std::vector<FieldError> wrong;
    Wish wish;
    for (const RunCommand::Given& one : command.given) {
        if (one.values.empty()) continue;
        auto value = value_of(one, world);
        if (value)
            wish.job[one.property] = std::move(*value);
        else
            wrong.push_back({one.flag, value.error().message});
    }
    if (command.gang) wish.job["gang"] = true;
    if (command.program) wish.job["program"] = true;
    const bool named = wish.job.contains("specName");
    if (command.script.empty()) {
        take_command(command, world, wrong, wish);
    } else {
        const std::string text = TRY(read_text(command.script, world));
        ScriptJob script = TRY(job_of_script(text, command.script, command.words, world));
        wish.notes = script.notes;
        wish.output = script.output;
        if (command.detach && wish.output.any())
            wish.notes.push_back(
                fmt::format("{}: --output, --error: with --detach no file is written; the output "
                            "is kept as the job's logs",
                            command.script));
        take_script(std::move(script), world, wish);
    }
    take_shape(command, named, wrong, wish.shape);
    if (!command.program && !wish.job.contains("image") &&
        std::ranges::find(wrong, "--image", &FieldError::path) == wrong.end())
        wrong.push_back({"--image", "is required: the container image to run, or --program"});
    json::object checked = wish.job;
    if (!named) checked["specName"] = "chosen";
    if (const auto right = api::ops::submit_job.check(checked); !right)
        for (const FieldError& field : right.error().fields) {
            const std::string flag = flag_of(command, field.path);
            if (std::ranges::find(wrong, flag, &FieldError::path) == wrong.end())
                wrong.push_back({flag, field.message});
        }
    if (wrong.empty()) return wish;
    Error error{.code = Code::invalid, .message = "the command is not complete, or wrong"};
    error.fields = std::move(wrong);
    return std::unexpected(std::move(error));
}

Task<std::vector<api::Spec>> all_specs(ApiClient& client) {
    std::vector<api::Spec> specs;
    std::string cursor;
    do {
        ApiCall call{.operation = &api::ops::list_specs, .query = {{"limit", "1000"}}};
        if (!cursor.empty()) call.query.emplace_back("cursor", cursor);
        const json::value answer = CO_TRY(co_await client.call(std::move(call)));
        auto page = CO_TRY(api::decode_stored<api::List<api::Spec>>(json::serialize(answer)));
        std::ranges::move(page.items, std::back_inserter(specs));
        cursor = text_of(answer, "nextCursor");
    } while (!cursor.empty() && specs.size() < specs_max);
    co_return specs;
}

// ---- following it

struct Following {
    Signal changed;
    std::optional<Result<api::Job>> done{};
    int left_by = 0;       // The signal after which the job is left alone.
    int cancelled_by = 0;  // The signal that cancelled it.
};

Task<> follow(CliWorld& world, ApiClient& client, JobFollowed what, Following& into) {
    auto done = co_await follow_job(world, client, std::move(what));
    into.done.emplace(std::move(done));
    into.changed.notify_all();
    co_return Result<>{};
}

// Whether it is cancelled now.
Task<bool> cancel(CliWorld& world, ApiClient& client, std::string id) {
    ApiCall call{.operation = &api::ops::cancel_job, .params = {{"job", std::move(id)}}};
    const auto done = co_await client.call(std::move(call));
    if (!done && done.error().code == Code::cancelled) co_return std::unexpected(done.error());
    if (!done) world.err(fmt::format("it is not cancelled: {}\n", safe_line(done.error().message)));
    co_return done.has_value();
}

// The first Ctrl-C on a terminal asks; without one it cancels. The second leaves the job alone, as do signals
// that say that the terminal is gone.
Task<> hear_signals(CliWorld& world, ApiClient& client, std::string id, Following& following) {
    bool heard = false;
    while (true) {
        const int number = CO_TRY(co_await world.next_signal());
        if (number == SIGWINCH) continue;
        const bool first = !std::exchange(heard, true);
        bool cancels = !world.ask && (number == SIGINT || number == SIGTERM);
        if (first && world.ask && number == SIGINT) {
            const auto answer = world.ask("\ncancel the job? [y/N] ", false);
            cancels = answer && (*answer == "y" || *answer == "Y" || *answer == "yes");
            if (answer && !cancels) continue;
        }
        if (first && cancels && CO_TRY(co_await cancel(world, client, id))) {
            following.cancelled_by = number;
            continue;
        }
        following.left_by = number;
        following.changed.notify_all();
        co_return Result<>{};
    }
}

std::string how_to_follow(const api::Job& job) {
    return fmt::format("hostler job logs {} --follow", job.name);
}

Task<int> follow_to_its_end(CliWorld& world, ApiClient& client, api::Job job, OutputWanted output,
                            bool terminal) {
    const bool several = job.tasks > 1 || job.array;
    Following following;
    TaskGroup tasks{world.loop};
    tasks.start("follow",
                follow(world, client,
                       {.job = job.id,
                        .tenant = job.tenant_id,
                        .prefix = several,
                        .files = output.any() ? std::make_shared<OutputFiles>(std::move(output)) : nullptr,
                        .terminal = terminal},
                       following));
    if (world.next_signal) tasks.start("signals", hear_signals(world, client, job.id, following));
    const auto waited = co_await following.changed.wait();
    auto done = following.done;
    (void)co_await tasks.close();
    if (!waited) co_return std::unexpected(waited.error());
    if (!done) {
        world.err(fmt::format("job/{} continues; follow it by: {}\n", job.name, how_to_follow(job)));
        co_return signalled + following.left_by;
    }
    if (!*done) {
        Error error = done->error();
        if (error.help.empty()) error.help = fmt::format("the job continues: {}", how_to_follow(job));
        co_return std::unexpected(std::move(error));
    }
    const api::Job& ended = **done;
    if (ended.state != api::JobState::succeeded) world.err(end_of(ended) + "\n");
    if (following.cancelled_by != 0 && ended.state == api::JobState::cancelled)
        co_return signalled + following.cancelled_by;
    co_return exit_of(ended);
}

}  // namespace

Task<int> run_job(CliWorld& world, ApiClient& client, const RunCommand& command, const Style& style) {
    if (!world.dice) co_return fail(Code::internal, "this program has no random numbers");
    if (style.format != Format::table && !command.detach)
        co_return fail(Code::invalid, "-o is for --detach: without it the program's output is printed");
    Wish wish = CO_TRY(wish_of(command, world));
    for (const std::string& note : wish.notes) world.err(safe_line(note) + "\n");
    if (!wish.job.contains("specName")) {
        const std::vector<api::Spec> specs = CO_TRY(co_await all_specs(client));
        wish.job["specName"] = CO_TRY(choose_spec(specs, wish.shape));
    }
    const json::value answer =
        CO_TRY(co_await client.call(place_fields(api::ops::submit_job, std::move(wish.job))));
    api::Job job = CO_TRY(api::decode_stored<api::Job>(json::serialize(answer)));
    if (command.detach) {
        world.out(style.format == Format::table || style.format == Format::name
                      ? safe_line(job.name) + "\n"
                      : render_object(api::ops::get_job, answer, style));
        world.err(
            fmt::format("job/{} submitted; follow it by: {}\n", safe_line(job.name), how_to_follow(job)));
        co_return static_cast<int>(Exit::ok);
    }
    world.err(fmt::format("job/{} submitted\n", safe_line(job.name)));
    co_return co_await follow_to_its_end(world, client, std::move(job), std::move(wish.output),
                                         style.terminal);
}

}  // namespace hostler::cli
