#include "roles/master/server/sign_in_page.h"

#include <gtest/gtest.h>

namespace hostler::master {
namespace {

const Gateway wildcard{.name = "g", .address = "http://localhost:8443", .domain = "localhost"};
const Gateway ports{.name = "g", .address = "https://gpu.example:8443", .domain = ""};

TEST(SignIn, ReturnsToTheGatewaysInstances) {
    const auto to = parse_return("http://8080-i-7f3k.localhost:8443/lab?x=1#y", wildcard);
    ASSERT_TRUE(to);
    EXPECT_EQ(to->origin, "http://8080-i-7f3k.localhost:8443");
    EXPECT_EQ(to->path, "/lab?x=1#y");
    EXPECT_EQ(to->route, "8080-i-7f3k");
    EXPECT_EQ(parse_return("http://8080-i-7f3k.localhost:8443", wildcard)->path, "/");
    EXPECT_EQ(parse_return("http://8080-i-7f3k.localhost:8443?x", wildcard)->path, "/");
    const auto own = parse_return("https://gpu.example:20001/a", ports);
    ASSERT_TRUE(own);
    EXPECT_EQ(own->own_port, 20001);
    EXPECT_TRUE(own->route.empty());
}

TEST(SignIn, ReturnsNowhereElse) {
    for (const std::string to : {"",
                                 "/",
                                 "//evil.example/",
                                 "http://evil.example/",
                                 "https://8080-i-7f3k.localhost:8443/",
                                 "javascript:alert(1)",
                                 "data:text/html,x",
                                 "http://8080-i-7f3k.localhost:8443.evil.example/",
                                 "http://8080-i-7f3k.localhost:8443@evil.example/",
                                 "http://u:p@8080-i-7f3k.localhost:8443/",
                                 "http://evil.example\\.localhost:8443/",
                                 "http://evil.example/.localhost:8443",
                                 "http://evil.example?.localhost:8443",
                                 "http://evil.example#.localhost:8443",
                                 "http://8080-i-7f3k.localhost:9999/",
                                 "http://8080-i-7f3k.localhost/",
                                 "http://.localhost:8443/",
                                 "http://localhost:8443/",
                                 "http://a.b.localhost:8443/",
                                 "http://A.localhost:8443/",
                                 "http://8080-i.localhost:8443/\r\nSet-Cookie: a=b",
                                 "http://8080-i.localhost:8443/ x",
                                 "http://8080-i.localhost:8443/\x01",
                                 "http://8080-i.localhost:8443/\"",
                                 "http://8080-i.localhost:8443/\\\\evil.example",
                                 "http://8080-i.localhost:8443/<",
                                 "HTTP://8080-i.localhost:8443/",
                                 "http:/8080-i.localhost:8443/"})
        EXPECT_EQ(parse_return(to, wildcard).error().reason, "return_unknown") << to;
    EXPECT_FALSE(parse_return("http://8080-i.localhost:8443/" + std::string(5000, 'a'), wildcard));
    for (const std::string to :
         {"https://gpu.example/", "https://gpu.example:/", "https://gpu.example:x/",
          "https://gpu.example:20001x/", "https://gpu.example:20001@evil.example/",
          "https://gpu.example.evil:20001/", "https://evil.example:20001/", "https://gpu.example:-5/",
          "https://gpu.example:0/", "https://gpu.example:70000/", "http://gpu.example:20001/"})
        EXPECT_FALSE(parse_return(to, ports)) << to;
}

TEST(SignIn, ThePageSaysWhatItIsGivenAndRunsNothingOfIt) {
    const std::string page = sign_in_page("\"><script>alert('1')</script>", "<b>&no</b>");
    EXPECT_EQ(page.find("<script"), std::string::npos);
    EXPECT_EQ(page.find("<b>"), std::string::npos);
    EXPECT_NE(page.find("value=\"&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;\""),
              std::string::npos);
    EXPECT_NE(page.find("&lt;b&gt;&amp;no&lt;/b&gt;"), std::string::npos);
    EXPECT_NE(page.find("An operator makes one with"), std::string::npos) << "who gives a key";
    EXPECT_EQ(sign_in_page("x", "").find("role=\"alert\""), std::string::npos);
}

}  // namespace
}  // namespace hostler::master
