// What releases have said on the wire keeps its meaning: an agent of an older one is on some host still.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>

#include "tests/tidy/tree.h"

namespace hostler::tidy {
namespace {

// Of each message its fields: number → "type name", or "reserved".
using Messages = std::map<std::string, std::map<int, std::string>>;

std::vector<int> numbers_of(const std::string& list) {  // "5, 7"
    std::vector<int> numbers;
    std::istringstream text{list};
    for (std::string number; std::getline(text, number, ',');) numbers.push_back(std::stoi(number));
    return numbers;
}

Messages messages_of(const std::string& proto) {
    static const std::regex word{
        R"(//[^\n]*|message\s+(\w+)\s*\{|oneof\s+\w+\s*\{|\}|reserved\s+([0-9, ]+);|)"
        R"((repeated\s+)?([\w.]+)\s+(\w+)\s*=\s*(\d+)\s*;)"};
    Messages all;
    std::vector<std::string> open;  // Messages and oneofs that have begun.
    for (std::sregex_iterator at{proto.begin(), proto.end(), word}, end; at != end; ++at) {
        const std::smatch& found = *at;
        const std::string text = found.str();
        if (text.starts_with("//")) continue;
        if (found[1].matched)
            open.push_back(found[1]), all[open.back()];
        else if (text.starts_with("oneof"))
            open.push_back(open.back());
        else if (text == "}")
            open.pop_back();
        else if (found[2].matched)
            for (const int number : numbers_of(found[2])) all[open.back()][number] = "reserved";
        else if (found[6].matched && !open.empty())
            all[open.back()][std::stoi(found[6])] =
                fmt::format("{}{} {}", found[3].matched ? "repeated " : "", found[4].str(), found[5].str());
    }
    return all;
}

// "Message number type name", one line each.
std::string written(const Messages& messages) {
    std::string text;
    for (const auto& [message, fields] : messages)
        for (const auto& [number, field] : fields) text += fmt::format("{} {} {}\n", message, number, field);
    return text;
}

// What of `then` has another meaning in `now`.
std::vector<std::string> broken(const std::string& then, const Messages& now) {
    std::vector<std::string> complaints;
    for (const std::string_view line : lines_of(then)) {
        if (line.empty()) continue;
        const auto first = line.find(' '), second = line.find(' ', first + 1);
        const auto message = now.find(std::string{line.substr(0, first)});
        if (message == now.end()) {
            complaints.push_back(fmt::format("the message of '{}' is gone", line));
            continue;
        }
        const int number = std::stoi(std::string{line.substr(first + 1, second - first - 1)});
        const auto field = message->second.find(number);
        const std::string_view was = line.substr(second + 1);
        if (field == message->second.end())
            complaints.push_back(fmt::format("'{}' is gone; reserve its number", line));
        else if (field->second != "reserved" &&
                 field->second.substr(0, field->second.rfind(' ')) != was.substr(0, was.rfind(' ')))
            complaints.push_back(fmt::format("'{}' is now '{}'", line, field->second));
    }
    return complaints;
}

TEST(Wire, FieldsOfReleasesKeepTheirMeaning) {
    const Messages now = messages_of(read("proto/uplink.proto"));
    ASSERT_GT(now.size(), 50u);
    int releases = 0;
    for (const auto& release : std::filesystem::directory_iterator{PROJECT_SOURCE_DIR "/tests/recorded"}) {
        const std::string path = "tests/recorded/" + release.path().filename().string() + "/uplink.fields";
        for (const std::string& complaint : broken(read(path), now))
            ADD_FAILURE() << path << ": " << complaint;
        ++releases;
    }
    EXPECT_GT(releases, 0);
    if (const char* path = std::getenv("HOSTLER_RECORD_FIELDS")) std::ofstream{path} << written(now);
}

TEST(Wire, OtherMeaningsAreFound) {
    const Messages now = messages_of(R"(message A {
        uint64 one = 1;  // string two = 2;
        oneof body { B b = 3; repeated C c = 4; }
        reserved 5, 7;
        string six = 6;
    }
    message B {})");
    EXPECT_EQ(written(now),
              "A 1 uint64 one\nA 3 B b\nA 4 repeated C c\nA 5 reserved\nA 6 string six\nA 7 reserved\n");
    EXPECT_TRUE(broken(written(now), now).empty());
    EXPECT_TRUE(broken("A 1 uint64 another_name\nA 5 string gone\n", now).empty());
    for (const char* then : {"A 1 uint32 one\n", "A 4 C c\n", "A 2 string two\n", "Z 1 string z\n"})
        EXPECT_EQ(broken(then, now).size(), 1u) << then;
}

}  // namespace
}  // namespace hostler::tidy
