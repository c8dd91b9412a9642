// A real control plane on the loopback interface: etcd, API server, controller manager and scheduler. No
// node: pods stay pending, unless something (kwok) stands for nodes. Needs no root.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "folder.h"
#include "process.h"

namespace hostler::kube {

class ControlPlane {
public:
    struct Settings {
        bool controllers = true;    // Controller manager and scheduler; false: etcd and API server alone.
        Seconds ready_within{180};  // Each part.
    };
    // All parts answer that they are healthy. Errors: unavailable, with the end of the log of the part that
    // is not.
    static Result<std::unique_ptr<ControlPlane>> start(Settings settings);
    static Result<std::unique_ptr<ControlPlane>> start() { return start({}); }

    std::string address() const;      // "https://127.0.0.1:40001"
    std::string authority() const;    // Its CA's certificate, a file; as are these:
    std::string certificate() const;  // of an administrator
    std::string key() const;
    std::string kubeconfig() const;
    const std::string& folder() const { return folder_.path(); }

    // As the administrator.
    Ran kubectl(Words words, const std::string& input = {}, Seconds within = Seconds{60});
    // A token of a service account that is there, good for an hour. Errors: what kubectl says.
    Result<std::string> token(const std::string& space, const std::string& account);

    void kill_api_server();  // With SIGKILL.
    Result<> start_api_server();

private:
    explicit ControlPlane(Settings settings) : settings_(settings) {}
    Result<> make_certificates();
    Result<> certify(const std::string& name, const std::string& subject, const std::string& names = {});
    void write_kubeconfig(const std::string& name);
    Result<> start_parts();
    Result<> start_etcd();
    Result<> start_controllers();
    // Waits until `url` answers "ok".
    Result<> ready(Child& part, const std::string& name, const std::string& url);
    Result<Child> child(const std::string& name, Words options);

    Settings settings_;
    Folder folder_;
    int etcd_port_ = 0, peer_port_ = 0, api_port_ = 0, manager_port_ = 0, scheduler_port_ = 0;
    Child etcd_, api_server_, manager_, scheduler_;  // They end before the folder goes.
};

}  // namespace hostler::kube
