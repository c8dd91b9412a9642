// Pages that a link with a secret opens, which hold to the same rules.
#pragma once

#include "roles/master/testing/people_rig.h"

namespace hostler::master::testing {

struct LinkPageTest : PeopleTest {
    // `guess`: a secret that does not exist.
    LinkPageTest(std::string_view path, std::string_view guess)
        : address_of_guess_(fmt::format("{}?secret={}", path, guess)), path_(path) {
        settings.public_url = "https://gpu.example.com/";
        headers = "Sec-Fetch-Site: same-origin\r\n";
    }
    Reply open(const std::string& secret) {
        return call("GET", fmt::format("{}?secret={}", path_, percent_encode(secret)));
    }

    void expect_safe_to_show(const Reply& page) {
        EXPECT_THAT(page.text, ::testing::HasSubstr("Referrer-Policy: same-origin\r\n"));
        EXPECT_THAT(page.text, ::testing::HasSubstr("Cache-Control: no-store\r\n"));
        EXPECT_THAT(page.text, ::testing::HasSubstr("default-src 'none'"));
        EXPECT_THAT(page.text, ::testing::Not(::testing::HasSubstr("<script")));
    }
    void expect_no_other_origin(const std::function<Reply()>& sends) {
        for (const char* from : {"Sec-Fetch-Site: cross-site\r\n", "Origin: https://evil.example\r\n",
                                 "Sec-Fetch-Site: cross-site\r\nOrigin: null\r\n", "Origin: null\r\n"}) {
            headers = from;
            EXPECT_EQ(sends().status, 403) << from;
        }
        headers.clear();
    }
    void expect_rate_of_strangers() {
        settings.admission.stranger_rate = {.per_second = 0.01, .burst = 2};
        Front slow{ports, settings, lead};
        TaskGroup group{loop};
        const auto ask = [&] {
            auto [ours, theirs] = hostler::testing::memory_pair(1 << 20, "server", address);
            group.start("slow", slow.serve(std::move(ours)));
            const std::string text = fmt::format("GET {} HTTP/1.1\r\nHost: api\r\n\r\n", address_of_guess_);
            EXPECT_TRUE(hostler::testing::run(loop, write_all(*theirs, std::string{text})));
            timers.settle();
            return reply_in(clients.emplace_back(std::move(theirs))->unread()).status;
        };
        EXPECT_EQ(ask(), 404);
        EXPECT_EQ(ask(), 404);
        EXPECT_EQ(ask(), 429);
        clients.clear();
        (void)hostler::testing::try_run(loop, group.close());
    }
    // `makes`: a link.
    void expect_a_link_of_public_addresses_alone(const std::function<Reply()>& makes) {
        settings.public_url_guessed = true;
        EXPECT_THAT(makes().text, ::testing::Not(::testing::HasSubstr("\"link\"")));
        settings.public_url_guessed = false;
        settings.public_url.clear();
        const Reply made = makes();
        EXPECT_THAT(made.text, ::testing::Not(::testing::HasSubstr("\"link\"")));
        EXPECT_THAT(open(made.at("secret")).text, ::testing::HasSubstr("http://api"))
            << "the page works all the same";
    }
    // Answers to secrets that are not good; they differ in nothing.
    void expect_alike_and_nothing_hashed(const std::vector<std::string>& secrets,
                                         const std::function<std::vector<Reply>(const std::string&)>& asks) {
        const int before = passwords.asked;
        std::set<std::string> answers;
        for (const std::string& secret : secrets)
            for (const Reply& page : asks(secret)) {
                EXPECT_EQ(page.status, 404) << secret;
                answers.insert(page.text.substr(page.text.find("\r\n\r\n")));
            }
        EXPECT_EQ(answers.size(), 1u);
        EXPECT_EQ(passwords.asked, before) << "nothing is hashed for them";
    }

private:
    std::string address_of_guess_, path_;
};

}  // namespace hostler::master::testing
