// What may not be written where.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/tidy/tree.h"

namespace hostler::tidy {
namespace {

// Time, dice, threads and exceptions belong to core and the adapters: everything above runs in the simulation
// too.
std::vector<std::string> worldly(const File& file) {
    static constexpr std::string_view words[] = {"std::thread",
                                                 "std::jthread",
                                                 "std::this_thread",
                                                 "std::mutex",
                                                 "std::shared_mutex",
                                                 "std::condition_variable",
                                                 "std::async",
                                                 "system_clock::now",
                                                 "steady_clock::now",
                                                 "high_resolution_clock",
                                                 "std::random_device",
                                                 "rand(",
                                                 "srand(",
                                                 "time(nullptr)",
                                                 "throw",
                                                 "steady_timer",
                                                 "asio::ip",
                                                 "co_spawn",
                                                 "detached",
                                                 "goto"};
    std::vector<std::string> found;
    const std::string& code = file.code;
    for (const std::string_view word : words)
        for (auto at = find_word(code, word); at != code.npos; at = find_word(code, word, at + 1))
            if (word != "co_spawn" ||
                !file.path.starts_with("src/bin/"))  // Somebody has to start the first task.
                found.push_back(fmt::format("{}:{}: '{}' belongs to core or an adapter", file.path,
                                            line_at(code, at), word));
    return found;
}

// An order that changes from run to run would make one seed give two stories.
std::vector<std::string> unordered(const File& file) {
    const std::string& code = file.code;
    if (const auto at = code.find("unordered_"); at != code.npos)
        return {fmt::format("{}:{}: domain and roles iterate in a fixed order; use std::map or std::set",
                            file.path, line_at(code, at))};
    return {};
}

// What the nearest switch above asks about.
std::string switch_before(std::string_view code, std::size_t at) {
    const auto head = code.rfind("switch", at);
    if (head == code.npos) return {};
    const auto open = code.find('(', head);
    int depth = 0;
    for (std::size_t i = open; i < code.size(); ++i) {
        if (code[i] == '(') ++depth;
        if (code[i] != ')' || --depth != 0) continue;
        const auto begin = code.find_first_not_of(" \n", open + 1);
        return std::string{code.substr(begin, i - begin)};
    }
    return {};
}

// Switches over numbers, characters and other people's enums need a default; one over ours hides the case
// that somebody adds later.
std::vector<std::string> defaults(const File& file) {
    static constexpr std::string_view foreign[] = {
        "status",
        "problem.status",
        "c",
        "const char c = text.front(); c",
        "name.size()",
        "action",
        "error",  // llhttp's.
        "frame.body_case()",
        "received->body_case()",  // protobuf's: a newer peer may say more.
    };
    std::vector<std::string> found;
    const std::string& code = file.code;
    for (auto at = find_word(code, "default:"); at != code.npos; at = find_word(code, "default:", at + 1)) {
        const std::string over = switch_before(code, at);
        if (std::ranges::find(foreign, over) == std::end(foreign))
            found.push_back(fmt::format(
                "{}:{}: 'default:' in a switch over '{}'; name every case, or list it here if it is not ours",
                file.path, line_at(code, at), over));
    }
    return found;
}

// Put together here, so that this file does not accuse itself.
std::vector<std::string> unfinished(const File& file) {
    static const std::string words[] = {std::string{"TO"} + "DO", std::string{"FIX"} + "ME",
                                        std::string{"HA"} + "CK"};
    std::vector<std::string> found;
    for (const std::string& word : words)
        if (const auto at = find_word(file.text, word); at != file.text.npos)
            found.push_back(fmt::format("{}:{}: '{}': do it, or write it down as an issue", file.path,
                                        line_at(file.text, at), word));
    return found;
}

// Nothing depends on where it was written.
std::vector<std::string> places(const File& file) {
    static const std::string words[] = {std::string{"/wo"} + "rk/", std::string{"../sha"} + "red",
                                        std::string{"/ho"} + "me/", std::string{"sha"} + "red/reference"};
    std::vector<std::string> found;
    for (const std::string& word : words)
        if (const auto at = file.text.find(word); at != file.text.npos)
            found.push_back(fmt::format("{}:{}: '{}' is a place on somebody's machine", file.path,
                                        line_at(file.text, at), word));
    return found;
}

std::vector<std::string> ragged(const File& file) {
    std::vector<std::string> found;
    int number = 0;
    for (std::string_view line : lines_of(file.text)) {
        ++number;
        if (line.ends_with(' ') || line.ends_with('\r') || (is_source(file) && line.contains('\t')))
            found.push_back(fmt::format("{}:{}: a blank at the end of a line, or a tab", file.path, number));
    }
    if (!file.text.empty() && !file.text.ends_with('\n'))
        found.push_back(fmt::format("{}: no line break at its end", file.path));
    return found;
}

// Above core and the adapters; the programs that link nothing of ours are on their own.
bool is_above(const File& file) {
    if (!file.path.starts_with("src/") || !is_source(file) || is_for_tests(file)) return false;
    return std::ranges::none_of(
        std::initializer_list<std::string_view>{"src/core/", "src/adapters/", "src/demo/", "src/iptables/",
                                                "src/simulated_nvml/"},
        [&](std::string_view folder) { return file.path.starts_with(folder); });
}

// What was switched off to see a test fail, and forgotten.
std::vector<std::string> switched_off(const File& file) {
    std::vector<std::string> found;
    const std::string& code = file.code;
    for (const std::string_view words : {"if (false)", "if (true)", "#if 0", "#if 1", "&& false", "|| true"})
        if (const auto at = find_word(code, words); at != code.npos)
            found.push_back(fmt::format("{}:{}: '{}': take it out, or put back what was there", file.path,
                                        line_at(code, at), words));
    return found;
}

bool everything(const File&) { return true; }

TEST(Words, TimeDiceAndThreadsComeInAsParameters) {
    EXPECT_EQ(complaints(worldly, is_above), "");
    const auto finds = [](std::string_view line) {
        return !worldly(file_of("src/domain/x.cpp", std::string{line} + "\n")).empty();
    };
    EXPECT_TRUE(finds("std::thread t;"));
    EXPECT_TRUE(finds("static std::mutex lock;"));
    EXPECT_TRUE(finds("auto now = std::chrono::system_clock::now();"));
    EXPECT_TRUE(finds("int x = rand();"));
    EXPECT_TRUE(finds("throw 1;"));
    EXPECT_FALSE(finds("int operand(int throws);  // rand() would throw"));
    EXPECT_FALSE(finds("fail(\"std::mutex, throw, 'rand()'\"); int n = 10'000;"));
}

TEST(Words, OrderIsTheSameInEveryRun) {
    EXPECT_EQ(
        complaints(unordered,
                   [](const File& file) {
                       return is_source(file) && !is_for_tests(file) &&
                              (file.path.starts_with("src/domain/") || file.path.starts_with("src/roles/"));
                   }),
        "");
    EXPECT_EQ(unordered(file_of("src/domain/x.h", "std::unordered_map<int, int> m;\n")).size(), 1U);
}

TEST(Words, ASwitchOverOurEnumsNamesEveryCase) {
    EXPECT_EQ(complaints(defaults, is_above), "");
    EXPECT_EQ(defaults(file_of("src/domain/x.cpp",
                               "switch (phase) {\n    case Phase::a: break;\n    default: break;\n}\n"))
                  .size(),
              1U);
    EXPECT_EQ(defaults(file_of("src/http/x.cpp", "switch (status) {\n    default: return \"\";\n}\n")).size(),
              0U);
}

TEST(Words, NothingIsLeftForLater) {
    EXPECT_EQ(complaints(unfinished, everything), "");
    EXPECT_EQ(unfinished(file_of("src/x.cpp", std::string{"// TO"} + "DO: finish\n")).size(), 1U);
}

TEST(Words, NothingIsSwitchedOff) {
    EXPECT_EQ(complaints(switched_off, is_source), "");
    EXPECT_EQ(switched_off(file_of("src/x.cpp", "if (false)\n    return;\n")).size(), 1U);
}

TEST(Words, NoPlaceOfSomebodysMachine) {
    EXPECT_EQ(complaints(places, everything), "");
    EXPECT_EQ(places(file_of("docs/x.md", std::string{"see /wo"} + "rk/main\n")).size(), 1U);
    EXPECT_EQ(places(file_of("docs/x.md", std::string{"see ../sha"} + "red/x\n")).size(), 1U);
}

TEST(Words, LinesEndCleanly) {
    EXPECT_EQ(complaints(ragged, everything), "");
    EXPECT_EQ(ragged(file_of("src/x.h", "int a; \n")).size(), 1U);
    EXPECT_EQ(ragged(file_of("src/x.h", "int a;")).size(), 1U);
}

}  // namespace
}  // namespace hostler::tidy
