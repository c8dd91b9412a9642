// Documents that say what is so: versions, the two commands, a README in each folder, links that lead
// somewhere.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>

#include "core/version.h"
#include "domain/lives.h"
#include "tests/tidy/tree.h"

namespace hostler::tidy {
namespace {

namespace fs = std::filesystem;

std::string between(std::string_view text, std::string_view before, std::string_view after) {
    const auto from = text.find(before);
    if (from == text.npos) return {};
    const auto begin = from + before.size();
    return std::string{text.substr(begin, text.find(after, begin) - begin)};
}

std::string version_of_build(std::string_view cmake) {
    return between(cmake, "project(hostler VERSION ", " ");
}

// Of the newest heading; dates and words behind the number do not count.
std::string version_of_changes(std::string_view changelog) {
    const std::string heading = between(changelog, "\n## ", "\n");
    return heading.substr(0, heading.find_first_of(" -"));
}

// Which folders of src/ have to say what they are: each layer, adapter and role, and each feature of the
// master.
std::set<std::string> folders_to_explain(const std::vector<File>& files) {
    std::set<std::string> folders;
    for (const File& file : files) {
        if (!file.path.starts_with("src/") || !is_source(file)) continue;
        const std::string_view below = std::string_view{file.path}.substr(4);
        if (!below.contains('/')) continue;
        const std::string first{below.substr(0, below.find('/'))};
        folders.insert("src/" + first);
        if (first != "adapters" && first != "roles") continue;
        folders.insert("src/" + std::string{below.substr(0, below.find('/', first.size() + 1))});
        if (below.starts_with("roles/master/") && !is_for_tests(file))
            folders.insert("src/" + std::string{below.substr(0, below.rfind('/'))});
    }
    return folders;
}

std::vector<std::string> unexplained(const std::vector<File>& files) {
    std::vector<std::string> wrong;
    for (const std::string& folder : folders_to_explain(files)) {
        const auto readme = std::ranges::find(files, folder + "/README.md", &File::path);
        if (readme == files.end())
            wrong.push_back(folder + " has no README.md");
        else if (const auto lines = lines_of(readme->text).size(); lines > 10)
            wrong.push_back(fmt::format("{} has {} lines; ten say what it is, what it is not, where to begin",
                                        readme->path, lines));
    }
    return wrong;
}

// "instance" for "… instance_life[] = {".
std::vector<std::string> lives_in(const File& file) {
    constexpr std::string_view table = "_life[] = {";
    std::vector<std::string> names;
    for (auto at = file.code.find(table); at != file.code.npos; at = file.code.find(table, at + 1))
        names.push_back(file.code.substr(file.code.rfind(' ', at) + 1, at - file.code.rfind(' ', at) - 1));
    return names;
}

// The packages that a shell array of `dev` names: "name=(a b\n c)".
std::set<std::string> packages_in(std::string_view dev, std::string_view name) {
    std::set<std::string> packages;
    std::istringstream words{between(dev, fmt::format("\n{}=(", name), ")")};
    for (std::string word; words >> word;) packages.insert(word);
    return packages;
}

bool shows_the_commands(std::string_view readme) {
    const std::string first = between(readme, "```", "```");
    return first.contains("./dev up") && first.contains("./dev test");
}

// Links to files of this repository, "[text](docs/x.md#part)".
std::vector<std::string> dead_links(const File& file) {
    std::vector<std::string> dead;
    const fs::path folder = fs::path{file.path}.parent_path();
    for (auto at = file.text.find("]("); at != file.text.npos; at = file.text.find("](", at + 1)) {
        std::string target = between(std::string_view{file.text}.substr(at), "](", ")");
        target = target.substr(0, target.find_first_of("# "));
        if (target.empty() || target.contains("://")) continue;
        if (!exists((folder / target).lexically_normal().string()))
            dead.push_back(fmt::format("{}:{}: the link to {} leads nowhere", file.path,
                                       line_at(file.text, at), target));
    }
    return dead;
}

// In a diagram a semicolon ends the statement, in the middle of a sentence too.
std::vector<std::string> broken_diagrams(const File& file) {
    std::vector<std::string> broken;
    bool diagram = false;
    std::size_t number = 0;
    for (std::string_view line : lines_of(file.text)) {
        ++number;
        if (line.starts_with("```")) diagram = line == "```mermaid";
        if (diagram && line.contains(';'))
            broken.push_back(fmt::format("{}:{}: a semicolon breaks the diagram", file.path, number));
    }
    return broken;
}

TEST(House, OneVersion) {
    EXPECT_EQ(version_of_build(read("CMakeLists.txt")), version);
    EXPECT_EQ(version_of_changes(read("CHANGELOG.md")), version);
    EXPECT_EQ(version_of_build("x\nproject(hostler VERSION 9.8.7 LANGUAGES C)"), "9.8.7");
    EXPECT_EQ(version_of_changes("# Changes\n\n## 9.8.7 (2020-01-02)\n\n## 9.8.6\n"), "9.8.7");
}

TEST(House, EveryFolderSaysWhatItIs) {
    for (const std::string& one : unexplained(tree())) ADD_FAILURE() << one;
    const File source = file_of("src/adapters/new/x.h", "");
    EXPECT_EQ(unexplained({source}).size(), 2U);  // Itself, and adapters.
    EXPECT_EQ(unexplained({source, file_of("src/adapters/README.md", "a\n"),
                           file_of("src/adapters/new/README.md", "a\n")})
                  .size(),
              0U);
    EXPECT_EQ(
        unexplained({file_of("src/x/x.h", ""), file_of("src/x/README.md", std::string(11, '\n'))}).size(),
        1U);
}

TEST(House, TheReadmeBeginsWithTwoCommands) {
    EXPECT_TRUE(shows_the_commands(read("README.md")));
    EXPECT_FALSE(shows_the_commands("# X\n```\n./dev up\n```\n"));
    EXPECT_TRUE(read(".ci/run").contains("./dev check"));
}

TEST(House, EveryCommandOfDevIsThere) {
    const std::string dev = read("dev");
    for (const char* command : {"setup", "build", "test", "sim", "fuzz", "up", "check", "package", "gen"})
        EXPECT_TRUE(dev.contains(fmt::format("\n    {}) ", command))) << "./dev " << command;
}

// Who only wants to see a cloud waits for no browser, database or sanitizer.
TEST(House, UpInstallsNothingThatOnlyTestsWant) {
    const std::string dev = read("dev");
    const std::string up = between(dev, "\ncmd_up() {", "\n}");
    EXPECT_TRUE(up.contains("setup_up\n") && !up.contains("setup_all")) << up;
    EXPECT_EQ(between(dev, "\nsetup_up() { setup ", "; }"), R"("${build_packages[@]}" "${run_packages[@]}")");
    std::set<std::string> wanted = packages_in(dev, "build_packages");
    EXPECT_TRUE(wanted.contains("clang-19"));
    wanted.merge(packages_in(dev, "run_packages"));
    EXPECT_TRUE(wanted.contains("podman"));
    for (const char* list : {"sanitizer_packages", "test_packages", "tidy_packages"}) {
        EXPECT_FALSE(packages_in(dev, list).empty()) << list;
        for (const std::string& package : packages_in(dev, list))
            EXPECT_FALSE(wanted.contains(package)) << package << " of " << list;
    }
}

TEST(House, LinksLeadSomewhere) {
    EXPECT_EQ(complaints(dead_links, [](const File& file) { return file.path.ends_with(".md"); }), "");
    EXPECT_EQ(
        dead_links(file_of("docs/x.md", "[a](nowhere.md) [b](../README.md#top) [c](https://example.com/x)\n"))
            .size(),
        1U);
}

TEST(House, DiagramsCanBeDrawn) {
    EXPECT_EQ(complaints(broken_diagrams, [](const File& file) { return file.path.ends_with(".md"); }), "");
    EXPECT_EQ(broken_diagrams(file_of("docs/x.md", "a; b\n```mermaid\nA->>B: one; two\n```\n")).size(), 1U);
}

TEST(House, LivesAreDrawnAsTheyAre) {
    const std::string document = read("ARCHITECTURE.md");
    std::size_t lives = 0;
    for (const File& file : tree()) {
        if (!file.path.starts_with("src/domain/") || !is_header(file)) continue;
        for (const std::string& name : lives_in(file)) {
            ++lives;
            EXPECT_TRUE(document.contains(fmt::format("<!-- life: {} -->", name)))
                << name << " is drawn nowhere";
        }
    }
    EXPECT_EQ(lives, life_names().size()) << "src/domain/lives.cpp has to know each";
    const auto drawn = with_lives(document);
    ASSERT_TRUE(drawn) << drawn.error().message;
    EXPECT_EQ(*drawn, document) << "ARCHITECTURE.md is stale: run ./dev gen";
}

TEST(House, DecisionsAreNumberedWithoutGaps) {
    std::vector<std::string> names;
    for (const File& file : tree())
        if (file.path.starts_with("decisions/0")) names.push_back(file.path.substr(10));
    ASSERT_FALSE(names.empty());
    for (std::size_t i = 0; i < names.size(); ++i) {
        EXPECT_EQ(names[i].substr(0, 5), fmt::format("{:04}-", i + 1)) << names[i];
        const std::string text = read("decisions/" + names[i]);
        for (const char* part : {"## Context", "## Choice", "## Price"})
            EXPECT_TRUE(text.contains(part)) << names[i] << " lacks " << part;
    }
}

}  // namespace
}  // namespace hostler::tidy
