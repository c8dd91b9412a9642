// Who may include whom. The layer table of CONTRIBUTING.md, as a test.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "tests/tidy/tree.h"

namespace hostler::tidy {
namespace {

struct Layer {
    std::string_view folder;                // Below src/; itself is always allowed.
    std::vector<std::string_view> allowed;  // Prefixes.
};

// The first row whose folder fits. Siblings under adapters/ and roles/ are not in each other's rows.
const std::vector<Layer>& layers() {
    static const std::vector<std::string_view> adapter{"core/", "domain/", "ports/", "http/",
                                                       "wire/", "proto/",  "sql/"};
    static const std::vector<std::string_view> role{"core/", "domain/", "ports/", "api/",
                                                    "http/", "wire/",   "proto/"};
    static const std::vector<Layer> all{
        {"core", {}},
        {"domain",
         {"core/result.h", "core/timers.h", "core/id.h", "core/quantity.h", "core/safe_text.h",
          "core/ip_address.h", "core/utf8.h"}},
        {"ports", {"core/", "domain/"}},
        {"api", {"core/", "domain/"}},
        {"http", {"core/"}},
        {"wire", {"core/", "proto/"}},
        {"sql", {"core/", "ports/"}},
        {"adapters/*", adapter},
        {"roles/*", role},
        {"cli",
         {"core/", "api/", "http/", "wire/", "domain/job/array.h", "domain/job/batch_script.h",
          "domain/job/output_pattern.h", "domain/job/rendezvous.h"}},
        {"demo", {}},
        {"iptables", {}},
        {"simulated_nvml", {"adapters/nvml/abi.h"}},
        {"simulated_cuda", {"adapters/cuda/"}},
    };
    return all;
}

// "src/roles/agent/x.h" → "roles/agent"; "src/core/id.h" → "core".
std::string folder_of(std::string_view path) {
    path.remove_prefix(std::string_view{"src/"}.size());
    const auto first = path.find('/');
    const bool grouped = path.starts_with("adapters/") || path.starts_with("roles/");
    return std::string{path.substr(0, grouped ? path.find('/', first + 1) : first)};
}

std::vector<std::string> wrong_includes(const File& file) {
    std::vector<std::string> wrong;
    const std::string folder = folder_of(file.path);
    if (folder == "bin") return wrong;
    const auto row = std::ranges::find_if(layers(), [&](const Layer& layer) {
        return layer.folder == folder ||
               (layer.folder.ends_with("/*") &&
                folder.starts_with(layer.folder.substr(0, layer.folder.size() - 1)));
    });
    if (row == layers().end())
        return {fmt::format("{}: its folder is in no row of the layer table", file.path)};
    int number = 0;
    for (std::string_view line : lines_of(file.text)) {
        ++number;
        constexpr std::string_view include = "#include \"";
        if (!line.starts_with(include)) continue;
        const std::string_view what =
            line.substr(include.size(), line.find('"', include.size()) - include.size());
        const bool allowed =
            what.starts_with(folder + "/") || std::ranges::any_of(row->allowed, [&](std::string_view prefix) {
                return what.starts_with(prefix);
            });
        if (!allowed)
            wrong.push_back(fmt::format("{}:{}: {} may not include {}", file.path, number, folder, what));
    }
    return wrong;
}

// They cost every source that includes them, so they stay in sources (and in what only tests include).
std::vector<std::string> generated_headers(const File& file) {
    const auto at = file.text.find("#include \"proto/");
    if (at == std::string::npos || is_for_tests(file)) return {};
    return {fmt::format(
        "{}:{}: a header may not include what protoc made; declare the message and include it in the source",
        file.path, line_at(file.text, at))};
}

std::vector<std::string> without_guard(const File& file) {
    if (file.text.contains("#pragma once")) return {};
    return {fmt::format("{}:1: a header begins with #pragma once", file.path)};
}

// A header and its source are one unit: "cli/render". Those of `folder` that include each other in a circle,
// and those that include them.
std::set<std::string> in_circles(const std::vector<File>& files, std::string_view folder) {
    constexpr std::string_view include = "#include \"";
    std::map<std::string, std::set<std::string>> units;
    for (const File& file : files) {
        if (!file.path.starts_with(fmt::format("src/{}/", folder)) || is_for_tests(file)) continue;
        auto& others = units[file.path.substr(4, file.path.rfind('.') - 4)];
        for (const std::string_view line : lines_of(file.text))
            if (line.starts_with(include))
                others.emplace(line.substr(include.size(), line.rfind('.') - include.size()));
    }
    for (auto& [unit, others] : units) others.erase(unit);
    for (bool fewer = true; fewer;) {
        const auto left = units;
        const auto includes_none = [&](const auto& unit) {
            return std::ranges::none_of(unit.second, [&](const auto& other) { return left.contains(other); });
        };
        fewer = std::erase_if(units, includes_none) > 0;
    }
    std::set<std::string> names;
    for (const auto& [unit, others] : units) names.insert(unit);
    return names;
}

bool in_src(const File& file) { return file.path.starts_with("src/") && is_source(file); }

TEST(Layers, IncludesFollowTheTable) { EXPECT_EQ(complaints(wrong_includes, in_src), ""); }

TEST(Layers, AnIncludeAgainstTheTableIsFound) {
    const auto refused = [](std::string path, std::string_view what) {
        return wrong_includes(file_of(std::move(path),
                                      fmt::format("#pragma once\n#include <map>\n#include \"{}\"\n", what)))
                   .size() == 1;
    };
    EXPECT_TRUE(refused("src/core/x.h", "domain/life.h"));
    EXPECT_TRUE(refused("src/domain/stock/x.h", "core/task.h"));
    EXPECT_TRUE(refused("src/ports/x.h", "api/codec.h"));
    EXPECT_TRUE(refused("src/api/x.h", "ports/store.h"));
    EXPECT_TRUE(refused("src/http/x.h", "wire/link.h"));
    EXPECT_TRUE(refused("src/adapters/amd/x.cpp", "adapters/intel/intel.h"));
    EXPECT_TRUE(refused("src/adapters/amd/x.cpp", "roles/agent/agent.h"));
    EXPECT_TRUE(refused("src/roles/agent/x.cpp", "roles/master/server/master.h"));
    EXPECT_TRUE(refused("src/roles/agent/x.cpp", "adapters/net/net.h"));
    EXPECT_TRUE(refused("src/cli/x.cpp", "domain/life.h"));
    EXPECT_TRUE(refused("src/demo/x.cpp", "core/result.h"));
    EXPECT_TRUE(refused("src/surprise/x.cpp", "core/result.h"));
    EXPECT_FALSE(refused("src/roles/agent/x.cpp", "roles/agent/agent.h"));
    EXPECT_FALSE(refused("src/adapters/amd/x.cpp", "ports/telemetry.h"));
    EXPECT_FALSE(refused("src/bin/x.cpp", "adapters/net/net.h"));
}

TEST(Layers, FilesOfAFolderIncludeEachOtherInNoCircle) {
    for (const std::string_view folder : {"cli", "roles/master/instance"})
        EXPECT_EQ(in_circles(tree(), folder), std::set<std::string>{}) << folder;
    const std::vector<File> planted{file_of("src/cli/a.cpp", "#include \"cli/a.h\"\n#include \"cli/b.h\"\n"),
                                    file_of("src/cli/a.h", ""),
                                    file_of("src/cli/b.h", "#include \"cli/a.h\"\n"),
                                    file_of("src/cli/c.cpp", "#include \"core/id.h\"\n")};
    EXPECT_EQ(in_circles(planted, "cli"), (std::set<std::string>{"cli/a", "cli/b"}));
}

TEST(Layers, GeneratedHeadersStayInSources) {
    EXPECT_EQ(complaints(generated_headers, [](const File& file) { return in_src(file) && is_header(file); }),
              "");
    for (const char* path : {"src/wire/x.h", "src/roles/agent/x.h"})
        EXPECT_EQ(generated_headers(file_of(path, "#include \"proto/uplink.pb.h\"\n")).size(), 1U);
}

TEST(Layers, HeadersAreReadOnce) {
    EXPECT_EQ(complaints(without_guard, is_header), "");
    EXPECT_EQ(without_guard(file_of("src/core/x.h", "struct X {};\n")).size(), 1U);
}

}  // namespace
}  // namespace hostler::tidy
