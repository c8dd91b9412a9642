#include "folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "process.h"

namespace hostler::kube {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view prefix = "hostler-kubernetes-";
constexpr Seconds removed_within{20};

struct Hierarchy {
    std::string folder;
    bool unified = false;
};

std::vector<Hierarchy> hierarchies() {
    std::vector<Hierarchy> all;
    std::istringstream mounts{read_file("/proc/self/mounts")};
    for (std::string line; std::getline(mounts, line);) {
        std::istringstream words{line};
        std::string device, folder, kind;
        words >> device >> folder >> kind;
        if (kind == "cgroup" || kind == "cgroup2") all.push_back({folder, kind == "cgroup2"});
    }
    return all;
}

void end_all_in(const fs::path& group) {
    std::istringstream processes{read_file(group / "cgroup.procs")};
    for (pid_t process = 0; processes >> process;)
        if (process > 0) ::kill(process, SIGKILL);
}

// The inner ones first; a group with a process in it stays.
void remove_tree(const fs::path& group) {
    std::error_code gone;
    for (const auto& entry : fs::directory_iterator{group, gone})
        if (entry.is_directory(gone)) remove_tree(entry.path());
    end_all_in(group);
    ::rmdir(group.c_str());
}

// A new group of CPU sets has none, and takes no process then.
void take_cpus(const std::string& parent, const std::string& group) {
    for (const char* file : {"cpuset.cpus", "cpuset.mems"})
        if (const std::string value = read_file(parent + "/" + file); !value.empty())
            write_file(group + "/" + file, value);
}

// Two nodes have dozens of processes; as one group they would get as much as one process of other tests.
void take_share(const std::string& group) {
    for (const auto& [file, share] : {std::pair{"/cpu.shares", "8192"}, std::pair{"/cpu.weight", "800"}})
        if (fs::exists(group + file)) write_file(group + file, share);
}

bool has_folder(pid_t process, const std::string& folder) {
    return read_file(fmt::format("/proc/{}/cmdline", process)).find(folder) != std::string::npos;
}

std::vector<pid_t> processes_of(const std::string& folder) {
    std::vector<pid_t> found;
    for (const auto& entry : fs::directory_iterator{"/proc"}) {
        const std::string name = entry.path().filename();
        if (name.find_first_not_of("0123456789") != std::string::npos) continue;
        const pid_t process = std::stoi(name);
        if (process != ::getpid() && has_folder(process, folder)) found.push_back(process);
    }
    return found;
}

std::string suffix_of(const std::string& path) { return path.substr(path.size() - 6); }

// The interfaces of this machine that end with the suffix. They go with the namespace of their other end, a
// while after its last process.
std::vector<std::string> interfaces_of(const std::string& suffix) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator{"/sys/class/net"})
        if (const std::string name = entry.path().filename(); name.ends_with(suffix)) names.push_back(name);
    return names;
}

void clean(const fs::path& folder) {
    for (const pid_t process : processes_of(folder)) ::kill(process, SIGKILL);
    remove_groups(folder.filename());
    for (const std::string& name : interfaces_of(suffix_of(folder))) run({"ip", "link", "delete", name});
    std::error_code ignored;
    fs::remove_all(folder, ignored);
}

void clean_leftovers() {
    std::error_code gone;
    for (const auto& entry : fs::directory_iterator{"/tmp", gone}) {
        if (!entry.path().filename().string().starts_with(prefix)) continue;
        const int owner = ::open((entry.path() / "owner").c_str(), O_RDWR | O_CLOEXEC);
        if (owner < 0) continue;
        if (::flock(owner, LOCK_EX | LOCK_NB) == 0) clean(entry.path());
        ::close(owner);
    }
}

}  // namespace

Folder::Folder() : path_(fmt::format("/tmp/{}XXXXXX", prefix)) {
    clean_leftovers();
    HOSTLER_ASSERT(::mkdtemp(path_.data()) != nullptr);
    owner_ = ::open(in("owner").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    HOSTLER_ASSERT(owner_ >= 0 && ::flock(owner_, LOCK_EX) == 0);
}

Folder::~Folder() {
    clean(path_);
    ::close(owner_);
}

std::string Folder::name() const { return fs::path{path_}.filename(); }
std::string Folder::suffix() const { return suffix_of(path_); }

Result<std::vector<std::string>> make_groups(const std::string& name) {
    std::vector<std::string> groups;
    for (const Hierarchy& one : hierarchies()) {
        std::string at = one.folder;
        for (const fs::path& part : fs::path{name}) {
            if (one.unified)
                for (const char* controller : {"+cpuset", "+cpu", "+io", "+memory", "+pids"})
                    write_file(at + "/cgroup.subtree_control", controller);
            const std::string group = at + "/" + part.string();
            if (::mkdir(group.c_str(), 0755) != 0 && errno != EEXIST)
                return fail(Code::unavailable, fmt::format("cannot make the control group {}", group));
            take_cpus(at, group);
            take_share(group);
            at = group;
        }
        groups.push_back(at);
    }
    if (groups.empty()) return fail(Code::unavailable, "no control groups are mounted");
    return groups;
}

bool remove_groups(const std::string& name) {
    return eventually(removed_within, [&] {
        bool left = false;
        for (const Hierarchy& one : hierarchies()) {
            const fs::path group = fs::path{one.folder} / name;
            if (fs::exists(group)) remove_tree(group);
            left |= fs::exists(group);
        }
        return !left;
    });
}

std::vector<std::string> left_of(const std::string& folder_name) {
    std::vector<std::string> left;
    for (const Hierarchy& one : hierarchies())
        if (fs::exists(fs::path{one.folder} / folder_name))
            left.push_back(fmt::format("the group {}/{}", one.folder, folder_name));
    std::istringstream mounts{read_file("/proc/self/mounts")};
    for (std::string line; std::getline(mounts, line);)
        if (line.contains(folder_name)) left.push_back("the mount " + line);
    for (const std::string& name : interfaces_of(suffix_of(folder_name)))
        left.push_back("the interface " + name);
    for (const pid_t process : processes_of(folder_name))
        left.push_back(fmt::format("the process {}", process));
    if (fs::exists("/tmp/" + folder_name)) left.push_back("the folder /tmp/" + folder_name);
    return left;
}

}  // namespace hostler::kube
