// bench-cluster: a cluster by Hostler, and one by kubeadm's own commands, on the same machines of namespaces.
// Prints what each took as one JSON object. With --stay it makes one of 1 + 1, prints how programs reach it,
// and keeps it until standard input ends. Needs root, and the Kubernetes of the tests.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/json.hpp>
#include <future>
#include <stdexcept>
#include <thread>

#include "cloud_on_nodes.h"
#include "driver_file.h"
#include "images.h"
#include "kubeadm.h"
#include "parts.h"
#include "through_gateway.h"
#include "walk.h"

namespace hostler::kube {
namespace {

namespace json = boost::json;
using Clock = std::chrono::steady_clock;

constexpr Seconds within{240};

double seconds_since(Clock::time_point begun) {
    return std::chrono::duration<double>(Clock::now() - begun).count();
}

void holds(const std::string& wrong) {
    if (!wrong.empty()) throw std::runtime_error{wrong};
}

void succeeds(const Ran& ran) {
    if (ran.code != 0) throw std::runtime_error{ran.out + ran.err};
}

// What a wait sees, twice a second: each look starts the command line as a process.
class Ours {
public:
    explicit Ours(CloudOnNodes& cloud) : cloud_(cloud) {}

    void ready_with(std::size_t nodes) {
        waits([nodes](const json::value& now) {
            return text_at(now, "state") == "ready" && now.at("nodes").as_array().size() == nodes;
        });
    }
    void gone() {
        waits([](const json::value& now) { return now.is_null() || text_at(now, "state") == "deleted"; });
    }
    json::value cluster() { return cloud_.told({"cluster", "get", "train", "--tenant-id", "acme"}); }

private:
    void waits(auto is_so) {
        json::value now;
        const auto looks = [&] {
            std::this_thread::sleep_for(std::chrono::milliseconds{450});
            now = cluster();
            return is_so(now);
        };
        if (!eventually(within, looks)) throw std::runtime_error{json::serialize(now) + "\n" + cloud_.logs()};
    }
    CloudOnNodes& cloud_;
};

double median(std::vector<double> values) {
    std::ranges::sort(values);
    return values.empty() ? 0 : values[values.size() / 2];
}

// The machine on which the node of the control plane is.
Node& control_of(Nodes& nodes) {
    for (std::size_t i = 0; i < nodes.size(); ++i)
        if (nodes[i].run({"test", "-e", "/etc/kubernetes/admin.conf"}).code == 0) return nodes[i];
    throw std::runtime_error{"no node is a control plane"};
}

// `kubectl get pods` by turns through the gateway and straight to the API server, as whole commands.
void measure_gets(CloudOnNodes& cloud, Node& control, int calls, json::object& into) {
    const std::string direct_file = cloud.in("direct.yaml");
    write_file(direct_file, control.run({"cat", "/etc/kubernetes/admin.conf"}).out);
    ThroughGateway through{cloud, cloud.in("owner")};
    succeeds(through.make_kubeconfig("train"));
    const Words direct{part("kubectl"),
                       "--kubeconfig",
                       direct_file,
                       "--server",
                       fmt::format("https://{}:6443", control.address()),
                       "get",
                       "pods",
                       "-A"};
    const Environment home{{"HOME", cloud.in("direct")}};
    std::vector<double> ways, straight;
    for (int i = 0; i < calls; ++i) {
        auto begun = Clock::now();
        succeeds(run(direct, within, {}, home));
        straight.push_back(seconds_since(begun) * 1000);
        begun = Clock::now();
        succeeds(through.kubectl({"get", "pods", "-A"}));
        ways.push_back(seconds_since(begun) * 1000);
    }
    into["get_through_ms"] = median(ways);
    into["get_direct_ms"] = median(straight);
}

std::size_t left_on_all(Nodes& nodes) {
    auto driver = read_driver(HOSTLER_SOURCE "/drivers/kubeadm");
    if (!driver) throw std::runtime_error{driver.error().message};
    std::size_t left = 0;
    for (std::size_t i = 0; i < nodes.size(); ++i) left += left_on(nodes[i], driver->leftovers).size();
    return left;
}

std::unique_ptr<CloudOnNodes> start_cloud(Nodes& nodes) {
    auto started = CloudOnNodes::start(nodes);
    if (!started) throw std::runtime_error{started.error().message};
    succeeds((*started)->cli({"tenant", "create", "acme"}));
    return std::move(*started);
}

void create(CloudOnNodes& cloud) {
    succeeds(cloud.create_cluster("train", {"--control", "1", "--pool", "cpu=1"}));
    Ours{cloud}.ready_with(2);
}

json::object by_hostler(Nodes& nodes, int calls) {
    json::object took;
    const auto started = start_cloud(nodes);
    CloudOnNodes& cloud = *started;
    Ours ours{cloud};

    auto begun = Clock::now();
    create(cloud);
    took["create_s"] = seconds_since(begun);
    measure_gets(cloud, control_of(nodes), calls, took);

    begun = Clock::now();
    succeeds(
        cloud.cli({"cluster", "scale", "train", "--tenant-id", "acme", "--pool", "cpu", "--count", "2"}));
    ours.ready_with(3);
    took["add_s"] = seconds_since(begun);

    begun = Clock::now();
    succeeds(cloud.cli({"cluster", "delete", "train", "--tenant-id", "acme", "--yes"}));
    ours.gone();
    took["delete_s"] = seconds_since(begun);

    took["left"] = left_on_all(nodes);
    return took;
}

void import_images(Nodes& nodes, std::initializer_list<std::size_t> numbers) {
    std::vector<std::future<Ran>> imports;
    for (const std::size_t i : numbers)
        imports.push_back(std::async(std::launch::async, [&nodes, i] {
            return nodes[i].run({"ctr", "--namespace", "k8s.io", "images", "import", nodes.archive()},
                                within);
        }));
    for (auto& import : imports) succeeds(import.get());
}

json::object by_kubeadm(Nodes& nodes) {
    json::object took;
    Kubeadm kubeadm{nodes};
    auto begun = Clock::now();
    import_images(nodes, {0, 1});
    const auto laid = nodes.lay_pod_network("10.244");
    if (!laid) throw std::runtime_error{laid.error().message};
    holds(kubeadm.init());
    holds(kubeadm.join(nodes[1]));
    took["create_s"] = seconds_since(begun);

    begun = Clock::now();
    import_images(nodes, {2});
    holds(kubeadm.join(nodes[2]));
    took["add_s"] = seconds_since(begun);

    begun = Clock::now();
    for (const std::size_t i : {1U, 2U}) {
        holds(kubeadm.drain(nodes[i]));
        holds(kubeadm.forget(nodes[i]));
    }
    for (const std::size_t i : {2U, 1U, 0U}) holds(kubeadm.reset(nodes[i]));
    took["delete_s"] = seconds_since(begun);

    took["left"] = left_on_all(nodes);
    return took;
}

// The cluster `train` of the tenant acme, until standard input ends.
void stay(Nodes& nodes) {
    const auto cloud = start_cloud(nodes);
    create(*cloud);
    json::object environment;
    for (const auto& [name, value] : cloud->environment()) environment[name] = value;
    const json::object told{{"environment", environment}, {"kubectl", part("kubectl")},
                            {"helm", part("helm")},       {"image", hello_image},
                            {"data", cloud->in("data")},  {"folder", cloud->in("")}};
    fmt::print("{}\n", json::serialize(told));
    std::fflush(stdout);
    while (std::getchar() != EOF) {
    }
}

void compare(Nodes& nodes, int calls) {
    const json::object told{{"ours", by_hostler(nodes, calls)}, {"theirs", by_kubeadm(nodes)}};
    fmt::print("{}\n", json::serialize(told));
}

}  // namespace
}  // namespace hostler::kube

int main(int argc, char** argv) {
    using namespace hostler::kube;
    int calls = 40;
    bool stays = false;
    CLI::App app{"A cluster by Hostler and by kubeadm, on the same machines of namespaces."};
    app.add_option("--calls", calls, "calls of `kubectl get` each way")->check(CLI::Range(1, 1000));
    app.add_flag("--stay", stays, "one by Hostler alone, until standard input ends");
    CLI11_PARSE(app, argc, argv);
    if (const std::string why = missing(Needs::nodes); !why.empty()) {
        fmt::print(stderr, "bench-cluster: {}\n", why);
        return 1;
    }
    try {
        auto nodes = Nodes::start({"one", "two", "three"}, Seconds{180}, NodeImages::archive);
        if (!nodes) throw std::runtime_error{nodes.error().message};
        if (stays)
            stay(**nodes);
        else
            compare(**nodes, calls);
    } catch (const std::exception& error) {
        fmt::print(stderr, "bench-cluster: {}\n", error.what());
        return 1;
    }
}
