// For tests of people and their credentials: a front that is asked over HTTP, as anybody asks it.
#pragma once

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <regex>

#include "core/percent.h"
#include "core/testing/memory_stream.h"
#include "roles/master/server/front.h"
#include "roles/master/testing/term_rig.h"

namespace hostler::master::testing {

struct PeopleSettings : TermRig {
    PeopleSettings() {
        settings.operator_key_hash = "#hk_operator";
        settings.admission.stranger_rate = {.per_second = 1e6, .burst = 1e6};
    }
};

struct PeopleTest : ::testing::Test, PeopleSettings {
    static constexpr std::string_view root = "hk_operator";
    static constexpr std::string_view good_password = "correct horse";

    PeopleTest() {
        desk().estate.zones.add({.name = "nj"});
        (void)commit();
    }
    ~PeopleTest() override {
        clients.clear();
        (void)hostler::testing::try_run(loop, connections.close());
    }

    // A text in which the id of the request is left out: it differs in each answer.
    static std::string without_request(const std::string& text) {
        static const std::regex id{"r-[0-9a-f]{16}"};
        return std::regex_replace(text, id, "r-");
    }
    struct Reply {
        int status = 0;  // 0: there is no answer yet.
        std::string text;
        boost::json::value body;
        std::string at(std::string_view name) const {
            const auto* value = body.is_object() ? body.get_object().if_contains(name) : nullptr;
            return value && value->is_string() ? std::string{value->get_string()} : "";
        }
        std::string code() const { return at("code"); }
        std::size_t items() const { return body.at("items").as_array().size(); }
    };
    static Reply reply_in(std::string_view bytes) {
        Reply reply{.text = std::string{bytes}};
        const auto head = bytes.find("\r\n\r\n");
        if (head == bytes.npos) return reply;
        reply.status = std::stoi(std::string{bytes.substr(9, 3)});
        boost::system::error_code error;
        reply.body = boost::json::parse(bytes.substr(head + 4), error);
        return reply;
    }
    hostler::testing::MemoryStream& send(const std::string& method, const std::string& target,
                                         const std::string& body, std::string_view secret) {
        auto [ours, theirs] = hostler::testing::memory_pair(4 << 20, "server", address);
        connections.start("connection", front.serve(std::move(ours)));
        std::string text =
            fmt::format("{} {} HTTP/1.1\r\nHost: api\r\nUser-Agent: tester/1\r\n", method, target);
        if (!body.empty()) text += fmt::format("Content-Length: {}\r\n", body.size());
        if (!secret.empty()) text += fmt::format("Authorization: Bearer {}\r\n", secret);
        text += headers;
        EXPECT_TRUE(hostler::testing::run(loop, write_all(*theirs, text + "\r\n" + body)));
        timers.settle();
        return *clients.emplace_back(std::move(theirs));
    }
    Reply call(const std::string& method, const std::string& target, const std::string& body = "",
               std::string_view secret = "") {
        return reply_in(send(method, target, body, secret).unread());
    }
    Reply get(const std::string& target, std::string_view secret = root) {
        return call("GET", target, "", secret);
    }
    Reply post(const std::string& target, const std::string& body, std::string_view secret = root) {
        return call("POST", target, body, secret);
    }

    // The id of a user with a password.
    std::string user(const std::string& login, const std::string& tenant = "acme") {
        const Reply made = post(
            "/v1/users", tenant.empty() ? fmt::format(R"({{"login":"{}"}})", login)
                                        : fmt::format(R"({{"login":"{}","tenantID":"{}"}})", login, tenant));
        EXPECT_EQ(made.status, 201) << made.text;
        const Reply set = reset(made.at("secret"), std::string{good_password});
        EXPECT_EQ(set.status, 200) << set.text;
        return made.at("id");
    }
    Reply reset(const std::string& secret, const std::string& password) {
        return post("/v1/password-reset",
                    fmt::format(R"({{"secret":"{}","newPassword":"{}"}})", secret, password), "");
    }
    Reply sign_in(const std::string& login, std::string_view password = good_password,
                  const std::string& code = "") {
        return post("/v1/sign-in", sign_in_body(login, password, code), "");
    }
    static std::string sign_in_body(const std::string& login, std::string_view password,
                                    const std::string& code = "") {
        const std::string more = code.empty() ? "" : fmt::format(R"(,"code":"{}")", code);
        return fmt::format(R"({{"login":"{}","password":"{}"{}}})", login, password, more);
    }
    // The secret of a new session.
    std::string session(const std::string& login) {
        const Reply made = sign_in(login);
        EXPECT_EQ(made.status, 200) << made.text;
        return made.at("secret");
    }
    int whoami(const std::string& secret) { return get("/v1/whoami", secret).status; }
    bool anywhere_in_store(std::string_view text) const {
        for (const auto& [key, object] : store.objects)
            if (object.body.contains(text)) return true;
        for (const EventRecord& event : store.log)
            if (event.message.contains(text)) return true;
        for (const AuditLine& line : store.lines)
            if (line.before.contains(text) || line.after.contains(text)) return true;
        return false;
    }

    std::string address = "203.0.113.7:5000";
    std::string headers;  // More of them, with their line ends.
    Front front{ports, settings, lead};
    TaskGroup connections{loop};
    std::vector<std::unique_ptr<hostler::testing::MemoryStream>> clients;
};

}  // namespace hostler::master::testing
