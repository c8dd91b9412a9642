#include "api/field.h"
#include "api/operation.h"

#include <gtest/gtest.h>

namespace hostler::api {
namespace {

TEST(Forms, AnImageHasANameAndNotAnId) {
    const std::string hex = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    for (const std::string& id :
         {hex, hex.substr(0, 12), hex.substr(0, 40), "sha256:" + hex, std::string{"sha256:ab"}})
        EXPECT_TRUE(forms::image.check(id).contains("not its id")) << id;
    for (const std::string& name : {std::string{"nginx"}, std::string{"abc"}, "acme/" + hex,
                                    "nginx@sha256:" + hex, hex.substr(0, 12) + ":1", hex + "0"})
        EXPECT_EQ(forms::image.check(name), "") << name;
}

}  // namespace
}  // namespace hostler::api
