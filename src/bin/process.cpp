#include "bin/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/signal_set.hpp>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <sstream>

#include "adapters/net/authority.h"
#include "adapters/net/issued.h"
#include "core/log.h"

namespace hostler::bin {

namespace fs = std::filesystem;

namespace {

Task<> note_end(Task<> body, std::shared_ptr<Result<>> into, Loop& loop) {
    *into = co_await std::move(body);
    loop.stop();
    co_return Result<>{};
}

Task<> leave_then_cancel(Process& process, TaskGroup& group) {
    const auto left = co_await process.leave();
    group.cancel();
    co_return left;
}

}  // namespace

// A shell that starts something in the background has it ignore Ctrl-C; what we start in turn, tenants'
// shells among it, must not.
Process::Process() : timers(net::make_timers(loop)), net(net::make_net(loop)), random(net::make_random()) {
    for (const int signal : {SIGINT, SIGQUIT}) std::signal(signal, SIG_DFL);
}

int run_until_signalled(Process& process, Task<> body) {
    auto ended = std::make_shared<Result<>>();
    TaskGroup group{process.loop}, leaving{process.loop};
    asio::signal_set signals{process.loop, SIGINT, SIGTERM};
    // Who types Ctrl-C again gets it at once; but sudo may pass on a signal that has come here as well, and a
    // service manager may tell a whole group and each of it.
    constexpr Duration patience = std::chrono::seconds{1};
    std::optional<Instant> asked;
    std::function<void()> listen = [&] {
        signals.async_wait([&](const boost::system::error_code& error, int signal) {
            if (error) return;
            if (signal == SIGINT && asked && process.timers->now() - *asked > patience) std::_Exit(130);
            listen();
            if (asked) return;
            asked = process.timers->now();
            if (process.leave)
                leaving.start("leaving", leave_then_cancel(process, group));
            else
                group.cancel();
        });
    };
    listen();
    group.start("main", note_end(std::move(body), ended, process.loop));
    process.loop.run();
    if (*ended || (asked && ended->error().code == Code::cancelled)) return 0;
    log_error("{}", ended->error().message);
    return 1;
}

std::string read_file(const fs::path& path) {
    std::ostringstream text;
    if (const std::ifstream file{path, std::ios::binary}; file) text << file.rdbuf();
    return std::move(text).str();
}

Result<> write_file(const fs::path& path, std::string_view text) {
    const fs::path fresh = path.string() + ".new";
    const int fd = ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return fail(Code::unavailable,
                    fmt::format("cannot write {}: {}", path.string(), std::strerror(errno)));
    bool good = true;
    while (good && !text.empty()) {
        const auto written = ::write(fd, text.data(), text.size());
        good = written > 0;
        if (good) text.remove_prefix(static_cast<std::size_t>(written));
    }
    good = good && ::fsync(fd) == 0;
    ::close(fd);
    if (!good || ::rename(fresh.c_str(), path.c_str()) != 0)
        return fail(Code::unavailable,
                    fmt::format("cannot write {}: {}", path.string(), std::strerror(errno)));
    return {};
}

fs::path program_folder() { return fs::read_symlink("/proc/self/exe").parent_path(); }

fs::path template_folder() {
    std::error_code error;
    for (const fs::path& place : {program_folder() / "templates", fs::path{"/usr/share/hostler/templates"}})
        if (fs::is_directory(place, error)) return place;
    return {};
}

Result<std::shared_ptr<const Credentials>> load_credentials(const fs::path& folder) {
    for (const char* name : {"certificate.pem", "key.pem", "authority.pem"})
        if (const fs::path file = folder / name; ::access(file.c_str(), R_OK) != 0 && errno == EACCES)
            return fail(
                Code::unavailable,
                fmt::format("cannot read {}: this role runs as another user than its owner; give it to "
                            "that user (chown)",
                            file.string()));
    Credentials read{read_file(folder / "certificate.pem"), read_file(folder / "key.pem"),
                     read_file(folder / "authority.pem")};
    if (read.certificate.empty() || read.key.empty() || read.authority.empty())
        return fail(
            Code::not_found,
            fmt::format("there are no credentials in {}; make them with: hostler ca issue", folder.string()));
    return std::make_shared<const Credentials>(std::move(read));
}

Certified::Keep keep_certificate(fs::path folder) {
    return [folder](std::string certificate, std::string authority) -> Task<> {
        CO_TRY(write_file(folder / "authority.pem", authority));
        co_return write_file(folder / "certificate.pem", certificate);
    };
}

namespace {

// Whether a private key is the one that a certificate is for.
bool goes_with(Keys& keys, const std::string& key_pem, const CertificateFacts& certificate,
               const Authority& authority) {
    const auto request = keys.renew(key_pem, certificate.identity);
    if (!request) return false;
    const auto fingerprint = authority.key_fingerprint(request->csr_pem);
    return fingerprint && *fingerprint == certificate.key_fingerprint;
}

}  // namespace

Result<> make_own_folder(const fs::path& path) {
    const auto failed = [&](std::string_view why) {
        return fail(Code::unavailable, fmt::format("cannot make the folder {}: {}", path.string(), why));
    };
    const fs::path whole = path.has_filename() ? path : path.parent_path();
    if (!whole.has_relative_path()) return {};  // The root.
    std::error_code wrong;
    if (whole.has_parent_path()) fs::create_directories(whole.parent_path(), wrong);
    if (wrong) return failed(wrong.message());
    // With its mode from the first moment.
    if (::mkdir(whole.c_str(), S_IRWXU) == 0) return {};
    if (errno != EEXIST) return failed(std::strerror(errno));
    struct stat facts{};
    if (::stat(whole.c_str(), &facts) != 0) return failed(std::strerror(errno));
    if (!S_ISDIR(facts.st_mode)) return failed(std::strerror(ENOTDIR));
    const bool ours = facts.st_uid == ::geteuid() && (facts.st_mode & S_ISVTX) == 0;
    if (ours && (facts.st_mode & 07777) != S_IRWXU && ::chmod(whole.c_str(), S_IRWXU) != 0)
        return failed(std::strerror(errno));
    return {};
}

Result<> issue_credentials(Process& process, const fs::path& authority_folder, const fs::path& folder,
                           const std::string& role, const std::string& id, const ServerNames& names) {
    constexpr std::chrono::hours life{24 * 30}, clock_tolerance{1};
    ServerNames wanted = TRY(checked(names));
    TRY(make_own_folder(folder));
    TRY(make_own_folder(authority_folder));
    const WallTime now = process.timers->wall();
    const auto keys = net::make_keys();
    const auto authority = TRY(net::open_authority(authority_folder, *process.random, now));
    const auto note = [&](const CertificateFacts& of) -> Result<> {
        if (role == "master") return {};  // It asks nobody for the next one.
        return net::FolderOfIssuedKeys{authority_folder}.note({of.identity.text(), of.key_fingerprint});
    };
    if (const std::string believed = authority->certificate();
        read_file(folder / "authority.pem") != believed)
        TRY(write_file(folder / "authority.pem", believed));
    const std::string before = read_file(folder / "certificate.pem"), key = read_file(folder / "key.pem");
    // Whoever signed it: a master with another authority still shows them to its clients.
    if (const auto facts = keys->read(before); facts && facts->identity.role == role && wanted.empty())
        wanted = facts->names;
    const auto there = authority->check(before);
    const bool lasts = there && goes_with(*keys, key, *there, *authority) &&
                       there->identity == Identity{role, id} && there->not_after > now;
    if (lasts && there->names == wanted) return note(*there);
    // A role that runs goes on with the same key: what it shows and what lies here still go together.
    const KeyRequest request = TRY(lasts ? keys->renew(key, {role, id}) : keys->make({role, id}));
    const SignedCertificate made = TRY(
        authority->sign(request.csr_pem, {role, id}, wanted, now - clock_tolerance, life + clock_tolerance));
    TRY(note(made.facts));
    TRY(write_file(folder / "key.pem", request.key_pem));
    return write_file(folder / "certificate.pem", made.certificate);
}

}  // namespace hostler::bin
