// Which feature of the master may include which: levels in features.txt, and the includes against them that
// are left in crossings.txt.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>

#include "tests/tidy/tree.h"

namespace hostler::tidy {
namespace {

constexpr std::string_view master = "src/roles/master/";

struct Features {
    std::map<std::string, int> level;            // By feature.
    std::map<std::string, std::string> feature;  // By unit.
};
using Crossing = std::pair<std::string, std::string>;  // A unit, and one that it includes against the levels.

// Rows of words; what begins with # is a comment.
std::vector<std::vector<std::string>> rows_of(std::string_view text) {
    std::vector<std::vector<std::string>> rows;
    for (const std::string_view line : lines_of(text)) {
        if (line.starts_with('#')) continue;
        std::istringstream words{std::string{line}};
        std::vector<std::string> row;
        for (std::string word; words >> word;) row.push_back(word);
        if (!row.empty()) rows.push_back(std::move(row));
    }
    return rows;
}

Features features_of(std::string_view text) {
    Features all;
    for (const auto& row : rows_of(text)) {
        if (row.size() == 3 && row[0] == "feature")
            all.level[row[1]] = std::stoi(row[2]);
        else if (row.size() == 2)
            all.feature[row[0]] = row[1];
        else
            ADD_FAILURE() << "features.txt: " << row[0] << ": a row has two words, or three after 'feature'";
    }
    return all;
}

std::set<Crossing> crossings_of(std::string_view text) {
    std::set<Crossing> all;
    for (const auto& row : rows_of(text))
        if (row.size() == 2) all.emplace(row[0], row[1]);
    return all;
}

// "src/roles/master/alert_rules.cpp" → "alert_rules".
std::string unit_of(std::string_view path) {
    path.remove_prefix(master.size());
    return std::string{path.substr(0, path.rfind('.'))};
}

bool in_master(const File& file) {
    return file.path.starts_with(master) && is_source(file) && !is_for_tests(file);
}

// Sentences about what is wrong.
std::vector<std::string> check(const std::vector<File>& files, const Features& features,
                               const std::set<Crossing>& known) {
    std::vector<std::string> wrong;
    std::set<std::string> units;
    std::set<Crossing> found;
    for (const File& file : files) {
        const std::string unit = unit_of(file.path);
        units.insert(unit);
        const auto own = features.feature.find(unit);
        if (own == features.feature.end() || !features.level.contains(own->second)) {
            wrong.push_back(fmt::format("{}: features.txt names no feature of {}", file.path, unit));
            continue;
        }
        for (const std::string_view line : lines_of(file.text)) {
            constexpr std::string_view include = "#include \"roles/master/";
            if (!line.starts_with(include)) continue;
            const auto what = line.substr(include.size(), line.rfind('.') - include.size());
            const auto other = features.feature.find(std::string{what});
            if (other == features.feature.end() || other->second == own->second) continue;
            if (features.level.at(other->second) < features.level.at(own->second)) continue;
            found.emplace(unit, what);
            if (!known.contains({unit, std::string{what}}))
                wrong.push_back(fmt::format("{}: {} (level {}) may not include {} of {} (level {})",
                                            file.path, own->second, features.level.at(own->second), what,
                                            other->second, features.level.at(other->second)));
        }
    }
    for (const auto& [unit, what] : known)
        if (!found.contains({unit, what}))
            wrong.push_back(fmt::format("crossings.txt: {} no longer includes {}", unit, what));
    for (const auto& [unit, feature] : features.feature)
        if (!units.contains(unit))
            wrong.push_back(fmt::format("features.txt: {} is not in {}", unit, master));
    return wrong;
}

TEST(Features, IncludeOnlyThoseOfLowerLevels) {
    std::vector<File> files;
    for (const File& file : tree())
        if (in_master(file)) files.push_back(file);
    ASSERT_FALSE(files.empty());
    for (const auto& sentence : check(files, features_of(read("tests/tidy/features.txt")),
                                      crossings_of(read("tests/tidy/crossings.txt"))))
        ADD_FAILURE() << sentence;
}

TEST(Features, ACrossingAMissingUnitAndAStaleRowAreFound) {
    const auto features =
        features_of("feature low 1\nfeature high 2\nfeature twin 2\na low\nb high\nc twin\n");
    const auto file = [](std::string_view unit, std::string_view what) {
        return file_of(fmt::format("{}{}.cpp", master, unit),
                       fmt::format("#include \"roles/master/{}.h\"\n", what));
    };
    const std::vector<File> fine{file("a", "a"), file("b", "a"), file("c", "a")};
    EXPECT_EQ(check(fine, features, {}), std::vector<std::string>{});
    const std::vector<File> upwards{file("a", "b"), file("b", "a"), file("c", "a")};
    EXPECT_EQ(check(upwards, features, {}).size(), 1U);
    EXPECT_EQ(check(upwards, features, {{"a", "b"}}), std::vector<std::string>{});
    EXPECT_EQ(check({file("a", "a"), file("b", "c"), file("c", "a")}, features, {}).size(), 1U)
        << "between two of one level";
    EXPECT_EQ(check(fine, features, {{"a", "b"}}).size(), 1U) << "a row that is no longer needed";
    EXPECT_EQ(check({file("a", "a"), file("b", "a")}, features, {}).size(), 1U) << "c has gone";
    EXPECT_EQ(check({file("a", "a"), file("b", "a"), file("c", "a"), file("d", "a")}, features, {}).size(),
              1U)
        << "d is new";
}

}  // namespace
}  // namespace hostler::tidy
