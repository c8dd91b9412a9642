// Which feature of the master may include which: features.def has the level of each folder.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/tidy/tree.h"

namespace hostler::tidy {
namespace {

constexpr std::string_view master = "src/roles/master/";

using Features = std::map<std::string, int>;  // The level of each.
constexpr std::size_t files_max = 40;         // In a folder.

// Of lines "FEATURE(name, level)" and "FOLDER(name, level)".
Features features_of(std::string_view text) {
    Features all;
    for (const std::string_view line : lines_of(text)) {
        if (!line.starts_with("FEATURE(") && !line.starts_with("FOLDER(")) continue;
        const auto open = line.find('('), comma = line.find(','), close = line.find(')');
        if (close == line.npos || comma > close) {
            ADD_FAILURE() << "features.def: " << line;
            continue;
        }
        all[std::string{line.substr(open + 1, comma - open - 1)}] =
            std::stoi(std::string{line.substr(comma + 1, close - comma - 1)});
    }
    return all;
}

// "src/roles/master/alert/alerts.cpp" → "alert/alerts".
std::string unit_of(std::string_view path) {
    path.remove_prefix(master.size());
    return std::string{path.substr(0, path.rfind('.'))};
}

// "alert/alerts" → "alert".
std::string feature_of(const std::string& unit) { return unit.substr(0, unit.find('/')); }

bool in_master(const File& file) {
    return file.path.starts_with(master) && is_source(file) && !is_for_tests(file);
}

// Sentences about what is wrong.
std::vector<std::string> check(const std::vector<File>& files, const Features& features) {
    std::vector<std::string> wrong;
    std::set<std::string> used;
    for (const File& file : files) {
        const std::string unit = unit_of(file.path), feature = feature_of(unit);
        const auto own = features.find(feature);
        if (own == features.end()) {
            wrong.push_back(fmt::format("{}: features.def has no feature {}", file.path, feature));
            continue;
        }
        used.insert(feature);
        for (const std::string_view line : lines_of(file.text)) {
            constexpr std::string_view include = "#include \"roles/master/";
            if (!line.starts_with(include)) continue;
            const std::string what{line.substr(include.size(), line.rfind('.') - include.size())};
            const auto other = features.find(feature_of(what));
            if (other == features.end() || other->first == feature || other->second < own->second) continue;
            wrong.push_back(fmt::format("{}: {} (level {}) may not include {} (level {})", file.path, feature,
                                        own->second, what, other->second));
        }
    }
    for (const auto& [feature, level] : features)
        if (!used.contains(feature))
            wrong.push_back(fmt::format("features.def: {} is no folder of {}", feature, master));
    return wrong;
}

TEST(Features, IncludeOnlyThoseOfLowerLevels) {
    std::vector<File> files;
    for (const File& file : tree())
        if (in_master(file)) files.push_back(file);
    ASSERT_FALSE(files.empty());
    for (const auto& sentence : check(files, features_of(read(fmt::format("{}features.def", master)))))
        ADD_FAILURE() << sentence;
}

TEST(Features, AreFoldersOfFewFiles) {
    std::map<std::string_view, std::size_t> files;
    for (const File& file : tree())
        if (file.path.starts_with(master))
            ++files[std::string_view{file.path}.substr(0, file.path.rfind('/'))];
    for (const auto& [folder, count] : files) EXPECT_LE(count, files_max) << folder;
}

TEST(Features, AnIncludeAgainstTheLevelsAndAnUnknownFolderAreFound) {
    const auto features = features_of("FOLDER(low, 1)\nFEATURE(high, 2)\nFEATURE(twin, 2)\n");
    const auto file = [](std::string_view unit, std::string_view what) {
        return file_of(fmt::format("{}{}.cpp", master, unit),
                       fmt::format("#include \"roles/master/{}.h\"\n", what));
    };
    const std::vector<File> fine{file("low/a", "low/a"), file("high/b", "low/a"), file("twin/c", "low/a")};
    EXPECT_EQ(check(fine, features), std::vector<std::string>{});
    const std::vector<File> upwards{file("low/a", "high/b"), file("high/b", "low/a"),
                                    file("twin/c", "low/a")};
    EXPECT_EQ(check(upwards, features).size(), 1U);
    const std::vector<File> across{file("low/a", "low/a"), file("high/b", "twin/c"), file("twin/c", "low/a")};
    EXPECT_EQ(check(across, features).size(), 1U) << "between two of one level";
    EXPECT_EQ(check({fine[0], fine[1]}, features).size(), 1U) << "twin has gone";
    EXPECT_EQ(check({fine[0], fine[1], fine[2], file("new/d", "low/a")}, features).size(), 1U)
        << "new is in no row";
    EXPECT_EQ(check({fine[0], fine[1], fine[2], file("d", "low/a")}, features).size(), 1U)
        << "a file beside the folders";
}

}  // namespace
}  // namespace hostler::tidy
