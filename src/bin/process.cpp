#include "bin/process.h"

#include <fcntl.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
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

Result<> issue_credentials(Process& process, const fs::path& authority_folder, const fs::path& folder,
                           const std::string& role, const std::string& id) {
    constexpr std::chrono::hours life{24 * 30}, clock_tolerance{1};
    fs::create_directories(folder);
    fs::create_directories(authority_folder);
    fs::permissions(authority_folder, fs::perms::owner_all);
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
    const auto there = authority->check(read_file(folder / "certificate.pem"));
    if (there && goes_with(*keys, read_file(folder / "key.pem"), *there, *authority) &&
        there->identity == Identity{role, id} && there->not_after > now)
        return note(*there);
    const KeyRequest request = TRY(keys->make({role, id}));
    const SignedCertificate made =
        TRY(authority->sign(request.csr_pem, {role, id}, now - clock_tolerance, life + clock_tolerance));
    TRY(note(made.facts));
    TRY(write_file(folder / "key.pem", request.key_pem));
    return write_file(folder / "certificate.pem", made.certificate);
}

}  // namespace hostler::bin
