#include "roles/master/browser/sign_in_page.h"

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

TEST(SignIn, PagesRunNothingOfWhatTheyShow) {
    const std::string evil = "\"><script>alert('1')</script>";
    const std::vector<SignInChoice> choices{{evil, "/sign-in/oidc/example"}};
    const std::string page = sign_in_page({.target = evil,
                                           .opens = evil,
                                           .choices = choices,
                                           .complaint = "<b>&no</b>",
                                           .login = evil,
                                           .way = SignInWay::key});
    EXPECT_EQ(page.find("<script"), std::string::npos);
    EXPECT_EQ(page.find("<b>"), std::string::npos);
    EXPECT_NE(page.find("value=\"&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;\""),
              std::string::npos);
    EXPECT_NE(page.find("/sign-in/oidc/example?target=%22%3E%3Cscript%3E"), std::string::npos);
    EXPECT_NE(page.find("&lt;b&gt;&amp;no&lt;/b&gt;"), std::string::npos);
    EXPECT_NE(page.find("An operator makes a key with"), std::string::npos);
    EXPECT_EQ(sign_in_page({.target = "x", .opens = "x"}).find("role=\"alert\""), std::string::npos);
    const Device device{.letters = "BCDFGHJK", .host = evil, .address = "203.0.113.7", .client = "hostler/1"};
    const User user{.id = "u-1", .login = evil};
    for (const std::string& text :
         {sign_in_page({.target = "x", .device = &device}), confirm_page(device, user, evil),
          device_code_page(evil, evil), code_page(evil, evil), sign_in_notice(evil, evil, NoticeTone::bad)})
        EXPECT_EQ(text.find("<script"), std::string::npos) << text;
}

TEST(SignIn, AutofillKnowsTheFields) {
    const std::string page = sign_in_page({.target = "x", .opens = "x"});
    EXPECT_NE(page.find("autocomplete=\"username\""), std::string::npos);
    EXPECT_NE(page.find("autocomplete=\"current-password\""), std::string::npos);
    EXPECT_NE(code_page("x", "").find("autocomplete=\"one-time-code\""), std::string::npos);
    const Device device{
        .letters = "BCDFGHJK", .host = "laptop", .address = "203.0.113.7", .client = "hostler/1"};
    const std::string asked = sign_in_page({.target = "x", .device = &device});
    EXPECT_NE(asked.find("hostler/1 on laptop (203.0.113.7)"), std::string::npos);
    EXPECT_NE(asked.find("BCDF-GHJK"), std::string::npos);
    EXPECT_EQ(asked.find("id=\"key\""), std::string::npos) << "a command line takes a key by itself";
}

}  // namespace
}  // namespace hostler::master
