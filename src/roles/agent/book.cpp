#include "roles/agent/book.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "core/log.h"
#include "proto/uplink.pb.h"
#include "roles/agent/messages.h"

namespace hostler::agent {

namespace {

constexpr std::int64_t second = 1'000'000;
constexpr std::int64_t margin = 3600 * second;  // For clocks that differ.
// A command that never expires is remembered so long.
constexpr std::int64_t no_expiry = 7 * 24 * 3600 * second;

// "<state> <order> <forget>\n<message>"
struct Line {
    char state = 0;
    std::uint64_t order = 0;
    std::int64_t forget = 0;
    std::string_view body;
};

std::optional<Line> parse(std::string_view text) {
    Line line;
    const auto end = text.find('\n');
    if (end == std::string_view::npos || end < 3) return std::nullopt;
    line.state = text[0];
    const char* const last = text.data() + end;
    auto [after, wrong] = std::from_chars(text.data() + 2, last, line.order);
    if (wrong != std::errc{} || after == last) return std::nullopt;
    if (std::from_chars(after + 1, last, line.forget).ec != std::errc{}) return std::nullopt;
    line.body = text.substr(end + 1);
    return line;
}

std::uint64_t number(std::string_view text) {
    std::uint64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

// What is kept of a command: has_secrets then says that they are lost.
void forget_secrets(uplink::Command& command) {
    if (!command.has_start_workload()) return;
    command.mutable_start_workload()->clear_secrets();
    command.mutable_start_workload()->clear_login();
}

}  // namespace

uplink::CommandUpdate failed(std::string id, const Error& error) {
    uplink::CommandUpdate update;
    update.set_id(std::move(id));
    update.set_state("failed");
    update.set_code(std::string{name(error.code)});
    update.set_reason(error.reason.empty() ? std::string{name(error.code)} : error.reason);
    update.set_message(clean_text(error.message, CommandBook::message_max));
    return update;
}

struct CommandBook::Record {
    State state = State::begun;
    std::uint64_t order = 0;
    std::int64_t forget = 0;       // Not before this time, microseconds since 1970.
    uplink::Command command;       // While begun.
    uplink::CommandUpdate answer;  // Else; while begun, how far it is.
};

bool CommandBook::is_known(State state) {
    return state == State::begun || state == State::done || state == State::acknowledged;
}

CommandBook::CommandBook(Journal& journal, Timers& timers, Sealer* sealer)
    : journal_(journal), timers_(timers), sealer_(sealer) {}

CommandBook::~CommandBook() = default;

void CommandBook::load() {
    for (const auto& [key, value] : journal_.all()) {
        if (key == "epoch") epoch_ = number(value);
        if (key.starts_with("generation/")) {
            const auto space = value.find(' ');
            auto& obeyed = obeyed_[key.substr(std::string_view{"generation/"}.size())];
            obeyed.generation = number(std::string_view{value}.substr(0, space));
            if (space != std::string::npos)
                obeyed.forget = static_cast<std::int64_t>(number(std::string_view{value}.substr(space + 1)));
        }
        if (!key.starts_with("command/")) continue;
        const auto line = parse(value);
        Record record;
        bool whole = line.has_value();
        if (whole) {
            record.state = line->state == sealed        ? State::begun
                           : line->state == sealed_done ? State::done
                                                        : static_cast<State>(line->state);
            record.order = line->order;
            record.forget = line->forget;
            // A newer agent was further with it than this one understands: it is not begun again.
            if (!is_known(record.state)) {
                log_warn("the journal's {} is of a newer agent; it is left alone until it is forgotten", key);
                record.answer = failed(key.substr(std::string_view{"command/"}.size()),
                                       {.code = Code::conflict,
                                        .message = "a newer agent has had this command",
                                        .reason = "newer_agent"});
                record.state = State::acknowledged;
                order_ = std::max(order_, record.order);
                records_[key.substr(std::string_view{"command/"}.size())] =
                    std::make_unique<Record>(std::move(record));
                continue;
            }
            whole = read(key, line->state, line->body, record);
        }
        if (!whole) {
            log_error("the journal's {} cannot be read; it is left alone", key);
            continue;
        }
        order_ = std::max(order_, record.order);
        records_[key.substr(std::string_view{"command/"}.size())] =
            std::make_unique<Record>(std::move(record));
    }
}

// "<key's id>:<sealed>" where it is sealed.
bool CommandBook::read(const std::string& key, char state, std::string_view body, Record& into) const {
    const auto parse = [&into](const std::string& text) {
        return into.state == State::begun ? into.command.ParseFromString(text)
                                          : into.answer.ParseFromString(text);
    };
    if (state != sealed && state != sealed_done) return parse(std::string{body});
    const auto colon = body.find(':');
    if (!sealer_ || colon == std::string_view::npos) return false;
    const auto plain = sealer_->open(body.substr(0, colon), key, body.substr(colon + 1));
    return plain && parse(*plain);
}

Task<> CommandBook::seal() {
    if (!sealer_) co_return Result<>{};
    std::vector<Journal::Entry> entries;
    for (const auto& [id, record] : records_)
        if (record->state == State::begun) entries.push_back(CO_TRY(entry(id)));
    if (!entries.empty()) CO_TRY(co_await journal_.put_all(std::move(entries)));
    co_return co_await journal_.forget_past();
}

Task<> CommandBook::raise_epoch(std::uint64_t epoch) {
    if (epoch <= epoch_) co_return Result<>{};
    CO_TRY(co_await journal_.put("epoch", fmt::format("{}", epoch)));
    epoch_ = std::max(epoch_, epoch);
    co_return Result<>{};
}

Task<CommandBook::Admission> CommandBook::admit(uplink::Command command) {
    const std::string id = command.id();
    const auto refused = [&](Code code, std::string reason, std::string message) {
        return Admission{
            false, std::make_shared<uplink::CommandUpdate>(failed(
                       id, Error{.code = code, .message = std::move(message), .reason = std::move(reason)}))};
    };
    if (id.empty() || id.size() > 128 || command.subject().empty() || command.subject().size() > 128)
        co_return refused(Code::invalid, "malformed",
                          "a command needs an id and a subject of 1 to 128 bytes");
    if (const auto known = records_.find(id); known != records_.end())
        co_return Admission{false, std::make_shared<uplink::CommandUpdate>(known->second->answer)};
    if (command.epoch() < epoch_)
        co_return refused(
            Code::conflict, "stale_epoch",
            fmt::format("command {} is of epoch {}; this host obeys epoch {}", id, command.epoch(), epoch_));
    if (command.generation() < generation(command.subject()))
        co_return refused(
            Code::conflict, "stale_generation",
            fmt::format("command {} is for generation {} of {}; this host has obeyed generation {}", id,
                        command.generation(), command.subject(), generation(command.subject())));
    if (command.expires() != 0 && command.expires() < now())
        co_return refused(Code::timeout, "expired", fmt::format("command {} came after its expiry", id));
    if (open() >= open_max)
        co_return refused(Code::exhausted, "too_many_commands",
                          fmt::format("{} commands are open on this host, which is the limit", open_max));

    Record record;
    record.order = ++order_;
    record.forget = (command.expires() != 0 ? command.expires() + margin : now() + no_expiry);
    record.answer.set_id(id);
    record.answer.set_state("running");
    Obeyed obeyed{command.generation(), record.forget + margin};
    const std::string subject = command.subject();
    const std::uint64_t epoch = command.epoch();
    record.command = std::move(command);
    forget_secrets(record.command);
    // In memory before anything is awaited, so that copies which come meanwhile find it.
    records_[id] = std::make_unique<Record>(std::move(record));
    auto& held = obeyed_[subject];
    const Obeyed before = held;
    held = {std::max(held.generation, obeyed.generation), std::max(held.forget, obeyed.forget)};

    std::vector<Journal::Entry> entries;
    if (epoch > epoch_) entries.push_back({"epoch", fmt::format("{}", epoch)});
    if (held != before)
        entries.push_back({"generation/" + subject, fmt::format("{} {}", held.generation, held.forget)});
    Result<> durable{};
    if (auto own = entry(id)) {
        entries.push_back(std::move(*own));
        durable = co_await journal_.put_all(std::move(entries));
    } else {
        durable = std::unexpected(std::move(own).error());
    }
    if (durable) epoch_ = std::max(epoch_, epoch);
    if (!durable) {
        // Nothing was begun, so that a copy may well be tried anew.
        records_.erase(id);
        if (durable.error().code == Code::cancelled) co_return std::unexpected(durable.error());
        co_return refused(durable.error().code, "journal_failed",
                          fmt::format("command {} was not begun, because this host cannot remember it: {}",
                                      id, durable.error().message));
    }
    co_return Admission{true, nullptr};
}

void CommandBook::progress(const uplink::CommandUpdate& update) {
    const auto found = records_.find(update.id());
    if (found != records_.end() && found->second->state == State::begun) found->second->answer = update;
}

Task<> CommandBook::finish(uplink::CommandUpdate answer, std::vector<Journal::Entry> with) {
    const std::string id = answer.id();
    auto done = std::make_unique<Record>(*records_.at(id));
    done->state = State::done;
    done->answer = std::move(answer);
    done->command.Clear();
    std::swap(records_.at(id), done);
    with.push_back(CO_TRY(entry(id)));
    if (auto written = co_await journal_.put_all(std::move(with)); !written) {
        std::swap(records_.at(id), done);
        co_return std::unexpected(written.error());
    }
    co_return Result<>{};
}

Task<> CommandBook::acknowledge(std::string id) {
    const auto found = records_.find(id);
    if (found == records_.end() || found->second->state != State::done) co_return Result<>{};
    found->second->state = State::acknowledged;
    found->second->answer.clear_outputs();
    std::vector<Journal::Entry> entries;
    entries.push_back(CO_TRY(entry(id)));
    co_return co_await journal_.put_all(std::move(entries));
}

std::vector<uplink::Command> CommandBook::unfinished() const {
    std::map<std::uint64_t, const Record*> ordered;
    for (const auto& [id, record] : records_)
        if (record->state == State::begun) ordered[record->order] = record.get();
    std::vector<uplink::Command> commands;
    commands.reserve(ordered.size());
    for (const auto& [order, record] : ordered) commands.push_back(record->command);
    return commands;
}

std::vector<uplink::CommandUpdate> CommandBook::unacknowledged() const {
    std::map<std::uint64_t, const Record*> ordered;
    for (const auto& [id, record] : records_)
        if (record->state == State::done) ordered[record->order] = record.get();
    std::vector<uplink::CommandUpdate> answers;
    answers.reserve(ordered.size());
    for (const auto& [order, record] : ordered) answers.push_back(record->answer);
    return answers;
}

Task<> CommandBook::sweep() {
    std::vector<std::string> keys;
    const std::int64_t at = now();
    for (const auto& [id, record] : records_)
        if (record->state == State::acknowledged && record->forget < at) keys.push_back("command/" + id);
    for (const auto& [subject, obeyed] : obeyed_)
        if (obeyed.forget < at) keys.push_back("generation/" + subject);
    for (const auto& key : keys) {
        CO_TRY(co_await journal_.erase(key));
        const std::string name = key.substr(key.find('/') + 1);
        if (key.starts_with("command/")) {
            records_.erase(name);
        } else if (const auto found = obeyed_.find(name); found != obeyed_.end()) {
            // Obeyed again while the erasure was under way: write it back.
            if (found->second.forget < at)
                obeyed_.erase(found);
            else
                CO_TRY(co_await journal_.put(
                    key, fmt::format("{} {}", found->second.generation, found->second.forget)));
        }
    }
    co_return Result<>{};
}

std::uint64_t CommandBook::generation(const std::string& subject) const {
    const auto found = obeyed_.find(subject);
    return found == obeyed_.end() ? 0 : found->second.generation;
}

Result<std::string> CommandBook::seal(const std::string& key, const std::string& text) const {
    const auto keys = sealer_->keys();
    if (keys.empty()) return fail(Code::unavailable, "this host has no key to seal commands with");
    return keys.back() + ":" + TRY(sealer_->seal(keys.back(), key, text));
}

// Only what has begun is sealed, and answers with outputs, so that only those can fail.
Result<Journal::Entry> CommandBook::entry(const std::string& id) const {
    const Record& record = *records_.at(id);
    const std::string key = "command/" + id;
    const bool begun = record.state == State::begun;
    const bool hidden = sealer_ && (begun || !record.answer.outputs().empty());
    const char state = !hidden ? static_cast<char>(record.state) : begun ? sealed : sealed_done;
    std::string value = fmt::format("{} {} {}\n", state, record.order, record.forget);
    const std::string text = begun ? record.command.SerializeAsString() : record.answer.SerializeAsString();
    value += hidden ? TRY(seal(key, text)) : text;
    return Journal::Entry{key, std::move(value)};
}

std::size_t CommandBook::open() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        records_, [](const auto& entry) { return entry.second->state != State::acknowledged; }));
}

}  // namespace hostler::agent
