#include "cli/typed.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "api/operation_list.h"
#include "api/schema.h"

namespace hostler::cli {

namespace {

constexpr auto short_forms = std::to_array<Short>({
    {"logs", "instance", "logs"},
    {"explain", "instance", "explain"},
    {"events", "event", "list"},
    {"offers", "offer", "list"},
    {"ps", "instance", "list"},
});

struct Pair {
    std::string_view typed;
    std::string_view meant;
};

// Nouns of other programs for ours.
constexpr auto other_nouns = std::to_array<Pair>({
    {"pod", "instance"},
    {"container", "instance"},
    {"vm", "instance"},
    {"server", "instance"},
    {"node", "host"},
    {"machine", "host"},
    {"disk", "volume"},
    {"storage", "volume"},
    {"flavor", "spec"},
    {"shape", "spec"},
    {"region", "zone"},
    {"site", "zone"},
    {"token", "host token"},
});

constexpr auto other_verbs = std::to_array<Pair>({
    {"rm", "delete"},    {"remove", "delete"},    {"del", "delete"}, {"destroy", "delete"},
    {"kill", "delete"},  {"terminate", "delete"}, {"ls", "list"},    {"show", "get"},
    {"describe", "get"}, {"inspect", "get"},      {"info", "get"},   {"status", "get"},
    {"run", "create"},   {"launch", "create"},    {"new", "create"}, {"add", "create"},
    {"edit", "update"},  {"modify", "update"},    {"log", "logs"},
});

// Words with an answer of their own.
constexpr auto answers = std::to_array<Pair>({
    {"config", "`hostler login --api URL` keeps the address and a key; HOSTLER_CONFIG names another file"},
    {"init", "a cloud on this machine is started by: hostler up"},
    {"build", "images are built from templates: hostler template list"},
    {"pull", "a host pulls the image when an instance starts: hostler instance create NAME --image IMAGE"},
});

std::string_view meant_by(std::span<const Pair> pairs, std::string_view typed) {
    const auto found = std::ranges::find(pairs, typed, &Pair::typed);
    return found == pairs.end() ? std::string_view{} : found->meant;
}

const CLI::App* child(const CLI::App& parent, std::string_view name) {
    for (const CLI::App* one : parent.get_subcommands([](const CLI::App*) { return true; }))
        if (one->check_name(std::string{name})) return one;
    return nullptr;
}

// The subcommand that a noun names, in the singular or the plural.
const CLI::App* noun_of(const CLI::App& parent, std::string_view word) {
    if (const CLI::App* same = child(parent, word)) return same;
    if (word.ends_with("ies")) return child(parent, std::string{word.substr(0, word.size() - 3)} + "y");
    return word.ends_with('s') ? child(parent, word.substr(0, word.size() - 1)) : nullptr;
}

bool is_verb(std::string_view word) {
    return std::ranges::any_of(api::operations(),
                               [&](const api::Operation* one) { return one->verb == word; });
}

// `get instance X`, `list hosts`, `create host token`: the verb goes behind its noun. `get instances` lists.
bool swap_verb(std::vector<std::string>& args, std::size_t at, const CLI::App& app) {
    if (at + 1 >= args.size() || child(app, args[at]) || !is_verb(args[at])) return false;
    const CLI::App* noun = noun_of(app, args[at + 1]);
    if (!noun) return false;
    std::vector<std::string> words{noun->get_name()};
    bool plural = args[at + 1] != noun->get_name();
    std::size_t behind = at + 2;
    if (behind < args.size())
        if (const CLI::App* inner = noun_of(*noun, args[behind]); inner && child(*inner, args[at])) {
            plural = args[behind] != inner->get_name();
            noun = inner;
            words.push_back(inner->get_name());
            ++behind;
        }
    std::string verb = args[at];
    const bool named = behind < args.size() && !args[behind].starts_with('-');
    if (verb == "get" && plural && !named) verb = "list";
    if (!child(*noun, verb)) return false;
    words.push_back(std::move(verb));
    args.erase(args.begin() + static_cast<std::ptrdiff_t>(at),
               args.begin() + static_cast<std::ptrdiff_t>(behind));
    args.insert(args.begin() + static_cast<std::ptrdiff_t>(at), words.begin(), words.end());
    return true;
}

}  // namespace

std::size_t first_word(const std::vector<std::string>& args, const CLI::App& app) {
    std::size_t at = 0;
    while (at < args.size() && args[at].size() > 1 && args[at].starts_with('-') && args[at] != "--") {
        const std::string& flag = args[at++];
        const auto takes_next = [&app](const std::string& name) {
            const CLI::Option* option = app.get_option_no_throw(name);
            return option && option->get_items_expected_min() > 0;
        };
        if (flag.starts_with("--")) {
            if (takes_next(flag)) ++at;  // "--key=K" is the name of no option.
            continue;
        }
        // "-ojson", "-yo json": the value of one letter is the rest or the next word.
        for (std::size_t i = 1; i < flag.size(); ++i)
            if (takes_next({'-', flag[i]})) {
                if (i + 1 == flag.size()) ++at;
                break;
            }
    }
    return std::min(at, args.size());
}

std::span<const Short> shorts() { return short_forms; }

std::string_view verb_meant(std::string_view typed) { return meant_by(other_verbs, typed); }

void expand(std::vector<std::string>& args, const CLI::App& app) {
    const std::size_t at = first_word(args, app);
    if (at == args.size()) return;
    std::string& word = args[at];
    if (word == "version") word = "--version";
    if (word == "help") {
        args.erase(args.begin() + static_cast<std::ptrdiff_t>(at));
        args.emplace_back("--help");
        return expand(args, app);
    }
    for (const Short& one : short_forms)
        if (word == one.typed) {
            // `hostler events list` has its verb.
            const bool whole = at + 1 < args.size() && args[at + 1] == one.verb;
            word = whole ? one.noun : one.verb;
            if (!whole) args.insert(args.begin() + static_cast<std::ptrdiff_t>(at), std::string(one.noun));
            return;
        }
    if (child(app, word) || swap_verb(args, at, app)) return;
    if (const CLI::App* noun = noun_of(app, word)) word = noun->get_name();
}

Result<> check_first_word(const std::vector<std::string>& args, const CLI::App& app,
                          const std::vector<std::string>& others) {
    const std::size_t at = first_word(args, app);
    if (at == args.size() || args[at].starts_with('-') || child(app, args[at])) return {};
    const std::string& word = args[at];
    if (std::ranges::find(others, word) != others.end())
        return fail(Code::invalid, fmt::format("'{0}' is a separate program: hostler {0} comes first, and "
                                               "its flags behind it; `hostler {0} --help` tells more",
                                               word));
    const auto refuse = [&](std::string_view what) {
        return fail(Code::invalid, fmt::format("there is no command '{}'; {}", word, what));
    };
    if (const auto words = meant_by(answers, word); !words.empty()) return refuse(words);
    const std::string_view verb = is_verb(word) ? std::string_view{word} : verb_meant(word);
    const std::string next =
        at + 1 < args.size() && !args[at + 1].starts_with('-') ? args[at + 1] : std::string{};
    if (!verb.empty()) {
        const CLI::App* noun = next.empty() ? nullptr : noun_of(app, next);
        if (noun && child(*noun, verb))
            return refuse(fmt::format("did you mean: hostler {} {}", noun->get_name(), verb));
        std::vector<std::string> whole;
        bool of_instances = false;
        for (const api::Operation* one : api::operations()) {
            if (one->verb != verb) continue;
            whole.push_back(fmt::format("hostler {} {}", one->noun, verb));
            of_instances = of_instances || one->noun == "instance";
        }
        if (of_instances)
            return refuse(fmt::format("the noun comes first, as in: hostler instance {}{}", verb,
                                      verb == "list" ? ""
                                      : next.empty() ? " NAME"
                                                     : " " + next));
        return refuse(fmt::format("the noun comes first, as in: {}", fmt::join(whole, ", ")));
    }
    std::string_view singular = word;
    if (singular.ends_with('s')) singular.remove_suffix(1);
    if (const auto noun = meant_by(other_nouns, singular); !noun.empty())
        return refuse(fmt::format("here it is '{0}': hostler {0} list", noun));
    std::vector<std::string> known = others;
    for (const CLI::App* one : app.get_subcommands([](const CLI::App*) { return true; }))
        known.push_back(one->get_name());
    for (const Short& one : short_forms) known.emplace_back(one.typed);
    if (const auto near = api::nearest(word, {known.begin(), known.end()}); !near.empty())
        return refuse(fmt::format("did you mean '{}'?", near));
    return refuse("`hostler --help` shows all");
}

}  // namespace hostler::cli
