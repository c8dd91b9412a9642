#include "core/server_names.h"

#include <gmock/gmock.h>

namespace hostler {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(ServerNames, EachIsThereOnceAndAddressesHaveOneSpelling) {
    const auto names =
        checked({.dns = {"core", "*.apps.example.com", "x-1.example.com", "core"},
                 .addresses = {"10.0.0.1", "2001:DB8:0:0::1", "10.0.0.1", "2001:db8::1", "::1"}});
    ASSERT_TRUE(names) << names.error().message;
    EXPECT_EQ(names->dns, (std::vector<std::string>{"core", "*.apps.example.com", "x-1.example.com"}));
    EXPECT_EQ(names->addresses, (std::vector<std::string>{"10.0.0.1", "2001:db8::1", "::1"}));
    EXPECT_TRUE(checked({})->empty());
}

TEST(ServerNames, WhatCannotBeOneIsRefused) {
    const std::string label(63, 'a'), long_name = label + "." + label + "." + label + "." + label;
    EXPECT_TRUE(checked({.dns = {label + ".example"}, .addresses = {}}));
    for (const std::string& name : {std::string{},
                                    std::string{"a b"},
                                    std::string{"A.example"},
                                    std::string{"a_b.example"},
                                    std::string{"a..b"},
                                    std::string{".a"},
                                    std::string{"a."},
                                    std::string{"-a.example"},
                                    std::string{"a-.example"},
                                    std::string{"*"},
                                    std::string{"*."},
                                    std::string{"a.*.example"},
                                    std::string{"*.*.example"},
                                    std::string{"10.0.0.1"},
                                    std::string{"::1"},
                                    std::string{"https://a"},
                                    std::string{"a,URI:hostler://master/m"},
                                    std::string{"a\n"},
                                    std::string{"b\xc3\xbc.example"},
                                    std::string("a\0b", 3),
                                    label + "a.example",
                                    long_name})
        EXPECT_EQ(checked({.dns = {name}, .addresses = {}}).error().code, Code::invalid) << name;
    for (const char* address :
         {"", "localhost", "10.0.0", "10.0.0.256", "[::1]", "fe80::1%eth0", "10.0.0.1:80", "10.0.0.0/8"})
        EXPECT_EQ(checked({.dns = {}, .addresses = {address}}).error().code, Code::invalid) << address;
}

TEST(ServerNames, EveryWrongOneIsNamed) {
    const auto refused = checked({.dns = {"a b", "api.example.com", "10.0.0.1"}, .addresses = {"x", "::1"}});
    ASSERT_FALSE(refused);
    EXPECT_EQ(
        refused.error().message,
        "'a b' is no host name that a certificate can have; '10.0.0.1' is no host name that a certificate "
        "can have; 'x' is no IP address");
}

TEST(ServerNames, AreNotMoreThanACertificateHas) {
    ServerNames names;
    for (std::size_t i = 0; i < server_names_max; ++i) names.dns.push_back(fmt::format("n{}.example", i));
    EXPECT_TRUE(checked(names));
    names.addresses.push_back("::1");
    EXPECT_THAT(checked(names).error().message,
                HasSubstr("65 names and addresses; a certificate has 64 at most"));
}

}  // namespace
}  // namespace hostler
