// What is left of a cluster on this host.
#include <dirent.h>
#include <fmt/format.h>
#include <net/if.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <boost/json.hpp>
#include <filesystem>
#include <ranges>
#include <set>

#include "adapters/node_steps/command.h"
#include "adapters/node_steps/perform.h"
#include "core/control_groups.h"
#include "ports/leftover_list.h"

namespace hostler::node_steps {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t mounts_bytes_max = 16 << 20;
constexpr std::size_t before_bytes_max = 1 << 20;
constexpr std::size_t looks_max = 200'000;  // Names that one pattern may look at.

const std::vector<std::string> gpu_devices{"/dev/nvidia*", "/dev/kfd", "/dev/dri/render*"};

class Search {
public:
    Search(const StepSettings& settings, const Leftovers& what, const Stop& stop)
        : settings_(settings), what_(what), stop_(stop) {}

    Result<std::vector<Leftover>> run() {
        read_before();
        TRY(processes());
        TRY(mounts());
        TRY(interfaces());
        if (!what_.tables.empty()) {
            TRY(nft_tables());
            for (const char* tool :
                 {"iptables-save", "ip6tables-save", "iptables-legacy-save", "ip6tables-legacy-save"})
                TRY(chains(tool));
        }
        for (const std::string& pattern : what_.files) TRY(files(pattern));
        if (!what_.cgroups.empty()) TRY(cgroups());
        if (!what_.images.empty()) TRY(images());
        return found_.sorted();
    }

private:
    Result<> check_time() const {
        if (stop_.cancelled()) return fail(Code::cancelled, "cancelled");
        if (stop_.late())
            return fail(Code::timeout, "this host could not be searched in time for what a cluster left",
                        "look_late");
        return {};
    }

    // Without the list, or with one that is too long, all counts.
    void read_before() {
        const std::string path = fmt::format("{}/{}/before/leftovers", settings_.folder, files_folder);
        const auto text = read_bytes(path, before_bytes_max);
        for (const auto line : std::views::split(text ? std::string_view{*text} : "", '\n'))
            before_.emplace(std::string_view{line});
    }
    void add_unless_before(const char* kind, const std::string& name) {
        if (!before_.contains(fmt::format("{} {}", kind, name))) found_.add(kind, name);
    }

    // By the file that they run, so that one which names itself otherwise is found; and with a GPU open.
    Result<> processes() {
        const std::string own = real_path("/proc/self/exe");
        for (const std::string& pid : list_folder(settings_.roots.proc, looks_max)) {
            if (!std::ranges::all_of(pid, [](char c) { return c >= '0' && c <= '9'; })) continue;
            TRY(check_time());
            const std::string folder = settings_.roots.proc + "/" + pid;
            std::error_code gone;
            const std::string path = fs::read_symlink(folder + "/exe", gone).string();
            if (gone || path == own) continue;  // A thread of the kernel, or it has ended; or this agent.
            std::string name = fs::path{path}.filename().string();
            if (const auto mark = name.find(" (deleted)"); mark != name.npos) name.resize(mark);
            const std::string words = fmt::format("{} (pid {})", name, pid);
            const std::string comm = read_text(folder + "/comm").value_or("");
            if (fits_any(what_.processes, name) || fits_any(what_.processes, comm))
                found_.add("process", words);
            if (std::ranges::count(settings_.gpu_services, name) == 0 && has_gpu(folder + "/fd"))
                found_.add("gpu", words);
        }
        return {};
    }
    bool has_gpu(const std::string& folder) const {
        for (const std::string& number : list_folder(folder, looks_max)) {
            std::error_code gone;
            const std::string path = fs::read_symlink(folder + "/" + number, gone).string();
            if (fits_any(gpu_devices, path)) return true;
        }
        return false;
    }

    Result<> mounts() {
        const auto text = read_bytes("/proc/self/mountinfo", mounts_bytes_max);
        if (!text) return fail(Code::unavailable, "the mounts of this host cannot be read");
        for (const auto part : std::views::split(*text, '\n')) {
            TRY(check_time());
            std::size_t word = 0;
            for (const auto field : std::views::split(std::string_view{part}, ' '))
                if (word++ == 4) {
                    if (const std::string folder = unescaped(std::string_view{field});
                        fits_any(what_.mounts, folder))
                        found_.add("mount", folder);
                    break;
                }
        }
        return {};
    }
    // Spaces are "\040" there.
    static std::string unescaped(std::string_view text) {
        std::string made;
        for (std::size_t i = 0; i < text.size(); ++i)
            if (text[i] == '\\' && i + 3 < text.size()) {
                made += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                                          (text[i + 3] - '0'));
                i += 3;
            } else {
                made += text[i];
            }
        return made;
    }

    Result<> interfaces() {
        struct if_nameindex* const all = ::if_nameindex();
        if (!all) return fail(Code::unavailable, "the network interfaces of this host cannot be listed");
        for (const auto* one = all; one->if_index != 0; ++one)
            if (fits_any(what_.interfaces, one->if_name)) add_unless_before("interface", one->if_name);
        ::if_freenameindex(all);
        return {};
    }

    // nullopt: the program is not on this host. Errors: unavailable, timeout, cancelled.
    Result<std::optional<std::string>> answer_of(const std::vector<std::string>& arguments) {
        if (!find_program(settings_, arguments[0])) return std::nullopt;
        static std::atomic<unsigned> last{0};
        std::string answer;
        const auto end = TRY(run_command(settings_, fmt::format("look.{}", last.fetch_add(1)), arguments,
                                         stop_, [&](std::string_view bytes) {
                                             constexpr std::size_t answer_bytes_max = 32 << 20;
                                             if (answer.size() < answer_bytes_max) answer += bytes;
                                         }));
        if (end.exit_code != 0)
            return fail(Code::unavailable, fmt::format("'{}' ended with {}: {}", arguments[0], end.exit_code,
                                                       last_lines(end.last, {}, {})));
        return answer;
    }
    Result<> nft_tables() {
        const auto answer = TRY(answer_of({"nft", "-j", "list", "tables"}));
        if (!answer) return {};
        boost::system::error_code wrong;
        const auto json = boost::json::parse(*answer, wrong);
        const auto* list = wrong || !json.is_object() ? nullptr : json.as_object().if_contains("nftables");
        if (!list || !list->is_array()) return fail(Code::unavailable, "the answer of nft cannot be read");
        for (const auto& one : list->as_array()) {
            const auto* table = one.is_object() ? one.as_object().if_contains("table") : nullptr;
            if (!table || !table->is_object()) continue;
            const auto text = [&](const char* key) {
                const auto* value = table->as_object().if_contains(key);
                return value && value->is_string() ? std::string{value->as_string()} : std::string{};
            };
            if (const std::string name = text("family") + " " + text("name"); fits_any(what_.tables, name))
                found_.add("table", name);
        }
        return {};
    }
    // A kernel without the old tables has no chains in them.
    Result<> chains(const std::string& tool) {
        const auto answer = answer_of({tool});
        if (!answer && (tool.contains("legacy") || tool.starts_with("ip6")) &&
            answer.error().code == Code::unavailable)
            return {};
        const auto text = TRY(answer);
        for (const auto part : std::views::split(text ? std::string_view{*text} : "", '\n')) {
            const std::string_view line{part};
            if (!line.starts_with(':')) continue;
            const std::string name{line.substr(1, line.find(' ') - 1)};
            if (fits_any(what_.tables, name)) found_.add("table", "chain " + name);
        }
        return {};
    }

    // Each part of the path may have '*', which stands for no '/' there.
    Result<> files(const std::string& pattern) {
        std::vector<std::string> paths{""};
        std::size_t looks = 0;
        for (const auto part : std::views::split(std::string_view{pattern}, '/')) {
            const std::string_view name{part};
            if (name.empty()) continue;
            std::vector<std::string> next;
            for (const std::string& path : paths) {
                TRY(check_time());
                if (!name.contains('*')) {
                    if (const std::string one = fmt::format("{}/{}", path, name); is_there(one))
                        next.push_back(one);
                    continue;
                }
                for (const std::string& one : list_folder(path.empty() ? "/" : path, looks_max)) {
                    if (++looks > looks_max)
                        return fail(Code::unavailable, fmt::format("'{}' fits too many files", pattern));
                    if (fits_pattern(name, one)) next.push_back(fmt::format("{}/{}", path, one));
                }
            }
            paths = std::move(next);
        }
        for (const std::string& path : paths) found_.add("file", path);
        return {};
    }
    static bool is_there(const std::string& path) {
        struct stat facts{};
        return ::lstat(path.c_str(), &facts) == 0;
    }

    // By their path below where the hierarchy is mounted, and by their last part; of all versions one.
    Result<> cgroups() {
        std::set<std::string> seen;
        for (const Hierarchy& in : find_hierarchies()) {
            TRY(check_time());
            for (const std::string& folder : groups_below(in.path, looks_max)) {
                if (folder == in.path) continue;
                const std::string path = folder.substr(in.path.size() + 1);
                const std::string name = path.substr(path.rfind('/') + 1);
                if ((fits_any(what_.cgroups, path) || fits_any(what_.cgroups, name)) &&
                    seen.insert(path).second)
                    found_.add("cgroup", path);
            }
        }
        return {};
    }

    Result<> images() {
        if (::access(settings_.containerd.c_str(), F_OK) != 0) return {};
        const auto answer =
            TRY(answer_of({"ctr", "--address", settings_.containerd, "-n", "k8s.io", "images", "ls", "-q"}));
        for (const auto part : std::views::split(answer ? std::string_view{*answer} : "", '\n'))
            if (const std::string name{std::string_view{part}}; !name.empty() && fits_any(what_.images, name))
                add_unless_before("image", name);
        return {};
    }

    const StepSettings& settings_;
    const Leftovers& what_;
    const Stop& stop_;
    std::set<std::string> before_;  // "image NAME", "interface NAME".
    LeftoverList found_;
};

}  // namespace

Result<std::vector<Leftover>> look(const StepSettings& settings, const Leftovers& what, const Stop& stop) {
    return Search{settings, what, stop}.run();
}

}  // namespace hostler::node_steps
