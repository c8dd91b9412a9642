// hostler-iptables says what the host's own iptables says, and asks it anew once any rule has changed.
#include <gmock/gmock.h>
#include <unistd.h>

#include "containers.h"
#include "core/testing/temp_folder.h"

namespace hostler::contract {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// A network namespace, in which iptables is ours before one that counts its starts before the host's own.
class FirewallAnswers : public ::testing::Test {
protected:
    void SetUp() override {
        if (::geteuid() != 0) GTEST_SKIP() << "the host's firewall needs root";
        shell(
            fmt::format("cd {0} && mkdir ours counted && ln -s {1} ours/iptables && "
                        "ln -s xtables-nft-multi counted/iptables",
                        folder(), HOSTLER_IPTABLES));
        // Its name is what tells ours that the rules are those of nftables.
        const std::string counted = folder() + "/counted/xtables-nft-multi";
        std::ofstream{counted} << fmt::format("#!/bin/sh\necho \"$*\" >>{}/asked\nexec {} \"$@\"\n", folder(),
                                              host_iptables());
        std::filesystem::permissions(counted, std::filesystem::perms::owner_all);
    }
    std::string folder() const { return folder_.path(); }
    static std::string host_iptables() {
        std::string path = shell("PATH=$PATH:/usr/sbin command -v iptables");
        if (!path.empty()) path.pop_back();
        return path;
    }
    // What a shell prints that runs `commands` there, with the exit codes of those that fail.
    std::string say(const std::string& commands) const {
        const std::string script = fmt::format(
            "export PATH={0}/ours:{0}/counted:$PATH:/usr/sbin HOSTLER_FIREWALL_ANSWERS={0}/answers\n{1}",
            folder(), commands);
        std::ofstream{folder() + "/script"} << script;
        return shell(fmt::format("unshare -n sh {}/script 2>&1; true", folder()));
    }
    int asked(const std::string& words) const {
        std::ifstream file{folder() + "/asked"};
        int count = 0;
        for (std::string line; std::getline(file, line);) count += line == words ? 1 : 0;
        return count;
    }

private:
    hostler::testing::TempFolder folder_;
};

TEST_F(FirewallAnswers, AQuestionIsAskedOnceUntilARuleChanges) {
    const std::string said =
        say("iptables -N WANTED\niptables -A FORWARD -j WANTED\n"
            "for i in 1 2 3; do iptables -C FORWARD -j WANTED && echo there; done\n"
            "nft add table inet another\n"  // Any rule's change counts, whoever makes it.
            "iptables -C FORWARD -j WANTED && echo there\n"
            "iptables -D FORWARD -j WANTED\n"
            "iptables -C FORWARD -j WANTED >/dev/null 2>&1 || echo gone $?\n"
            "iptables -A FORWARD -j WANTED\n"
            "iptables -C FORWARD -j WANTED && echo there again\n");
    EXPECT_EQ(said, "there\nthere\nthere\nthere\ngone 1\nthere again\n");
    EXPECT_EQ(asked("-C FORWARD -j WANTED"), 4) << "at first, after the table, after each change";
    EXPECT_EQ(asked("-A FORWARD -j WANTED"), 2) << "what changes rules is always done";
}

TEST_F(FirewallAnswers, AreThoseOfTheRealProgram) {
    EXPECT_EQ(say("for i in 1 2; do iptables -t nat -S; done"),
              say(fmt::format("for i in 1 2; do {} -t nat -S; done", host_iptables())));
    EXPECT_EQ(asked("-t nat -S"), 1);
    EXPECT_EQ(
        say("iptables -N MANY; for i in $(seq 600); do echo \"-A MANY -s 10.1.$((i / 250)).$((i % 250)) "
            "-j ACCEPT\"; done >rules; (echo '*filter'; cat rules; echo COMMIT) | iptables-restore -n; "
            "iptables -S MANY | md5sum; iptables -S MANY | md5sum; rm rules")
            .size(),
        72U);
    EXPECT_EQ(asked("-S MANY"), 1);
    EXPECT_THAT(say("iptables -C FORWARD -j NOBODY; echo $?"), HasSubstr("NOBODY"))
        << "its errors come through";
}

TEST_F(FirewallAnswers, AnOtherKindOfIptablesIsAskedEachTime) {
    shell(
        fmt::format("cd {}/counted && mv xtables-nft-multi xtables-legacy-multi && "
                    "ln -sf xtables-legacy-multi iptables",
                    folder()));
    say("iptables -S >/dev/null; iptables -S >/dev/null");
    EXPECT_EQ(asked("-S"), 2) << "its rules are not those of nftables";
    shell(
        fmt::format("cd {}/counted && mv xtables-legacy-multi xtables-nft-multi && "
                    "ln -sf xtables-nft-multi iptables",
                    folder()));
    say("unset HOSTLER_FIREWALL_ANSWERS; iptables -S FORWARD >/dev/null; iptables -S FORWARD >/dev/null");
    EXPECT_EQ(asked("-S FORWARD"), 2) << "without a folder nothing is kept";
}

TEST_F(FirewallAnswers, ADamagedAnswerIsNone) {
    const std::string said = say(fmt::format(
        "iptables -S >/dev/null; for file in {}/answers/*; do printf x >$file; done; iptables -S", folder()));
    EXPECT_THAT(said, HasSubstr("-P FORWARD ACCEPT"));
    EXPECT_EQ(asked("-S"), 2);
}

// On a real podman: the second container of a network finds its rules without iptables, and a rule that went
// meanwhile is back.
class FirewallOfPodman : public Containers {};
INSTANTIATE_TEST_SUITE_P(Real, FirewallOfPodman, ::testing::Values(podman), kind_name);

TEST_P(FirewallOfPodman, ARuleThatIsGoneComesBackWithTheNextStart) {
    const auto network = make_network(1);
    // A killed run may have left rules for this subnet.
    const auto rules = [&] {
        return shell("iptables -t nat -S POSTROUTING | grep -F '" + network.subnet + "'");
    };
    const std::string before = rules();
    serve(network, 9, "a");
    serve(network, 10, "b");
    EXPECT_FALSE(std::filesystem::is_empty(rig().folder() + "/tmp/firewall"));
    const std::string with = rules();
    ASSERT_THAT(with, StartsWith(before + "-A POSTROUTING"));
    shell("iptables -t nat -D" + with.substr(before.size() + 2));
    ASSERT_EQ(rules(), before);
    const std::string address = serve(network, 11, "c");
    EXPECT_EQ(rules(), with);
    EXPECT_EQ(rig().get(address, "/healthz"), "ok\n");
}

}  // namespace
}  // namespace hostler::contract
