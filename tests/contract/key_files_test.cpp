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

constexpr std::size_t places = 200;

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
    static void expect_right_or_named(const std::string& file, std::string_view text, const Read& read,
                                      const std::string& right) {
        write(file, text);
        const auto found = read();
        if (found)
            EXPECT_TRUE(right.starts_with(*found)) << text;
        else
            EXPECT_THAT(found.error().message, HasSubstr(file));
    }
    static void damage_everywhere(const std::string& file, const Read& read) {
        const std::string whole = bytes(file), right = read().value();
        for (std::size_t n = 0; n < places; ++n) {
            const std::size_t at = n * whole.size() / places;
            std::string changed = whole;
            changed[at] = static_cast<char>(changed[at] ^ (1 << n % 8));
            expect_right_or_named(file, changed, read, right);
            expect_right_or_named(file, whole.substr(0, at), read, right);
        }
        write(file, whole);
        EXPECT_EQ(read().value(), right);
    }
    testing::TempFolder folder_;
    std::unique_ptr<Random> random_ = net::make_random();
};

TEST_F(KeyFile, OfTheAuthority) {
    const WallTime now{std::chrono::seconds{1'790'000'000}};
    const Read read = [&]() -> Result<std::string> {
        return TRY(net::open_authority(folder_.path(), *random_, now))->certificate();
    };
    ASSERT_TRUE(read());
    damage_everywhere(at("authority.pem"), read);
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
    damage_everywhere(at("sealing.keys"), read);
}

}  // namespace
}  // namespace hostler::contract
