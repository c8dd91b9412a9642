#include "domain/image/image.h"

#include <gtest/gtest.h>

namespace hostler {
namespace {

TEST(ImageName, IsTheSameHoweverItIsSaid) {
    EXPECT_EQ(full_image_name("nginx"), "docker.io/library/nginx:latest");
    EXPECT_EQ(full_image_name("nginx:1.27"), "docker.io/library/nginx:1.27");
    EXPECT_EQ(full_image_name("acme/tool"), "docker.io/acme/tool:latest");
    EXPECT_EQ(full_image_name("docker.io/library/nginx:1.27"), "docker.io/library/nginx:1.27");
    EXPECT_EQ(full_image_name("quay.io/acme/tool:2"), "quay.io/acme/tool:2");
    EXPECT_EQ(full_image_name("registry:5000/tool"), "registry:5000/tool:latest") << "a port is no tag";
    EXPECT_EQ(full_image_name("localhost/hostler/jupyter:1"), "localhost/hostler/jupyter:1");
}

TEST(ImageName, ADigestSaysMoreThanATag) {
    EXPECT_EQ(full_image_name("nginx@sha256:ab"), "docker.io/library/nginx@sha256:ab");
    EXPECT_EQ(full_image_name("nginx:1@sha256:ab"), "docker.io/library/nginx@sha256:ab");
    EXPECT_EQ(full_image_name("registry:5000/tool@sha256:ab"), "registry:5000/tool@sha256:ab");
}

TEST(ImageName, SaidInFullItStaysAsItIs) {
    for (const char* name : {"nginx", "a/b", "h:1/b", "a@sha256:1", "", ":", "/", "@"})
        EXPECT_EQ(full_image_name(full_image_name(name)), full_image_name(name)) << name;
}

}  // namespace
}  // namespace hostler
