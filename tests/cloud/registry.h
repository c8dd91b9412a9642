// A registry of images on this machine: as much of the distribution API as a pull asks for, over plain HTTP.
#pragma once

#include "cloud.h"
#include "http/server.h"

namespace hostler::cloud {

// Its images by what their names contain:
//   secret   401 to everybody
//   denied   403 to everybody
//   broken   500
//   demo     the demo image. While it is held, its layer comes drop by drop and never ends.
//   others   404
class Registry {
public:
    // `layer`: the archive of the demo image's root file system.
    Registry(Web& web, ListenerPtr listener, std::string layer);
    ~Registry();
    Registry(const Registry&) = delete;

    std::string image(const std::string& name) const { return address_ + "/" + name + ":1"; }
    void hold() { held_ = true; }
    void let_go() { held_ = false; }
    int layers_begun() const { return layers_begun_; }  // Downloads of the layer, those that broke off too.

private:
    Task<> answer(http::Exchange& exchange);
    Task<> send_layer(http::Exchange& exchange);

    Web& web_;
    std::string address_, layer_, layer_digest_, config_, config_digest_, manifest_, manifest_digest_;
    bool held_ = false;
    int layers_begun_ = 0;
    http::ServerLimits limits_;
    http::Handler handler_;
    http::Server server_;
    TaskGroup tasks_;
};

}  // namespace hostler::cloud
