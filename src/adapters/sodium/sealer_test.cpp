#include "adapters/sodium/sealer.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <iterator>

#include "core/testing/temp_folder.h"

namespace hostler::sodium {
namespace {

struct SealingKeys : ::testing::Test {
    std::string text() const {
        std::ifstream file{ring, std::ios::binary};
        return {std::istreambuf_iterator<char>{file}, {}};
    }
    void write(const std::string& what) const { std::ofstream{ring, std::ios::binary} << what; }
    testing::TempFolder folder;
    std::string ring = folder.path() + "/ring";
    std::unique_ptr<Sealer> sealer = open_sealer(ring).value();
};

TEST_F(SealingKeys, LieInAFileOfTheirOwnerAlone) {
    EXPECT_FALSE(std::filesystem::exists(ring)) << "not before there is one";
    EXPECT_EQ(read_sealing_keys(ring).error().code, Code::not_found);
    ::umask(0);
    const std::string key = sealer->make().value();
    struct stat found{};
    ASSERT_EQ(::stat(ring.c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777, 0600U);
    EXPECT_EQ(read_sealing_keys(ring).value(), text());
    EXPECT_EQ(ids_of_sealing_keys(text()).value(), std::vector<std::string>{key});
    EXPECT_FALSE(std::filesystem::exists(ring + ".part"));
}

TEST_F(SealingKeys, TheSameTextIsNeverSealedAlike) {
    const std::string key = sealer->make().value();
    EXPECT_NE(sealer->seal(key, "here", "secret").value(), sealer->seal(key, "here", "secret").value());
}

TEST_F(SealingKeys, KeysFromElsewhereStandBesideThoseThatAreThere) {
    const std::string mine = sealer->make().value();
    const std::string other_ring = folder.path() + "/other";
    const auto other = open_sealer(other_ring).value();
    const std::string theirs = other->make().value();
    const std::string sealed = other->seal(theirs, "here", "secret").value();
    for (int again = 0; again < 2; ++again)
        ASSERT_TRUE(add_sealing_keys(ring, read_sealing_keys(other_ring).value()));
    EXPECT_EQ(sealer->open(theirs, "here", sealed).error().code, Code::not_found) << "it has not looked";
    ASSERT_TRUE(sealer->read());
    EXPECT_EQ(sealer->keys(), (std::vector<std::string>{mine, theirs}));
    EXPECT_EQ(sealer->open(theirs, "here", sealed).value(), "secret");
    // Whoever makes one keeps what was put there meanwhile.
    ASSERT_TRUE(add_sealing_keys(other_ring, read_sealing_keys(ring).value()));
    ASSERT_TRUE(other->make());
    EXPECT_EQ(other->keys().size(), 3u);
}

TEST_F(SealingKeys, ATornOrForeignFileIsRefused) {
    ASSERT_TRUE(sealer->make());
    const std::string whole = text();
    std::string exchanged = whole;
    exchanged[whole.size() - 2] = whole[whole.size() - 2] == '0' ? '1' : '0';
    for (const std::string& wrong : {std::string{}, std::string{"-----BEGIN PRIVATE KEY-----\n"},
                                     whole.substr(0, whole.size() - 1), whole + "x", exchanged}) {
        write(wrong);
        EXPECT_EQ(open_sealer(ring).error().code, Code::invalid) << wrong;
        EXPECT_EQ(sealer->make().error().code, Code::invalid) << "nothing is written over it";
        EXPECT_EQ(text(), wrong);
        EXPECT_EQ(add_sealing_keys(ring, whole).error().code, Code::invalid);
        EXPECT_EQ(ids_of_sealing_keys(wrong).error().code, Code::invalid);
    }
}

TEST_F(SealingKeys, AFolderThatIsGoneIsSaid) {
    const auto away = open_sealer(folder.path() + "/none/ring").value();
    EXPECT_EQ(away->make().error().code, Code::unavailable);
    EXPECT_TRUE(away->keys().empty());
}

}  // namespace
}  // namespace hostler::sodium
