#include "adapters/docker/host_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "core/testing/file_tree.h"

namespace hostler::docker {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class HostFiles : public ::testing::Test {
protected:
    // The files' contents by name; folders are left out.
    std::map<std::string, std::string> files() {
        std::map<std::string, std::string> found;
        for (const auto& file : host_files(tree.path(), variables))
            if (!file.name.ends_with('/')) found[file.name] = file.content;
        return found;
    }
    testing::FileTree tree;
    std::map<std::string, std::string> environment;
    Variables variables = [this](const char* name) {
        const auto found = environment.find(name);
        return found == environment.end() ? nullptr : found->second.c_str();
    };
};

TEST_F(HostFiles, ABareHostSaysNothing) {
    EXPECT_EQ(files(), (std::map<std::string, std::string>{{"host/etc/pip.conf", "[global]\n"}}));
}

TEST_F(HostFiles, ItsAuthoritiesLieWhereDebianHasThem) {
    tree.write("etc/pki/tls/certs/ca-bundle.crt", "of Red Hat");
    EXPECT_EQ(files()["host/etc/ssl/certs/ca-certificates.crt"], "of Red Hat");
    EXPECT_EQ(files()["host/etc/pip.conf"], "[global]\ncert = /etc/ssl/certs/ca-certificates.crt\n");
    tree.write("opt/ours.pem", "ours");
    environment["SSL_CERT_FILE"] = "/opt/ours.pem";
    EXPECT_EQ(files()["host/etc/ssl/certs/ca-certificates.crt"], "ours");
    std::vector<std::string> names;
    for (const auto& file : host_files(tree.path(), variables)) names.push_back(file.name);
    EXPECT_THAT(names, ElementsAre("host/", "host/etc/", "host/etc/pip.conf", "host/etc/ssl/",
                                   "host/etc/ssl/certs/", "host/etc/ssl/certs/ca-certificates.crt"))
        << "a folder stands before what is in it";
}

TEST_F(HostFiles, PipIsToldWhatReachesItsIndexAndNothingElse) {
    tree.write("etc/pip.conf",
               "# Ours.\n[global]\nIndex_URL = https://packages.example/simple\nfind-links = /opt/wheels\n"
               "extra-index-url =\n    https://one.example/\n    https://two.example/\ntimeout: 10\n"
               "[install]\nretries = 7\ntimeout = 20\n[list]\nproxy = http://of-another-command\n");
    EXPECT_EQ(files()["host/etc/pip.conf"],
              "[global]\nindex-url = https://packages.example/simple\n"
              "extra-index-url =  https://one.example/ https://two.example/\ntimeout = 20\nretries = 7\n");
    environment["PIP_INDEX_URL"] = "https://environment.example/simple";
    environment["PIP_DEFAULT_TIMEOUT"] = "180";
    environment["PIP_FIND_LINKS"] = "/opt/wheels";
    EXPECT_EQ(files()["host/etc/pip.conf"],
              "[global]\nindex-url = https://environment.example/simple\n"
              "extra-index-url =  https://one.example/ https://two.example/\ntimeout = 180\nretries = 7\n");
    tree.write("opt/pip.conf", "[global]\ntrusted-host = packages.example\n");
    environment = {{"PIP_CONFIG_FILE", "/opt/pip.conf"},
                   {"PIP_PROXY", "http://proxy\n[install]\nno-deps = 1"}};
    EXPECT_EQ(files()["host/etc/pip.conf"],
              "[global]\ntrusted-host = packages.example\nproxy = http://proxy [install] no-deps = 1\n");
}

TEST_F(HostFiles, PipMayHaveAuthoritiesOfItsOwn) {
    tree.write("etc/ssl/certs/ca-certificates.crt", "all");
    tree.write("opt/index.pem", "the index's");
    tree.write("etc/pip.conf", "[global]\ncert = /opt/index.pem\n");
    EXPECT_EQ(files()["host/etc/pip.conf"], "[global]\ncert = /etc/pip-authorities.crt\n");
    EXPECT_EQ(files()["host/etc/pip-authorities.crt"], "the index's");
    EXPECT_EQ(files()["host/etc/ssl/certs/ca-certificates.crt"], "all");
    tree.remove("opt/index.pem");
    EXPECT_EQ(files()["host/etc/pip.conf"], "[global]\ncert = /etc/ssl/certs/ca-certificates.crt\n");
}

TEST_F(HostFiles, ProxiesAreArgumentsOfTheBuild) {
    EXPECT_EQ(proxy_arguments(variables), "{}");
    environment = {{"https_proxy", "http://proxy.example:3128"},
                   {"NO_PROXY", "localhost"},
                   {"no_proxy", ""},
                   {"HOME", "/root"}};
    EXPECT_EQ(proxy_arguments(variables),
              R"({"https_proxy":"http://proxy.example:3128","NO_PROXY":"localhost"})");
}

}  // namespace
}  // namespace hostler::docker
