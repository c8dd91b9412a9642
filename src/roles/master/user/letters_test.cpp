// Letters with invitations and password links.
#include "roles/master/user/letters.h"

#include "roles/master/testing/people_rig.h"

namespace hostler::master::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

struct MailSettings : PeopleTest {
    MailSettings() {
        settings.public_url = "https://gpu.example.com";
        settings.mail = {.server = "smtp://mail.example.com:587",
                         .user = "cloud",
                         .password = "mail horse",
                         .from = "cloud@example.com"};
        outgoing.mail_servers["smtp://mail.example.com"] = [this](const Mail&) { return answer; };
    }
    Reply invite(const std::string& email) {
        const std::string to = email.empty() ? "" : fmt::format(R"(,"email":"{}")", email);
        return post("/v1/invitations", fmt::format(R"({{"role":"member","tenantID":"acme"{}}})", to));
    }
    std::vector<std::string> events(const std::string& id) const {
        std::vector<std::string> reasons;
        for (const EventRecord& event : store.log)
            if (event.id == id && event.reason.starts_with("mail")) reasons.push_back(event.reason);
        return reasons;
    }
    Result<> answer;
};

using Letters = MailSettings;

TEST_F(Letters, AnInvitationIsSentToItsAddress) {
    const Reply made = invite("ann@example.com");
    ASSERT_EQ(made.status, 201) << made.text;
    EXPECT_EQ(made.at("mail"), "queued");
    ASSERT_EQ(outgoing.mailed.size(), 1u);
    const Mail& mail = outgoing.mailed[0];
    EXPECT_THAT(mail.to, ElementsAre("ann@example.com"));
    EXPECT_EQ(mail.from, "cloud@example.com");
    EXPECT_EQ(mail.safety, MailSafety::encrypted);
    EXPECT_EQ(mail.password, "mail horse");
    EXPECT_THAT(mail.text, HasSubstr("the role member in tenant acme at https://gpu.example.com"));
    EXPECT_THAT(mail.text,
                HasSubstr("hostler invitation accept --api https://gpu.example.com --login LOGIN"));
    EXPECT_THAT(mail.text, HasSubstr(made.at("secret")));
    EXPECT_EQ(made.at("link"), "https://gpu.example.com/sign-in/invitation?secret=" + made.at("secret"));
    EXPECT_THAT(mail.text, HasSubstr("\n\nAccept it in a browser, until "));
    EXPECT_THAT(mail.text, HasSubstr(":\n\n    " + made.at("link") + "\n\nOr at a command line:\n\n"));
    EXPECT_LT(mail.text.find(made.at("link")), mail.text.find("hostler invitation accept")) << "it is first";
    EXPECT_THAT(events(made.at("id")), ElementsAre("mail_sent"));
    EXPECT_FALSE(anywhere_in_store("mail horse"));
}

TEST_F(Letters, WithoutAPublicAddressALetterHasNoLink) {
    settings.public_url_guessed = true;
    EXPECT_EQ(invite("ann@example.com").at("link"), "");
    ASSERT_EQ(outgoing.mailed.size(), 1u);
    EXPECT_THAT(outgoing.mailed[0].text, HasSubstr("\n\nAccept it at a command line, until "));
    EXPECT_THAT(outgoing.mailed[0].text, Not(HasSubstr("sign-in/invitation")));
}

TEST_F(Letters, PasswordLinksAreSentToo) {
    const Reply made = post("/v1/users", R"({"login":"ann","tenantID":"acme","email":"ann@example.com"})");
    ASSERT_EQ(made.status, 201) << made.text;
    EXPECT_EQ(made.at("mail"), "queued");
    const Reply link = post(fmt::format("/v1/users/{}/password-link", made.at("id")), "");
    EXPECT_EQ(link.at("mail"), "queued") << link.text;
    ASSERT_EQ(outgoing.mailed.size(), 2u);
    EXPECT_THAT(outgoing.mailed[0].text, HasSubstr(made.at("secret")));
    EXPECT_THAT(outgoing.mailed[1].text, HasSubstr(link.at("secret")));
    EXPECT_THAT(outgoing.mailed[1].text, HasSubstr("hostler password reset --api https://gpu.example.com"));
    EXPECT_EQ(link.at("link"), "https://gpu.example.com/sign-in/password?secret=" + link.at("secret"));
    EXPECT_EQ(made.at("link"), "https://gpu.example.com/sign-in/password?secret=" + made.at("secret"));
    EXPECT_THAT(outgoing.mailed[0].text, HasSubstr(made.at("link")));
    EXPECT_THAT(outgoing.mailed[1].text, HasSubstr("Set the password of ann in a browser, until "));
    EXPECT_LT(outgoing.mailed[1].text.find(link.at("link")), outgoing.mailed[1].text.find("hostler password"))
        << "it is first";
    EXPECT_NE(outgoing.mailed[0].id, outgoing.mailed[1].id);
}

TEST_F(Letters, WithoutServerOrAddressTheAnswerSaysSo) {
    EXPECT_EQ(invite("").at("mail"), "none");
    EXPECT_EQ(post("/v1/users", R"({"login":"bob","tenantID":"acme"})").at("mail"), "none");
    settings.mail.server.clear();
    const Reply made = invite("ann@example.com");
    EXPECT_EQ(made.status, 201);
    EXPECT_EQ(made.at("mail"), "off");
    EXPECT_FALSE(made.at("secret").empty());
    EXPECT_TRUE(outgoing.mailed.empty());
}

TEST_F(Letters, OneThatIsRefusedIsAnEventAndTheInvitationStays) {
    answer = fail(Code::invalid, "550 no such mailbox", "mail_refused");
    const Reply made = invite("ann@example.com");
    EXPECT_EQ(made.status, 201);
    EXPECT_THAT(events(made.at("id")), ElementsAre("mail_failed"));
    EXPECT_EQ(outgoing.mailed.size(), 1u);
    EXPECT_TRUE(desk().estate.invitations.find(made.at("id")));
}

TEST_F(Letters, AServerThatIsAwayIsTriedAgain) {
    answer = fail(Code::unavailable, "no connection");
    const Reply made = invite("ann@example.com");
    timers.advance(10s);
    EXPECT_EQ(outgoing.mailed.size(), 2u);
    EXPECT_TRUE(events(made.at("id")).empty());
    answer = {};
    timers.advance(60s);
    EXPECT_EQ(outgoing.mailed.size(), 3u);
    EXPECT_THAT(events(made.at("id")), ElementsAre("mail_sent"));
    answer = fail(Code::unavailable, "no connection");
    const Reply lost = invite("bob@example.com");
    timers.advance(400s);
    EXPECT_THAT(events(lost.at("id")), ElementsAre("mail_failed"));
    EXPECT_EQ(outgoing.mailed.size(), 7u);
}

TEST_F(Letters, OfOneTenantAreBounded) {
    for (int i = 0; i < static_cast<int>(letters_tenant.burst); ++i)
        ASSERT_EQ(invite("ann@example.com").at("mail"), "queued") << i;
    EXPECT_EQ(invite("ann@example.com").at("mail"), "limited");
    timers.advance(40s);
    EXPECT_EQ(invite("ann@example.com").at("mail"), "queued");
}

TEST_F(Letters, ADryRunSendsNothing) {
    const Reply made = post("/v1/invitations?dryRun=true",
                            R"({"role":"member","tenantID":"acme","email":"ann@example.com"})");
    EXPECT_EQ(made.at("mail"), "queued") << made.text;
    EXPECT_TRUE(outgoing.mailed.empty());
}

}  // namespace
}  // namespace hostler::master::testing
