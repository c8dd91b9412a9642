// Files of keys whose bytes the disk has changed, or whose end it has lost: what is wrong with them is told
// by name, and no other key is taken for the right one.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <fstream>
#include <functional>

#include "adapters/net/authority.h"
#include "adapters/net/net.h"
#include "adapters/sodium/sealer.h"
#include "core/testing/temp_folder.h"

namespace hostler::contract {
namespace {

using ::testing::HasSubstr;

// What is read of the file, or what is said of it.
using Read = std::function<Result<std::string>()>;

class KeyFile : public ::testing::Test {
protected:
    std::string at(const std::string& name) const { return folder_.path() + "/" + name; }
    static std::string bytes(const std::string& file) {
        std::ifstream stream{file, std::ios::binary};
        return {std::istreambuf_iterator<char>(stream), {}};
    }
    static void write(const std::string& file, std::string_view text) {
        std::ofstream{file, std::ios::binary | std::ios::trunc} << text;
    }
    // Whatever byte changed, in one bit or all, and wherever its end is: nothing is read of it, or what is
    // right.
    using Right = std::function<bool(const std::string& found, const std::string& right)>;
    static void damage_everywhere(const std::string& file, const Read& read,
                                  const Right& is_right = std::equal_to<>{}) {
        const std::string whole = bytes(file), right = read().value();
        const auto look = [&](std::string_view text) {
            write(file, text);
            const auto found = read();
            if (found)
                EXPECT_TRUE(is_right(*found, right)) << text;
            else
                EXPECT_THAT(found.error().message, HasSubstr(file));
        };
        for (std::size_t at = 0; at < whole.size() && !HasFailure(); ++at) {
            for (const int flip : {1 << at % 8, 0xff}) {
                std::string changed = whole;
                changed[at] = static_cast<char>(changed[at] ^ flip);
                look(changed);
            }
            look(whole.substr(0, at));
        }
        write(file, whole);
        EXPECT_EQ(read().value(), right);
    }
    testing::TempFolder folder_;
    std::unique_ptr<Random> random_ = net::make_random();
};

TEST_F(KeyFile, OfTheAuthority) {
    const WallTime now{std::chrono::seconds{1'790'000'000}};
    const auto authority = net::open_authority(folder_.path(), *random_, now).value();
    ASSERT_TRUE(authority->add(now));  // Two of them: what is cut off behind the first must be missed.
    damage_everywhere(at("authority.pem"), [&] { return net::read_authority_keys(folder_.path()); });
}

// Without the sum at its beginning: each key by itself.
TEST_F(KeyFile, OfTheAuthorityAsAnOlderReleaseWroteIt) {
    const WallTime now{std::chrono::seconds{1'790'000'000}};
    ASSERT_TRUE(net::open_authority(folder_.path(), *random_, now));
    const std::string file = at("authority.pem"), summed = bytes(file);
    const std::string older = summed.substr(summed.find('\n') + 1);
    ASSERT_TRUE(older.starts_with("-----BEGIN"));
    write(file, older);
    damage_everywhere(file, [&] { return net::read_authority_keys(folder_.path()); });
    const auto authority = net::open_authority(folder_.path(), *random_, now).value();
    EXPECT_EQ(bytes(file), older);
    ASSERT_TRUE(authority->add(now));
    EXPECT_TRUE(bytes(file).starts_with("# sha256 ")) << "it has one now";
}

TEST_F(KeyFile, OfARole) {
    const auto keys = net::make_keys();
    const Identity identity{.role = "access", .id = "ac-1"};
    write(at("key.pem"), keys->make(identity).value().key_pem);
    damage_everywhere(at("key.pem"), [&]() -> Result<std::string> {
        auto made = keys->renew(bytes(at("key.pem")), identity);
        if (made) return made->key_pem;
        return fail(made.error().code, at("key.pem") + made.error().message);
    });
}

// Keys that are missing at its end are missed by the store, which knows what it was sealed with.
TEST_F(KeyFile, OfSealing) {
    const Read read = [&]() -> Result<std::string> {
        std::string ids;
        for (const auto& id : TRY(sodium::open_sealer(at("sealing.keys")))->keys()) ids += id + " ";
        return ids;
    };
    {
        const auto sealer = sodium::open_sealer(at("sealing.keys")).value();
        for (int i = 0; i < 3; ++i) ASSERT_TRUE(sealer->make());
    }
    damage_everywhere(at("sealing.keys"), read, [](const std::string& found, const std::string& right) {
        return right.starts_with(found);
    });
}

}  // namespace
}  // namespace hostler::contract
