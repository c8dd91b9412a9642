#include "adapters/docker/registries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "domain/image/image.h"

namespace hostler::docker {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

TEST(Registries, AreTheFirstPartOfAFullName) {
    for (const auto& [image, registry] :
         std::map<std::string, std::string>{{"nginx", "docker.io"},
                                            {"acme/tool:1", "docker.io"},
                                            {"127.0.0.1:5000/a", "127.0.0.1:5000"},
                                            {"localhost:5000/a", "localhost:5000"},
                                            {"2130706433:80/a:1", "2130706433:80"},
                                            {"quay.io/a/b@sha256:00", "quay.io"}})
        EXPECT_EQ(registry_of(full_image_name(image)), registry) << image;
}

TEST(Registries, AreNamedWithTheirPortOrForAllOfThem) {
    const auto named = parse_registries({"Registry.lan", "127.0.0.1:5000"}, false);
    ASSERT_TRUE(named) << named.error().message;
    for (const char* yes : {"registry.lan", "registry.lan:5000", "REGISTRY.LAN", "127.0.0.1:5000"})
        EXPECT_TRUE(named->names(yes)) << yes;
    for (const char* no : {"127.0.0.1", "127.0.0.1:5001", "x.registry.lan", "registry.lan.evil.example", ""})
        EXPECT_FALSE(named->names(no)) << no;
    for (const std::string wrong : {"", "http://a", "a/b", "a:", "a:b", "a:123456", "-a", "a b", ":5000"}) {
        const auto refused = parse_registries({"ok.example", wrong}, false);
        ASSERT_FALSE(refused) << wrong;
        EXPECT_THAT(refused.error().message, HasSubstr("'" + wrong + "'"));
    }
    EXPECT_THAT(parse_registries(std::vector<std::string>(registries_max + 1, "a"), false).error().message,
                HasSubstr("registries_max"));
    EXPECT_FALSE(parse_registries({}, true));
    EXPECT_TRUE(parse_registries({"a"}, true)->only);
}

TEST(Registries, LeadToThePublicAndNotToTheHostsNetworks) {
    const std::vector<IpRange> networks{parse_ip_range("11.22.33.0/24").value(),
                                        parse_ip_range("2a00:1450:1::/64").value()};
    const auto refusal = [&](std::vector<std::string> addresses) { return refusal_of(addresses, networks); };
    EXPECT_THAT(refusal({"93.184.216.34:443", "[2606:4700::1111]:443"}), IsEmpty());
    for (const char* inside :
         {"127.0.0.1:443", "10.1.2.3:80", "169.254.169.254:80", "100.64.0.1:443", "0.0.0.0:1", "[::1]:443",
          "[fd00::1]:443", "[fe80::1%eth0]:443", "[::ffff:10.0.0.1]:443", "11.22.33.44:443",
          "[2a00:1450:1::5]:443", "nonsense:1"}) {
        EXPECT_THAT(refusal({inside}), HasSubstr("inside")) << inside;
        EXPECT_THAT(refusal({"93.184.216.34:443", inside}), HasSubstr("inside")) << "one of two: " << inside;
    }
    EXPECT_THAT(refusal({}), HasSubstr("no address"));
    const auto own = networks_of_host();
    ASSERT_TRUE(own) << own.error().message;
    EXPECT_TRUE(std::ranges::any_of(
        *own, [](const IpRange& range) { return range.contains(parse_ip("127.0.0.1").value()); }));
}

}  // namespace
}  // namespace hostler::docker
