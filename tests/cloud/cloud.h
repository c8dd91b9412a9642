// A whole cloud of real processes and real containers, in a folder under /tmp: `hostler up` as it is shipped.
// It takes everything away at its end, and what a run that was killed left behind is taken away by the next.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/types.h>

#include <filesystem>

#include "adapters/docker/testing/dockerd.h"
#include "machine.h"
#include "web.h"

namespace hostler::cloud {

namespace json = boost::json;

struct Tenant {
    std::string id;
    std::string key;
};

// What an instance is asked for; the rest is as in the source's example.
struct Wish {
    std::string id;
    std::string tenant = "acme";
    std::string spec = "small";
    std::string image{};
    std::string storage{};
    std::string mount{};  // "/data": where the storage is seen.
    std::string cmd{};
    bool open_to_all = true;
    bool probe = true;
    bool read_only = false;  // The storage.
    std::map<std::string, std::string> env{};
};

// Folders below the data that are file systems of their own, so small that a test can fill them: "master" →
// "40m".
using SmallDisks = std::map<std::string, std::string>;

// Whose containers: podman's, that `hostler up` starts; or those of a dockerd that is there, in whose network
// the cloud and this test then are.
enum class HostEngine { podman, dockerd };

class Cloud {
public:
    explicit Cloud(std::vector<std::string> more_arguments = {}, SmallDisks small_disks = {},
                   HostEngine engine = HostEngine::podman);
    ~Cloud();
    Cloud(const Cloud&) = delete;

    // One for all tests that leave it as they find it.
    static Cloud& shared();

    // ── `hostler up` itself
    // Waits until everything answers; looks at `meanwhile` every 30 ms.
    void start(const std::function<void()>& meanwhile = {});
    void stop();  // As Ctrl-C does; nothing but the data remains.
    pid_t find(const std::string& role)
        const;  // "master", "access-nj", "gateway", "host-nj-1", "engine", "up"; 0: it does not run.
    pid_t kill9(const std::string& role);                        // Returns once it is gone; the pid it had.
    void wait_for_another(const std::string& role, pid_t than);  // Until the supervisor has started it again.

    // ── The API
    Page api(const std::string& method, const std::string& path, const json::value& body = nullptr,
             const std::string& key = "");
    Page raw(const std::string& method, const std::string& path, http::Headers headers,
             std::string body = {});
    Ran cli(std::vector<std::string> words, const std::string& key = "");
    // `outer` with the command line behind it: what it calls has its settings.
    Ran program(std::vector<std::string> outer, std::vector<std::string> words,
                std::chrono::milliseconds within);
    const Tenant& tenant(const std::string& id);  // With a key of its own, made when it is first asked for.
    json::object body_of(const Wish& wish) const;
    Page begin(const Wish& wish);  // POST /gpu-instances with an operator's key.
    Page instance(const std::string& id, const std::string& tenant = "acme");
    Page wait_for(const std::string& id, const std::string& state, Duration within = 30s,
                  const std::string& tenant = "acme");
    // Begun and running; its URL, without the '/' at the end.
    std::string run(const Wish& wish);
    void end(const std::string& id,
             const std::string& tenant = "acme");  // Stopped, and what it held is free.
    std::vector<int> free_gpus();                  // Of each host.
    int gpus_free();
    Page stock(const std::string& spec) { return api("GET", "/v1/stocks/" + spec); }
    // Waits until what earlier instances held is back in stock; the number of idle slots.
    std::string whole_stock(const std::string& spec);
    void make_stock(int number, const std::string& spec = "small", const std::string& memory = "256Mi");

    // ── What is on the machine
    std::vector<std::string> containers(
        const std::string& instance = "");  // Names; of one instance, by its id.
    std::vector<std::string> networks();
    std::vector<std::string> bridges();  // Which of our networks' bridges the firewall knows.
    std::vector<std::string> mounts() const;
    std::vector<pid_t> processes() const;  // Whose command line names our folder.

    // ── Small disks
    void fill(const std::string& disk) const;       // Not one more byte fits,
    void make_room(const std::string& disk) const;  // until this.

    // For one registry of images, at the address that our engine may ask without TLS.
    ListenerPtr registry_listener;
    std::string registry_at_;  // Its address, also once somebody has taken the listener.

    // Looks every 30 ms until it is so. `within`: on a machine without other work; four times as long on any
    // other.
    bool until(const std::function<bool()>& so, Duration within = 20s);

    Web web;
    std::string engine_socket;
    std::string folder, data, api_url, gateway_url, key, image;
    std::string ca;  // With --tls: file of the authority.

private:
    std::vector<std::string> more_arguments_;
    SmallDisks small_disks_;
    std::map<std::string, Tenant> tenants_;
    std::string pool_;
    std::unique_ptr<docker::testing::Dockerd> dockerd_;
    std::unique_ptr<docker::testing::Within> within_;
    pid_t up_ = 0;
    int owner_ = -1;
};

// The shared cloud, with stock of the spec "small" (one GPU).
class Shared : public ::testing::Test {
protected:
    static void SetUpTestSuite();
    Cloud& cloud = Cloud::shared();
};

std::string pattern(std::size_t size, unsigned seed = 1);  // Bytes that compress badly and repeat late.

}  // namespace hostler::cloud
