// The YAML and JSON that documents show can be read, and `hostler apply` takes what is meant for it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <optional>

#include "adapters/net/net.h"
#include "api/codec.h"
#include "cli/apply_item.h"
#include "cli/cli.h"
#include "cli/yaml.h"
#include "tests/tidy/tree.h"

namespace hostler::tidy {
namespace {

struct Block {
    std::size_t line;
    std::string language;
    std::string text;
};

std::vector<Block> blocks_in(std::string_view text) {
    std::vector<Block> blocks;
    bool inside = false;
    std::size_t number = 0;
    for (const std::string_view line : lines_of(text)) {
        ++number;
        if (line.starts_with("```")) {
            inside = !inside;
            if (inside) blocks.push_back({number, std::string{line.substr(3)}, ""});
        } else if (inside) {
            blocks.back().text.append(line).append("\n");
        }
    }
    return blocks;
}

// A network that reaches nobody: what is right gets as far as this.
class NoNet : public Net {
public:
    Task<StreamPtr> dial(std::string, Duration) override {
        co_return fail(Code::unavailable, "nobody is there");
    }
    Task<ListenerPtr> listen(std::string) override { co_return fail(Code::unavailable, "not here"); }
    Task<StreamPtr> secure(StreamPtr, Secure, Side, Duration) override {
        co_return fail(Code::unavailable, "not here");
    }
};

// What `hostler apply` says about the text; empty: it would have sent all of it.
std::string refused_by_apply(const std::string& text) {
    Loop loop{1};
    NoNet nobody;
    const auto timers = net::make_timers(loop);
    std::string said;
    cli::CliWorld world{.loop = loop,
                        .net = nobody,
                        .timers = *timers,
                        .env = [](const std::string&) { return std::nullopt; },
                        .out = [](std::string_view) {},
                        .err = [&](std::string_view words) { said += words; },
                        .in = [&](std::size_t) { return text; }};
    constexpr auto args = std::to_array<const char*>(
        {"hostler", "--api", "http://127.0.0.1:1", "--key", "k", "apply", "-f", "-"});
    const int code = cli::run_cli(static_cast<int>(args.size()), args.data(), world);
    return code == static_cast<int>(cli::Exit::unreachable) ? "" : said;
}

std::vector<std::string> wrong_examples(const File& file) {
    std::vector<std::string> wrong;
    for (const Block& block : blocks_in(file.text)) {
        const auto complain = [&](std::string_view what) {
            wrong.push_back(fmt::format("{}:{}: {}", file.path, block.line, what));
        };
        if (block.language == "json") {
            if (const auto parsed = api::parse_json(block.text); !parsed) complain(parsed.error().message);
            continue;
        }
        if (block.language != "yaml") continue;
        const auto documents = cli::parse_yaml(block.text);
        if (!documents) {
            complain(documents.error().message);
            continue;
        }
        const bool is_ours = std::ranges::all_of(*documents, [](const cli::Document& one) {
            return one.value.is_object() && one.value.get_object().contains("kind");
        });
        if (!is_ours) continue;  // A file of another program.
        if (const auto said = refused_by_apply(block.text); !said.empty()) complain(said);
    }
    return wrong;
}

TEST(Documents, ExamplesOfFilesAreTaken) {
    EXPECT_EQ(complaints(wrong_examples, [](const File& file) { return file.path.ends_with(".md"); }), "");
    const auto wrong = [](std::string text) { return wrong_examples(file_of("docs/x.md", std::move(text))); };
    EXPECT_EQ(wrong("```yaml\nkind: price\ngpuType: H100\namount: 2.49\ncurrency: USD\n```\n").size(), 0U);
    EXPECT_EQ(wrong("```yaml\nkind: price\ngpuType: H100\namount: much\n```\n").size(), 1U);
    EXPECT_EQ(wrong("```yaml\nkind: stok\nspecName: x\n```\n").size(), 1U);
    EXPECT_EQ(wrong("```yaml\na: [\n```\n").size(), 1U);
    EXPECT_EQ(wrong("```json\n{\"a\": }\n```\n").size(), 1U);
    EXPECT_EQ(wrong("```json\n{\"a\": 1}\n```\n").size(), 0U);
}

}  // namespace
}  // namespace hostler::tidy
