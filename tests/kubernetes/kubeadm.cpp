#include "kubeadm.h"

#include <fmt/format.h>

namespace hostler::kube {

namespace {

constexpr const char* token = "hostle.0123456789abcdef";
// Its timeouts of a minute are too short where other tests take the CPUs; its check asks for the kernel's
// configuration, which not every machine of tests can show.
constexpr const char* ignored = "--ignore-preflight-errors=SystemVerification";

std::string kubelet_settings() {
    return R"(---
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
cgroupDriver: cgroupfs
failCgroupV1: false
failSwapOn: false
oomScoreAdj: 0
imageGCHighThresholdPercent: 100
evictionHard: {nodefs.available: 1%, imagefs.available: 1%}
)";
}

std::string init_settings(const Node& node) {
    return fmt::format(R"(apiVersion: kubeadm.k8s.io/v1beta4
kind: InitConfiguration
localAPIEndpoint: {{advertiseAddress: {}}}
bootstrapTokens: [{{token: {}}}]
timeouts: {{controlPlaneComponentHealthCheck: 6m, kubernetesAPICall: 6m, kubeletHealthCheck: 6m, tlsBootstrap: 6m, discovery: 6m}}
nodeRegistration: {{name: {}, criSocket: "unix:///run/containerd/containerd.sock", imagePullPolicy: Never, taints: []}}
---
apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
kubernetesVersion: v1.36.3
networking: {{podSubnet: 10.244.0.0/16}}
---
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: nftables
conntrack: {{maxPerCore: 0}}
)",
                       node.address(), token, node.name()) +
           kubelet_settings();
}

std::string join_settings(const Node& first, const Node& node) {
    return fmt::format(R"(apiVersion: kubeadm.k8s.io/v1beta4
kind: JoinConfiguration
timeouts: {{controlPlaneComponentHealthCheck: 6m, kubernetesAPICall: 6m, kubeletHealthCheck: 6m, tlsBootstrap: 6m, discovery: 6m}}
discovery: {{bootstrapToken: {{token: {}, apiServerEndpoint: "{}:6443", unsafeSkipCAVerification: true}}}}
nodeRegistration: {{name: {}, criSocket: "unix:///run/containerd/containerd.sock", imagePullPolicy: Never}}
)",
                       token, first.address(), node.name());
}

std::string problem(const Ran& ran) { return ran.code == 0 ? "" : ran.out + ran.err; }

}  // namespace

std::string Kubeadm::init() {
    Node& first = nodes_[0];
    if (const auto begun = first.start_kubelet(); !begun) return begun.error().message;
    first.write("/root/init.yaml", init_settings(first));
    std::string wrong =
        problem(first.run({"kubeadm", "init", "--config", "/root/init.yaml", ignored}, Seconds{400}));
    return wrong.empty() ? ready(first) : wrong;
}

std::string Kubeadm::join(Node& node) {
    if (const auto begun = node.start_kubelet(); !begun) return begun.error().message;
    node.write("/root/join.yaml", join_settings(nodes_[0], node));
    std::string wrong =
        problem(node.run({"kubeadm", "join", "--config", "/root/join.yaml", ignored}, Seconds{300}));
    return wrong.empty() ? ready(node) : wrong;
}

std::string Kubeadm::ready(const Node& node) {
    return problem(kubectl({"wait", "--for=condition=Ready", "node/" + node.name(), "--timeout=180s"}, {},
                           Seconds{200}));
}

std::string Kubeadm::drain(const Node& node) {
    return problem(
        kubectl({"drain", node.name(), "--ignore-daemonsets", "--timeout=120s"}, {}, Seconds{150}));
}

std::string Kubeadm::forget(const Node& node) { return problem(kubectl({"delete", "node", node.name()})); }

std::string Kubeadm::reset(Node& node) {
    std::string wrong = problem(node.run({"kubeadm", "reset", "--force"}, Seconds{200}));
    node.stop_kubelet();
    return wrong;
}

Ran Kubeadm::kubectl(Words words, const std::string& input, Seconds within) {
    words.insert(words.begin(), {"kubectl", "--kubeconfig", "/etc/kubernetes/admin.conf"});
    return nodes_[0].run(std::move(words), within, input);
}

}  // namespace hostler::kube
