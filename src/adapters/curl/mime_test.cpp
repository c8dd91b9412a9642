#include "adapters/curl/mime.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include "adapters/curl/reach.h"

namespace hostler::curl {
namespace {

using ::testing::HasSubstr;

Mail sample() {
    return {.server = "smtp://mail.example.com:587",
            .from = "alerts@example.com",
            .to = {"a@example.com", "b@example.com"},
            .subject = "[FIRING:1] GpuHot",
            .text = "hot\n.\nstill hot\n",
            .html = "",
            .id = "n-1",
            .date = WallTime{std::chrono::seconds{1'800'000'000}}};
}

TEST(Mime, ALetterOfTextAlone) {
    EXPECT_EQ(mime_message(sample()),
              "Date: Fri, 15 Jan 2027 08:00:00 +0000\r\nFrom: alerts@example.com\r\nTo: a@example.com,\r\n "
              "b@example.com\r\n"
              "Subject: [FIRING:1] GpuHot\r\nMessage-ID: <n-1@example.com>\r\nAuto-Submitted: "
              "auto-generated\r\n"
              "MIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: "
              "base64\r\n\r\n"
              "aG90Ci4Kc3RpbGwgaG90Cg==\r\n");
}

TEST(Mime, NoLineIsTooLongAndNoCharacterIsCut) {
    Mail mail = sample();
    mail.subject.clear();
    for (int i = 0; i < 60; ++i) mail.subject += "Überhitzt ";
    mail.text = std::string(5000, 'x');
    mail.html = "<p>" + std::string(5000, 'y');
    const std::string message = mime_message(mail);
    std::string_view rest = message;
    while (!rest.empty()) {
        const auto end = rest.find("\r\n");
        ASSERT_NE(end, std::string_view::npos);
        EXPECT_LE(end, 78U);
        EXPECT_EQ(rest.substr(0, end).find_first_of("\r\n"), std::string_view::npos);
        rest.remove_prefix(end + 2);
    }
    EXPECT_THAT(message, HasSubstr("multipart/alternative"));
}

bool admitted(const ReachPolicy& policy, Reach reach, const char* address) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    inet_pton(AF_INET, address, &to.sin_addr);
    return admits(policy, reach, reinterpret_cast<const sockaddr&>(to));
}

TEST(Reach, TenantsGoOutAndOperatorsAnywhere) {
    const ReachPolicy policy{
        .allowed = {parse_ip_range("10.7.0.0/16").value(), parse_ip_range("9.0.0.0/8").value()},
        .refused = {parse_ip_range("9.9.0.0/16").value()}};
    for (const auto* inside : {"127.0.0.1", "169.254.169.254", "10.8.0.1"}) {
        EXPECT_FALSE(admitted(policy, Reach::outside, inside)) << inside;
        EXPECT_TRUE(admitted(policy, Reach::anywhere, inside)) << inside;
    }
    EXPECT_TRUE(admitted(policy, Reach::outside, "8.8.8.8"));
    EXPECT_TRUE(admitted(policy, Reach::outside, "10.7.1.1")) << "allowed";
    EXPECT_FALSE(admitted(policy, Reach::outside, "9.9.9.9")) << "refused, though allowed and public";
    sockaddr unix_socket{};
    unix_socket.sa_family = AF_UNIX;
    EXPECT_FALSE(admits(policy, Reach::anywhere, unix_socket));
}

}  // namespace
}  // namespace hostler::curl
