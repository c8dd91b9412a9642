// What the tests of containers on real engines, podman and dockerd, stand on.
#pragma once

#include <boost/json.hpp>
#include <filesystem>
#include <fstream>

#include "host_rig.h"

namespace hostler::contract {

inline const EngineKind podman{"podman", [] { return PodmanRig::shared(); }};
inline const EngineKind dockerd{"docker", [] { return DockerRig::shared(); }};
inline const auto engines = ::testing::Values(podman, dockerd);

class Containers : public EngineContract {
protected:
    HostRig& rig() { return static_cast<HostRig&>(*rig_); }
    // A demo server in `network` with the address that ends in `number`.
    std::string serve(const NetworkSpec& network, int number, std::string_view suffix, auto change) {
        auto spec = rig_->server(name(suffix));
        spec.network = network.id;
        spec.address = network.gateway.substr(0, network.gateway.rfind('.') + 1) + std::to_string(number);
        spec.hostname = "h" + std::to_string(number);
        change(spec);
        const auto launched = launch(spec);
        EXPECT_TRUE(launched) << launched.error().message;
        return spec.address;
    }
    std::string serve(const NetworkSpec& network, int number, std::string_view suffix = "a") {
        return serve(network, number, suffix, [](auto&) {});
    }
    std::string reach(const std::string& from, std::string_view host, int port) {
        return rig().get(from,
                         "/connect?host=" + std::string(host) + "&port=" + std::to_string(port) + "&ms=500");
    }
    void post(const std::string& target, std::string body, int status) {
        http::Client client{rig().net(), rig().timers()};
        http::Request request{.method = "POST", .target = target};
        request.headers.set("Host", "engine");
        request.headers.set("Content-Type", "application/json");
        request.body = std::move(body);
        const auto answer = run(client.fetch({"unix:" + rig().engine_settings().socket}, std::move(request)));
        ASSERT_TRUE(answer && answer->status == status) << (answer ? answer->body : answer.error().message);
    }
    // By the engine's API alone, with the name and labels of `spec`.
    void create_without_network(const ContainerSpec& spec, int status = 201) {
        boost::json::object labels;
        for (const auto& [key, value] : spec.labels) labels[key] = value;
        const boost::json::object body{{"Image", spec.image},
                                       {"Labels", std::move(labels)},
                                       {"HostConfig", boost::json::object{{"NetworkMode", "none"}}}};
        post("/containers/create?name=" + spec.name, boost::json::serialize(body), status);
    }
    void write_cdi(std::string_view text) {
        std::filesystem::create_directories(rig().folder() + "/cdi");
        std::ofstream{rig().folder() + "/cdi/test.json"} << text;
    }
};

}  // namespace hostler::contract
