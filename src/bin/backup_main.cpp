// `hostler backup`: of a running master through its API, or straight from a store that no master uses.
#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fstream>

#include "adapters/net/digest.h"
#include "api/codec.h"
#include "api/problem.h"
#include "bin/arguments.h"
#include "bin/process.h"
#include "bin/roles.h"
#include "bin/stores.h"
#include "cli/config.h"
#include "core/version.h"

namespace hostler::bin {

namespace {

namespace fs = std::filesystem;

// A file that is there once it is whole, and for its owner alone: keys' hashes are in it.
class NewFile {
public:
    explicit NewFile(std::string path) : path_(std::move(path)), part_(path_ + ".part") {}
    ~NewFile() {
        if (file_ < 0) return;
        ::close(file_);
        ::unlink(part_.c_str());
    }
    Result<> begin() {
        if (fs::exists(path_)) return fail(Code::conflict, fmt::format("{} exists already", path_));
        ::unlink(part_.c_str());
        file_ = ::open(part_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        return file_ >= 0 ? Result<>{} : wrong();
    }
    Result<> write(std::string_view bytes) {
        while (!bytes.empty()) {
            const auto written = ::write(file_, bytes.data(), bytes.size());
            if (written < 0) return wrong();
            bytes.remove_prefix(static_cast<std::size_t>(written));
        }
        return {};
    }
    // Reads all of it again before it gets its name.
    Result<sql::BackupHead> finish() {
        if (::fsync(file_) != 0) return wrong();
        std::ifstream stream{part_, std::ios::binary};
        const net::OpenSslDigest digest;
        auto head = TRY(sql::verify({file_bytes(stream), digest}));
        if (::rename(part_.c_str(), path_.c_str()) != 0) return wrong();
        TRY(keep_name());
        return head;
    }

private:
    // A name is on the disk when its folder is.
    Result<> keep_name() const {
        const int folder =
            ::open(fs::absolute(path_).parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        const bool kept = folder >= 0 && ::fsync(folder) == 0;
        if (folder >= 0) ::close(folder);
        return kept ? Result<>{} : wrong();
    }
    std::unexpected<Error> wrong() const {
        return fail(Code::unavailable, fmt::format("{} cannot be written: {}", part_, std::strerror(errno)));
    }
    std::string path_, part_;
    int file_ = -1;
};

Result<> from_store(const std::string& where, NewFile& file, WallTime now) {
    const auto store = TRY(open_alone(where, Opened::there));
    TRY(store->run("BEGIN"));
    const net::OpenSslDigest digest;
    sql::BackupWriter writer{*store, digest, now.time_since_epoch().count(), std::string{version}};
    while (true) {
        const std::string piece = TRY(writer.next());
        if (piece.empty()) return {};
        TRY(file.write(piece));
    }
}

Task<> from_master(Process& process, cli::Connection flags, NewFile& file) {
    const cli::CliWorld world = cli::terminal_world(process.loop, *process.net, *process.timers);
    const cli::Connection found = CO_TRY(cli::connection(world, std::move(flags)));
    http::Client client{*process.net, *process.timers};
    Result<http::ReplyPtr> answered = fail(Code::invalid, "no master is named");
    for (const cli::Base& base : CO_TRY(cli::bases_of(found))) {
        http::Call call{.request = {.method = "GET", .target = base.prefix + "/v1/backup"}};
        call.request.headers.set("Host", base.host);
        call.request.headers.set("Authorization", "Bearer " + found.key);
        call.patience.head = std::chrono::minutes{30};  // The master prepares it.
        answered = co_await client.start(base.endpoint, std::move(call));
        if (answered && (*answered)->status != 503) break;  // Else another of the masters may.
    }
    const auto reply = CO_TRY(std::move(answered));
    if (reply->status != 200) {
        constexpr std::size_t problem_max = 1 << 16;
        const auto problem = api::decode_stored<api::Problem>(CO_TRY(co_await reply->read_all(problem_max)));
        if (problem && !problem->code.empty()) co_return std::unexpected(api::error_of(*problem));
        co_return fail(Code::unavailable,
                       fmt::format("{} answered with status {}", found.api, reply->status));
    }
    std::vector<char> piece(std::size_t{1} << 18);
    while (true) {
        const std::size_t size = CO_TRY(co_await reply->read(piece));
        if (size == 0) co_return Result<>{};
        CO_TRY(file.write({piece.data(), size}));
    }
}

Task<> back_up(Process& process, std::string path, std::string store, cli::Connection flags) {
    NewFile file{path};
    CO_TRY(file.begin());
    if (store.empty())
        CO_TRY(co_await from_master(process, std::move(flags), file));
    else
        CO_TRY(from_store(store, file, process.timers->wall()));
    const auto head = CO_TRY(file.finish());
    fmt::print(stderr, "{} holds everything up to commit {} (schema {}), and was read again.\n", path,
               head.number, head.schema);
    co_return Result<>{};
}

}  // namespace

int backup_main(int argc, const char* const* argv) {
    CLI::App app{
        "Write everything that the store holds into a file. Keys of the certificate authority, and those "
        "that seal secrets, are not in it.",
        "hostler backup"};
    std::string file, store;
    cli::Connection flags;
    app.add_option("file", file, "The new file")->required();
    app.add_option("--from", store,
                   "A store that no master uses, as for `hostler store`; else the running master is asked");
    app.add_option("--api", flags.api, "The master's address, as https://HOST or http://HOST:PORT");
    app.add_option("--key", flags.key, "An operator's key");
    app.add_option("--ca", flags.ca, "File with the authorities to believe of https://");
    if (const auto end = read_arguments(app, argc, argv)) return *end;
    Process process;
    return run_until_signalled(process, back_up(process, file, store, std::move(flags)));
}

}  // namespace hostler::bin
