// The Net, Keys, Authority and Digest ports on real sockets with OpenSSL, and in the simulation.
#include "adapters/net/net.h"
#include "adapters/net/authority.h"
#include "adapters/net/digest.h"
#include "authority_contract.h"
#include "core/testing/temp_folder.h"
#include "net_contract.h"
#include "world_rig.h"

namespace hostler::contract {

namespace {

std::unique_ptr<Authority> new_authority(const testing::TempFolder& folder) {
    static const auto random = net::make_random();
    return net::open_authority(
               folder.path(), *random,
               std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now()))
        .value();
}

class OpenSslRig : public AuthorityRig {
public:
    Keys& keys() override { return *keys_; }
    Authority& authority() override { return *authority_; }
    Authority& stranger() override { return *stranger_; }
    Digest& digest() override { return digest_; }

private:
    std::unique_ptr<Keys> keys_ = net::make_keys();
    testing::TempFolder folder_, strangers_folder_;
    std::unique_ptr<Authority> authority_ = new_authority(folder_),
                               stranger_ = new_authority(strangers_folder_);
    net::OpenSslDigest digest_;
};

class SimAuthorityRig : public AuthorityRig {
public:
    Keys& keys() override { return keys_; }
    Authority& authority() override { return authority_; }
    Authority& stranger() override { return stranger_; }
    Digest& digest() override { return digest_; }

private:
    sim::SimKeys keys_{sim::Dice{1}};
    sim::SimAuthority authority_{sim::Dice{2}}, stranger_{sim::Dice{3}};
    sim::SimDigest digest_;
};

INSTANTIATE_TEST_SUITE_P(
    All, AuthorityContract,
    ::testing::Values(AuthorityKind{"openssl", [] { return std::make_unique<OpenSslRig>(); }},
                      AuthorityKind{"sim", [] { return std::make_unique<SimAuthorityRig>(); }}),
    [](const auto& kind) { return kind.param.name; });

class SocketRig : public RealRig<NetRig> {
public:
    Timers& timers() override { return *clock_; }
    Net& net() override { return *net_; }
    Keys& keys() override { return trust_.keys(); }
    Authority& authority() override { return trust_.authority(); }
    Authority& stranger() override { return trust_.stranger(); }

private:
    std::unique_ptr<Timers> clock_ = net::make_timers(loop_);
    std::unique_ptr<Net> net_ = net::make_net(loop_);
    OpenSslRig trust_;
};

class SimNetRig : public WorldRig<NetRig> {
public:
    Net& net() override { return life().net; }
    Keys& keys() override { return trust_.keys(); }
    Authority& authority() override { return trust_.authority(); }
    Authority& stranger() override { return trust_.stranger(); }

private:
    SimAuthorityRig trust_;
};

INSTANTIATE_TEST_SUITE_P(All, NetContract,
                         ::testing::Values(Kind<NetRig>{"sockets",
                                                        [] { return std::make_unique<SocketRig>(); }},
                                           Kind<NetRig>{"sim", [] { return std::make_unique<SimNetRig>(); }}),
                         kind_name);

}  // namespace

}  // namespace hostler::contract
