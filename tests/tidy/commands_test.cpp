// The API's description is fresh and complete, and documents show only commands that exist.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <boost/json.hpp>

#include "adapters/net/net.h"
#include "api/openapi.h"
#include "api/operation_list.h"
#include "cli/commands.h"
#include "tests/tidy/tree.h"

namespace hostler::tidy {
namespace {

namespace json = boost::json;

// A shell's words, as far as documents need them: blanks and quotes. Ends at a comment, a pipe or a
// redirection.
std::vector<std::string> words_of(std::string_view line) {
    std::vector<std::string> words;
    std::string word;
    char quote = 0;
    bool any = false;
    for (const char c : line) {
        if (quote == 0 && (c == '#' || c == '|' || c == '>' || c == '&') && !any) break;
        if (quote != 0 && c == quote) {
            quote = 0;
        } else if (quote == 0 && (c == '\'' || c == '"')) {
            quote = c;
            any = true;
        } else if (quote == 0 && c == ' ') {
            if (any) words.push_back(std::exchange(word, {}));
            any = false;
        } else {
            word += c;
            any = true;
        }
    }
    if (any) words.push_back(word);
    return words;
}

// Lines of code blocks that call hostler, with their continued lines.
std::vector<std::pair<std::size_t, std::string>> calls_in(std::string_view text) {
    std::vector<std::pair<std::size_t, std::string>> calls;
    bool code = false;
    bool continued = false;
    std::size_t number = 0;
    for (std::string_view line : lines_of(text)) {
        ++number;
        if (line.starts_with("```")) code = !code;
        if (!code) continue;
        if (continued) {
            calls.back().second += line.substr(line.find_first_not_of(' '));
        } else if (line.starts_with("hostler ") || line.starts_with("build/release/hostler ")) {
            calls.emplace_back(number, std::string{line.substr(line.find(' ') + 1)});
        } else {
            continue;
        }
        continued = calls.back().second.ends_with('\\');
        if (continued) calls.back().second.pop_back();
    }
    return calls;
}

// Its last word is a command, and not a noun that waits for its verb.
bool is_whole(const CLI::App& parsed) {
    const CLI::App* last = &parsed;
    while (!last->get_subcommands().empty()) last = last->get_subcommands().front();
    return last->get_subcommands([](const CLI::App*) { return true; }).empty();
}

std::vector<std::string> unknown_commands(const File& file) {
    static constexpr std::string_view programs[] = {"up", "master",     "access", "gateway",
                                                    "ca", "completion", "login"};
    std::vector<std::string> wrong;
    Loop loop{1};
    const auto net = net::make_net(loop);
    const auto timers = net::make_timers(loop);
    const cli::CliWorld world{.loop = loop,
                              .net = *net,
                              .timers = *timers,
                              .env = [](const std::string&) { return std::nullopt; },
                              .out = [](std::string_view) {},
                              .err = [](std::string_view) {}};
    for (const auto& [number, call] : calls_in(file.text)) {
        auto words = words_of(call);
        if (words.empty() || std::ranges::find(programs, words.front()) != std::end(programs)) continue;
        cli::CommandTree commands{world};
        std::string help;
        if (const auto parsed = commands.parse(std::move(words), help); !parsed)
            wrong.push_back(fmt::format("{}:{}: 'hostler {}' is no command: {}", file.path, number, call,
                                        parsed.error().message));
        else if (help.empty() && !is_whole(commands.app))
            wrong.push_back(
                fmt::format("{}:{}: 'hostler {}' is not a whole command", file.path, number, call));
    }
    return wrong;
}

TEST(Api, DescriptionIsFresh) {
    EXPECT_TRUE(read("openapi.json") == api::openapi())
        << "openapi.json is stale: run ./dev gen and commit it";
}

std::vector<std::string> undescribed(const json::value& document) {
    std::vector<std::string> wrong;
    for (const auto& [path, methods] : document.at("paths").as_object())
        for (const auto& [method, operation] : methods.as_object()) {
            if (!operation.is_object() || method == "parameters") continue;
            const auto* summary = operation.as_object().if_contains("summary");
            if (!summary || !summary->is_string() || summary->as_string().size() < 8)
                wrong.push_back(
                    fmt::format("{} {} has no summary", std::string_view{method}, std::string_view{path}));
        }
    return wrong;
}

TEST(Api, EveryOperationSaysWhatItDoes) {
    const json::value document = json::parse(api::openapi());
    for (const std::string& one : undescribed(document)) ADD_FAILURE() << one;
    for (const api::Operation* operation : api::operations())
        EXPECT_TRUE(operation->help.ends_with('.')) << operation->name;
    EXPECT_EQ(undescribed(json::parse(R"({"paths": {"/x": {"get": {"operationId": "x"}}}})")).size(), 1U);
}

TEST(Api, DocumentsShowCommandsThatExist) {
    EXPECT_EQ(complaints(unknown_commands, [](const File& file) { return file.path.ends_with(".md"); }), "");
    EXPECT_EQ(unknown_commands(file_of("docs/x.md", "```\nhostler instance fly away\n```\n")).size(), 1U);
    EXPECT_EQ(unknown_commands(file_of("docs/x.md", "```\nhostler instance list --nonsense\n```\n")).size(),
              1U);
    EXPECT_EQ(
        unknown_commands(file_of("docs/x.md", "```\nhostler instance list   # all of them\n```\n")).size(),
        0U);
}

}  // namespace
}  // namespace hostler::tidy
