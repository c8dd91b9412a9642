#include "control_plane.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>

#include "parts.h"

namespace hostler::kube {

namespace {

// Free now. Somebody may take them before the part does; the start is tried again then.
std::vector<int> free_ports(std::size_t count) {
    std::vector<int> sockets, ports;
    for (std::size_t i = 0; i < count; ++i) {
        const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        HOSTLER_ASSERT(::bind(socket, reinterpret_cast<sockaddr*>(&address), size) == 0);
        HOSTLER_ASSERT(::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) == 0);
        sockets.push_back(socket);
        ports.push_back(ntohs(address.sin_port));
    }
    for (const int socket : sockets) ::close(socket);
    return ports;
}

Result<> finished(const Ran& ran, std::string_view what) {
    if (ran.code == 0) return {};
    return fail(Code::unavailable, fmt::format("{} ends with {}: {}{}", what, ran.code, ran.out, ran.err));
}

constexpr const char* service_range = "10.96.0.0/16";
constexpr const char* service_first = "10.96.0.1";

}  // namespace

Result<std::unique_ptr<ControlPlane>> ControlPlane::start(Settings settings) {
    constexpr int tries = 3;
    Result<> started;
    for (int i = 0; i < tries; ++i) {
        std::unique_ptr<ControlPlane> plane{new ControlPlane{settings}};
        started = plane->start_parts();
        if (started) return plane;
        if (!started.error().message.contains("address already in use")) break;
    }
    return std::unexpected{started.error()};
}

std::string ControlPlane::address() const { return fmt::format("https://127.0.0.1:{}", api_port_); }
std::string ControlPlane::authority() const { return folder_.in("ca.crt"); }
std::string ControlPlane::certificate() const { return folder_.in("admin.crt"); }
std::string ControlPlane::key() const { return folder_.in("admin.key"); }
std::string ControlPlane::kubeconfig() const { return folder_.in("admin.kubeconfig"); }

Ran ControlPlane::kubectl(Words words, const std::string& input, Seconds within) {
    // Its cache of what the API server serves lies in HOME.
    words.insert(words.begin(),
                 {part("kubectl"), "--kubeconfig", kubeconfig(), "--cache-dir", folder_.in("cache")});
    return run(std::move(words), within, input);
}

Result<std::string> ControlPlane::token(const std::string& space, const std::string& account) {
    Ran made = kubectl({"create", "token", account, "--namespace", space, "--duration", "1h"});
    TRY(finished(made, "kubectl create token"));
    while (made.out.ends_with('\n')) made.out.pop_back();
    return made.out;
}

void ControlPlane::kill_api_server() { api_server_.kill(); }

Result<> ControlPlane::start_parts() {
    const auto ports = free_ports(5);
    etcd_port_ = ports[0], peer_port_ = ports[1], api_port_ = ports[2], manager_port_ = ports[3],
    scheduler_port_ = ports[4];
    TRY(make_certificates());
    for (const char* name : {"admin", "manager", "scheduler"}) write_kubeconfig(name);
    TRY(start_etcd());
    TRY(start_api_server());
    if (settings_.controllers) TRY(start_controllers());
    return {};
}

Result<> ControlPlane::make_certificates() {
    TRY(finished(
        run({"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
             "-days", "30", "-subj", "/CN=test", "-keyout", folder_.in("ca.key"), "-out", authority()}),
        "openssl req"));
    TRY(finished(run({"openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                      "-out", folder_.in("accounts.key")}),
                 "openssl genpkey"));
    TRY(finished(run({"openssl", "pkey", "-pubout", "-in", folder_.in("accounts.key"), "-out",
                      folder_.in("accounts.pub")}),
                 "openssl pkey"));
    TRY(certify("server", "/CN=kube-apiserver",
                fmt::format("DNS:localhost,DNS:kubernetes.default.svc,IP:127.0.0.1,IP:{}", service_first)));
    TRY(certify("admin", "/O=system:masters/CN=admin"));
    TRY(certify("manager", "/CN=system:kube-controller-manager"));
    TRY(certify("scheduler", "/CN=system:kube-scheduler"));
    return certify("front", "/CN=front-proxy");
}

Result<> ControlPlane::certify(const std::string& name, const std::string& subject,
                               const std::string& names) {
    Words words{"openssl",
                "req",
                "-x509",
                "-newkey",
                "ec",
                "-pkeyopt",
                "ec_paramgen_curve:prime256v1",
                "-nodes",
                "-days",
                "30",
                "-CA",
                authority(),
                "-CAkey",
                folder_.in("ca.key"),
                "-subj",
                subject,
                "-keyout",
                folder_.in(name + ".key"),
                "-out",
                folder_.in(name + ".crt"),
                "-addext",
                "basicConstraints=critical,CA:FALSE",
                "-addext",
                "extendedKeyUsage=serverAuth,clientAuth"};
    if (!names.empty()) words.insert(words.end(), {"-addext", "subjectAltName=" + names});
    return finished(run(std::move(words)), "openssl req");
}

void ControlPlane::write_kubeconfig(const std::string& name) {
    write_file(folder_.in(name + ".kubeconfig"), fmt::format(R"(apiVersion: v1
kind: Config
clusters: [{{name: test, cluster: {{server: "{0}", certificate-authority: "{1}"}}}}]
users: [{{name: "{3}", user: {{client-certificate: "{2}/{3}.crt", client-key: "{2}/{3}.key"}}}}]
contexts: [{{name: test, context: {{cluster: test, user: "{3}"}}}}]
current-context: test
)",
                                                             address(), authority(), folder_.path(), name));
}

Result<Child> ControlPlane::child(const std::string& name, Words options) {
    options.insert(options.begin(), part(name));
    return Child::start(std::move(options), folder_.in(name + ".log"));
}

Result<> ControlPlane::start_etcd() {
    const auto url = [](int port) { return fmt::format("http://127.0.0.1:{}", port); };
    etcd_ = TRY(child("etcd", {"--data-dir", folder_.in("etcd"), "--unsafe-no-fsync", "--listen-client-urls",
                               url(etcd_port_), "--advertise-client-urls", url(etcd_port_),
                               "--listen-peer-urls", url(peer_port_), "--initial-advertise-peer-urls",
                               url(peer_port_), "--initial-cluster", "default=" + url(peer_port_)}));
    return ready(etcd_, "etcd", url(etcd_port_) + "/readyz");
}

Result<> ControlPlane::start_api_server() {
    const auto file = [this](const char* name) { return folder_.in(name); };
    api_server_ = TRY(child(
        "kube-apiserver",
        {"--etcd-servers", fmt::format("http://127.0.0.1:{}", etcd_port_), "--bind-address", "127.0.0.1",
         "--advertise-address", "127.0.0.1", "--secure-port", std::to_string(api_port_), "--tls-cert-file",
         file("server.crt"), "--tls-private-key-file", file("server.key"), "--client-ca-file", authority(),
         "--service-account-issuer", "https://kubernetes.default.svc", "--service-account-key-file",
         file("accounts.pub"), "--service-account-signing-key-file", file("accounts.key"),
         "--service-cluster-ip-range", service_range, "--authorization-mode", "Node,RBAC",
         // Of a server on the loopback interface it would make an endpoint that no pod can reach, and refuses
         // to.
         "--endpoint-reconciler-type", "none", "--allow-privileged", "--requestheader-client-ca-file",
         authority(), "--requestheader-allowed-names", "front-proxy", "--requestheader-username-headers",
         "X-Remote-User", "--requestheader-group-headers", "X-Remote-Group",
         "--requestheader-extra-headers-prefix", "X-Remote-Extra-", "--proxy-client-cert-file",
         file("front.crt"), "--proxy-client-key-file", file("front.key")}));
    return ready(api_server_, "kube-apiserver", address() + "/readyz");
}

Result<> ControlPlane::start_controllers() {
    const std::string manager = folder_.in("manager.kubeconfig"),
                      scheduler = folder_.in("scheduler.kubeconfig");
    manager_ = TRY(child("kube-controller-manager", {"--kubeconfig",
                                                     manager,
                                                     "--authentication-kubeconfig",
                                                     manager,
                                                     "--authorization-kubeconfig",
                                                     manager,
                                                     "--bind-address",
                                                     "127.0.0.1",
                                                     "--secure-port",
                                                     std::to_string(manager_port_),
                                                     "--cert-dir",
                                                     folder_.in("manager"),
                                                     "--service-account-private-key-file",
                                                     folder_.in("accounts.key"),
                                                     "--root-ca-file",
                                                     authority(),
                                                     "--cluster-signing-cert-file",
                                                     authority(),
                                                     "--cluster-signing-key-file",
                                                     folder_.in("ca.key"),
                                                     "--use-service-account-credentials",
                                                     "--leader-elect=false",
                                                     "--kube-api-qps",
                                                     "2000",
                                                     "--kube-api-burst",
                                                     "4000"}));
    write_file(folder_.in("scheduler.yaml"), fmt::format(R"(apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {{leaderElect: false}}
clientConnection: {{kubeconfig: "{}", qps: 5000, burst: 10000}}
)",
                                                         scheduler));
    scheduler_ =
        TRY(child("kube-scheduler",
                  {"--config", folder_.in("scheduler.yaml"), "--authentication-kubeconfig", scheduler,
                   "--authorization-kubeconfig", scheduler, "--bind-address", "127.0.0.1", "--secure-port",
                   std::to_string(scheduler_port_), "--cert-dir", folder_.in("scheduler")}));
    const auto health = [](int port) { return fmt::format("https://127.0.0.1:{}/healthz", port); };
    TRY(ready(manager_, "kube-controller-manager", health(manager_port_)));
    return ready(scheduler_, "kube-scheduler", health(scheduler_port_));
}

Result<> ControlPlane::ready(Child& part, const std::string& name, const std::string& url) {
    bool ended = false;
    const auto healthy = [&] {
        ended = !part.runs();
        return ended || run({"curl", "-sk", "-m", "5", "--cert", certificate(), "--key", key(), url})
                            .out.starts_with("ok");
    };
    if (eventually(settings_.ready_within, healthy) && !ended) return {};
    return fail(Code::unavailable, fmt::format("{} {}; its log ends with:\n{}", name,
                                               ended ? "has ended" : "is not healthy in time", part.tail()));
}

}  // namespace hostler::kube
