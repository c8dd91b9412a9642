#include "images.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <map>
#include <ranges>
#include <set>
#include <sstream>

#include "driver_file.h"
#include "parts.h"
#include "process.h"

namespace hostler::kube {

namespace fs = std::filesystem;

namespace {

#ifdef __aarch64__
constexpr const char* architecture = "arm64";
#else
constexpr const char* architecture = "amd64";
#endif

struct Image {
    std::vector<std::string> layers;  // Files of the folder.
    std::string entrypoint = "[]";    // JSON.
    std::vector<std::string> names = {};
};

Result<std::string> said(Words words) {
    const Ran ran = run(words);
    if (ran.code == 0) return ran.out;
    return fail(Code::unavailable,
                fmt::format("{} ends with {}: {}", fmt::join(words, " "), ran.code, ran.err));
}

// As the driver of kubeadm names them, with their versions. A test compares these with kubeadm's own list.
Result<std::vector<std::string>> names_of_driver() {
    const Driver driver = TRY(read_driver(HOSTLER_SOURCE "/drivers/kubeadm"));
    std::vector<std::string> names;
    for (const std::string& image : driver.images)
        names.push_back(TRY(filled(image, {{"version", driver.versions.front()}})));
    return names;
}

// A folder `root` as a layer: the program under its names in /usr/local/bin, and an empty /tmp.
Result<> write_layer(const std::string& root, const std::string& program, const Words& names,
                     const std::string& layer) {
    const std::string programs = root + "/usr/local/bin/";
    fs::create_directories(programs);
    fs::create_directories(root + "/tmp");
    const std::string own = fs::path{program}.filename();
    std::error_code failed;
    fs::create_hard_link(fs::canonical(program), programs + own,
                         failed);  // No copy, where it is the same disk.
    if (failed) fs::copy_file(program, programs + own);
    for (const std::string& name : names) fs::create_symlink(own, programs + name);
    TRY(said({"tar", "--create", "--file", layer, "--directory", root, "--owner=0", "--group=0", "--mtime=@0",
              "--sort=name", "."}));
    return {};
}

// What kube-proxy and kube-router call, with its libraries, as a layer.
Result<> write_network_layer(const std::string& layer) {
    Words words{"tar",           "--create",         "--file",      layer,
                "--dereference", "--absolute-names", "--transform", "s,^/,,"};
    std::vector<std::string> programs{"/usr/sbin/nft", "/usr/sbin/ipset"};
    for (const char* family : {"iptables", "ip6tables"})
        for (const char* kind : {"", "-save", "-restore"})
            programs.push_back(fmt::format("/usr/sbin/{}{}", family, kind));
    std::set<std::string> files{programs.begin(), programs.end()};
    // Without it nft lists "6" where kube-proxy wrote "tcp", and a new start of that removes its entries.
    files.insert("/etc/protocols");
    for (const std::string& program : programs) {
        std::istringstream libraries{TRY(said({"ldd", program}))};
        for (std::string word; libraries >> word;)
            if (word.starts_with('/')) files.insert(word);
    }
    for (const auto& entry : fs::directory_iterator{"/usr/lib"})
        if (fs::exists(entry.path() / "xtables")) files.insert(entry.path() / "xtables");
    words.insert(words.end(), files.begin(), files.end());
    TRY(said(std::move(words)));
    return {};
}

Result<std::string> sum_of(const std::string& file) { return TRY(said({"sha256sum", file})).substr(0, 64); }

// The configuration of an image, as a file in `folder`; its name is its sum.
// `layer_sums` are kept from one image to the next.
Result<std::string> write_config(const Image& image, const std::string& folder,
                                 std::map<std::string, std::string>& layer_sums) {
    std::vector<std::string> sums;
    for (const std::string& layer : image.layers) {
        if (!layer_sums.contains(layer)) layer_sums[layer] = TRY(sum_of(folder + "/" + layer));
        sums.push_back("sha256:" + layer_sums[layer]);
    }
    const std::string plain = folder + "/config";
    write_file(plain,
               fmt::format(
                   R"({{"architecture":"{}","os":"linux","config":{{"Env":["PATH=/usr/local/bin:/usr/sbin"],)"
                   R"("Entrypoint":{}}},"rootfs":{{"type":"layers","diff_ids":["{}"]}}}})",
                   architecture, image.entrypoint, fmt::join(sums, R"(",")")));
    const std::string name = TRY(sum_of(plain)) + ".json";
    fs::rename(plain, folder + "/" + name);
    return name;
}

// All that the driver names, and hello_image.
Result<std::vector<Image>> images_of_driver() {
    std::map<std::string, Image> special{
        // By the last part of their names.
        {"pause", {{"workload.tar"}, R"(["/usr/local/bin/pause"])"}},
        {"kube-proxy", {{"parts.tar", "network.tar"}}},
        {"coredns", {{"addons.tar"}, R"(["/usr/local/bin/coredns"])"}},
        {"metrics-server", {{"addons.tar"}, R"(["/usr/local/bin/metrics-server"])"}},
        {"kube-router", {{"addons.tar", "network.tar"}, R"(["/usr/local/bin/kube-router"])"}}};
    Image parts{{"parts.tar"}};
    for (const std::string& name : TRY(names_of_driver())) {
        const auto from = name.rfind('/') + 1;
        const auto at = special.find(name.substr(from, name.rfind(':') - from));
        (at == special.end() ? parts : at->second).names.push_back(name);
    }
    std::vector<Image> images{parts,
                              {{"workload.tar"}, R"(["/usr/local/bin/hello",":8080"])", {hello_image}}};
    for (Image& image : std::views::values(special))
        if (!image.names.empty()) images.push_back(std::move(image));
    return images;
}

}  // namespace

Result<std::string> pause_image() {
    for (const std::string& name : TRY(names_of_driver()))
        if (name.contains("/pause:")) return name;
    return fail(Code::unavailable, "the driver names no pause image");
}

Result<> write_images(const std::string& archive, const std::string& folder) {
    fs::create_directories(folder);
    TRY(write_layer(folder + "/parts", part("kube"),
                    {"kube-apiserver", "kube-controller-manager", "kube-scheduler", "kube-proxy", "etcd",
                     "etcdctl", "etcdutl"},
                    folder + "/parts.tar"));
    TRY(write_layer(folder + "/addons", part("addons"), {"coredns", "kube-router", "metrics-server"},
                    folder + "/addons.tar"));
    TRY(write_layer(folder + "/workload", part("workload"), {"pause", "hello", "ask"},
                    folder + "/workload.tar"));
    TRY(write_network_layer(folder + "/network.tar"));
    const std::vector<Image> images = TRY(images_of_driver());
    std::vector<std::string> entries,
        files{"manifest.json", "parts.tar", "addons.tar", "workload.tar", "network.tar"};
    std::map<std::string, std::string> layer_sums;
    for (const Image& image : images) {
        files.push_back(TRY(write_config(image, folder, layer_sums)));
        entries.push_back(fmt::format(R"({{"Config":"{}","RepoTags":["{}"],"Layers":["{}"]}})", files.back(),
                                      fmt::join(image.names, R"(",")"), fmt::join(image.layers, R"(",")")));
    }
    write_file(folder + "/manifest.json", fmt::format("[{}]", fmt::join(entries, ",")));
    Words words{"tar", "--create", "--file", archive, "--directory", folder};
    words.insert(words.end(), files.begin(), files.end());
    TRY(said(std::move(words)));
    fs::remove_all(folder);
    return {};
}

}  // namespace hostler::kube
