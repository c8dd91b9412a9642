// Ports of an instance at ports of this machine.
#include "api/operations_instance.h"
#include "cli/fake_api_test.h"
#include "core/testing/memory_stream.h"

namespace hostler::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class ForwardTest : public CliTest {
protected:
    ForwardTest() {
        api.handlers.on<api::ops::get_instance>([](api::Call, api::GetInstance named) -> Task<api::Instance> {
            co_return api::Instance{
                .id = "i-1", .instance_id = named.instance, .gateway = "http://127.0.0.1:7481"};
        });
        world.stdio = [] { return StreamPtr{}; };
    }
};

TEST_F(ForwardTest, APortInUseIsNoApiThatCannotBeReached) {
    api.listen_refusal = {Code::unavailable, "listening at 127.0.0.1:8080: Address already in use",
                          "address_in_use"};
    EXPECT_EQ(run({"port-forward", "nb", "8080"}), static_cast<int>(Exit::conflict));
    EXPECT_THAT(err, HasSubstr("hostler: port 8080 of this machine is in use\n"));
    EXPECT_THAT(err, HasSubstr("as OTHER:8080, or 0:8080 for any that is free"));
    api.listen_refusal = {Code::unavailable, "listening at 127.0.0.1:80: Permission denied"};
    EXPECT_EQ(run({"port-forward", "nb", "80:8080"}), static_cast<int>(Exit::conflict));
    EXPECT_THAT(err,
                HasSubstr("cannot listen on port 80 of this machine: listening at 127.0.0.1:80: Permission"));
    EXPECT_THAT(err, Not(HasSubstr("in use")));
}

TEST_F(ForwardTest, WhatIsNoPortIsRefusedBeforeTheApiIsAsked) {
    EXPECT_EQ(run({"port-forward", "nb", "http"}), static_cast<int>(Exit::usage));
    EXPECT_THAT(err, HasSubstr("'http' is no port; write [LOCAL:]REMOTE, as 8080 or 18080:8080"));
    EXPECT_TRUE(api.requests.empty());
}

}  // namespace
}  // namespace hostler::cli
