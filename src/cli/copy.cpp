// Files and folders into an instance, and out of it.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "cli/remote.h"
#include "cli/render.h"
#include "cli/unpack.h"
#include "cli/wait.h"
#include "core/safe_text.h"
#include "core/task_group.h"

namespace hostler::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t piece_bytes_max = 32 * 1024;
constexpr std::uint64_t hole_told_min = 1 << 20;  // Smaller holes are not worth a word.

struct Place {
    std::string instance;  // Empty: on this machine.
    std::string path;
};

// "NAME:PATH" is in an instance; "./a:b" and "/a:b" are files here.
Place place_of(const std::string& text) {
    const auto colon = text.find(':');
    if (colon == std::string::npos || colon == 0 || text.find('/') < colon) return {"", text};
    return {text.substr(0, colon), text.substr(colon + 1)};
}

struct Facts {
    bool there = false;
    bool folder = false;
};

// What a `look` answers: "folder 755 4096", its name, where it leads.
Task<Facts> look(CliWorld& world, const Way& way, std::string path) {
    Session session{world, way, "look", {{"path", path}}};
    const auto opened = co_await session.open();
    if (!opened && opened.error().reason == "path_not_found") co_return Facts{};
    CO_TRY(opened);
    TaskGroup tasks{world.loop};
    tasks.start("session", session.keep());
    std::string said;
    Result<> done;
    while (true) {
        auto message = co_await session.receive();
        if (!message) {
            done = std::unexpected(message.error());
            break;
        }
        if (message->channel == http::Channel::output) said += message->bytes;
        if (message->channel == http::Channel::exit) break;
    }
    session.finish();
    (void)co_await tasks.close();
    CO_TRY(std::move(done));
    // A link may lead to a folder: the engine unpacks behind it.
    co_return Facts{.there = true, .folder = said.starts_with("folder") || said.starts_with("link")};
}

// Shows how much has been copied, a few times a second.
class Shown {
public:
    explicit Shown(CliWorld& world) : world_(world), progress_(world) {}
    void add(std::size_t bytes) {
        constexpr Duration every = std::chrono::milliseconds{250};
        bytes_ += bytes;
        const Instant now = world_.timers.now();
        if (!world_.err_is_terminal || now - shown_ < every) return;
        shown_ = now;
        progress_.show(fmt::format("{} copied", bytes_text(static_cast<std::int64_t>(bytes_))));
    }
    void end() { progress_.end(); }
    std::uint64_t bytes() const { return bytes_; }

private:
    CliWorld& world_;
    Progress progress_;
    Instant shown_{};
    std::uint64_t bytes_ = 0;
};

// Gives an archive of files of this machine to a session.
class Packer {
public:
    Packer(CliWorld& world, Session& session, Shown& shown)
        : world_(world), session_(session), shown_(shown) {}

    Task<> pack(std::string path, std::string name) {
        CO_TRY(co_await one(std::move(path), std::move(name)));
        CO_TRY(co_await put(tar_end()));
        co_return co_await session_.talk().send(http::Channel::end, "");
    }
    std::uint64_t files() const { return files_; }

private:
    static std::unexpected<Error> unread(const std::string& path) {
        return fail(Code::invalid, fmt::format("cannot read {}: {}", path, std::strerror(errno)));
    }

    Task<> put(std::string bytes) {
        for (std::size_t at = 0; at < bytes.size(); at += piece_bytes_max)
            CO_TRY(co_await session_.talk().send(http::Channel::input, bytes.substr(at, piece_bytes_max)));
        co_return Result<>{};
    }

    Task<> one(std::string path, std::string name) {
        struct stat facts{};
        if (::lstat(path.c_str(), &facts) != 0) co_return unread(path);
        TarEntry entry{.name = name, .mode = facts.st_mode & 07777, .time = facts.st_mtime};
        if (S_ISLNK(facts.st_mode)) {
            std::error_code wrong;
            entry.kind = TarEntry::Kind::link;
            entry.link = fs::read_symlink(path, wrong).string();
            co_return co_await put(tar_head(entry));
        }
        if (S_ISREG(facts.st_mode)) co_return co_await file(std::move(path), std::move(entry));
        if (!S_ISDIR(facts.st_mode)) {
            world_.err(fmt::format("{} is a device, a pipe or a socket, and is left out\n", safe_line(path)));
            co_return Result<>{};
        }
        entry.kind = TarEntry::Kind::folder;
        entry.name += '/';
        CO_TRY(co_await put(tar_head(entry)));
        std::vector<std::string> names;
        std::error_code wrong;
        for (fs::directory_iterator in{path, wrong}, end; !wrong && in != end; in.increment(wrong))
            names.push_back(in->path().filename().string());
        if (wrong) {
            errno = wrong.value();
            co_return unread(path);
        }
        std::ranges::sort(names);
        for (const auto& inner : names) CO_TRY(co_await one(path + "/" + inner, name + "/" + inner));
        co_return Result<>{};
    }

    // As much as its head says, whatever happens to the file meanwhile.
    Task<> file(std::string path, TarEntry entry) {
        struct Open {
            int fd;
            ~Open() {
                if (fd >= 0) ::close(fd);
            }
        } const in{::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC)};
        struct stat facts{};
        if (in.fd < 0 || ::fstat(in.fd, &facts) != 0) co_return unread(path);
        entry.size = static_cast<std::uint64_t>(facts.st_size);
        ++files_;
        // An engine writes what an archive has, zeros too.
        if (const auto data = static_cast<std::uint64_t>(facts.st_blocks) * 512;
            data + hole_told_min < entry.size)
            world_.err(fmt::format("{} has holes: {} are written in the instance, for {} of data\n",
                                   safe_line(path), bytes_text(static_cast<std::int64_t>(entry.size)),
                                   bytes_text(static_cast<std::int64_t>(data))));
        CO_TRY(co_await put(tar_head(entry)));
        for (std::uint64_t left = entry.size; left > 0;) {
            std::string piece(std::min<std::uint64_t>(left, piece_bytes_max), '\0');
            const auto size = ::read(in.fd, piece.data(), piece.size());
            if (size < 0) co_return unread(path);
            if (size == 0)
                co_return fail(Code::conflict, fmt::format("{} became shorter while it was copied", path));
            piece.resize(static_cast<std::size_t>(size));
            left -= piece.size();
            shown_.add(piece.size());
            CO_TRY(co_await session_.talk().send(http::Channel::input, std::move(piece)));
        }
        co_return co_await put(std::string(tar_padding(entry.size), '\0'));
    }

    CliWorld& world_;
    Session& session_;
    Shown& shown_;
    std::uint64_t files_ = 0;
};

Task<> send_files(CliWorld& world, const Way& way, std::string from, std::string to) {
    struct stat facts{};
    if (::lstat(from.c_str(), &facts) != 0)
        co_return fail(Code::not_found, fmt::format("there is no file {} on this machine", from));
    const fs::path source = fs::absolute(from).lexically_normal();
    std::string name =
        source.has_filename() ? source.filename().string() : source.parent_path().filename().string();
    if (to.empty()) to = "/";
    const bool slash = to.ends_with('/');
    const Facts there = CO_TRY(co_await look(world, way, to));
    std::string folder = to;
    if (!there.folder) {
        if (slash && !there.there)
            co_return fail(Code::not_found, fmt::format("there is no folder {} in the instance", to),
                           "path_not_found");
        const fs::path path{to};
        name = path.filename().string();
        folder = path.parent_path().empty() ? "/" : path.parent_path().string();
        // One engine would make what is missing on the way, the other would not.
        if (!CO_TRY(co_await look(world, way, folder)).folder)
            co_return fail(Code::not_found, fmt::format("there is no folder {} in the instance", folder),
                           "path_not_found");
    }
    Session session{world, way, "put", {{"path", folder}}};
    CO_TRY(co_await session.open());
    Shown shown{world};
    Packer packer{world, session, shown};
    std::optional<Error> wrong;
    TaskGroup tasks{world.loop};
    tasks.start("session", session.keep());
    tasks.start(
        "files",
        [](Packer& with, std::string path, std::string as, Session& of, std::optional<Error>& why) -> Task<> {
            const auto packed = co_await with.pack(std::move(path), std::move(as));
            if (!packed && packed.error().code != Code::cancelled &&
                packed.error().code != Code::unavailable) {
                why = packed.error();
                // An archive that ends half-way must not look whole.
                (void)co_await of.talk().send(http::Channel::exit, "");
                (void)co_await of.talk().acknowledged();
                of.finish();
            }
            co_return Result<>{};
        }(packer, source.string(), name, session, wrong));
    Result<> done;
    while (true) {
        auto message = co_await session.receive();
        if (!message) {
            done = std::unexpected(message.error());
            break;
        }
        if (message->channel != http::Channel::exit) continue;
        const auto exit = http::decode_exit(message->bytes);
        if (!exit)
            done = std::unexpected(exit.error());
        else if (exit->error)
            done = std::unexpected(*exit->error);
        break;
    }
    session.finish();
    (void)co_await tasks.close();
    shown.end();
    if (wrong) co_return std::unexpected(*wrong);
    CO_TRY(std::move(done));
    world.err(fmt::format("{} file{}, {} copied\n", packer.files(), packer.files() == 1 ? "" : "s",
                          bytes_text(static_cast<std::int64_t>(shown.bytes()))));
    co_return Result<>{};
}

Task<> fetch_files(CliWorld& world, const Way& way, std::string from, std::string to) {
    std::error_code wrong;
    const fs::path path = fs::path{from}.lexically_normal();
    const std::string root =
        path.has_filename() ? path.filename().string() : path.parent_path().filename().string();
    std::string folder = to, as = root.empty() ? "root" : root;
    if (!fs::is_directory(to, wrong)) {
        const fs::path target = fs::absolute(to).lexically_normal();
        folder = target.parent_path().string();
        as = target.filename().string();
        if (as.empty() || !fs::is_directory(folder, wrong))
            co_return fail(Code::not_found, fmt::format("there is no folder {} on this machine", folder));
    }
    Session session{world, way, "get", {{"path", from}}};
    CO_TRY(co_await session.open());
    TaskGroup tasks{world.loop};
    tasks.start("session", session.keep());
    Shown shown{world};
    Unpacker unpacker{folder, root, as, [&](std::string words) { world.err(safe_line(words) + "\n"); }};
    TarReader::Sink sink = unpacker.sink();
    sink.bytes = [&shown, inner = std::move(sink.bytes)](std::string_view piece) {
        shown.add(piece.size());
        return inner(piece);
    };
    TarReader reader{std::move(sink)};
    Result<> done;
    while (true) {
        auto message = co_await session.receive();
        if (!message) {
            done = std::unexpected(message.error());
            break;
        }
        if (message->channel == http::Channel::output) {
            done = reader.feed(message->bytes);
            if (!done) {
                (void)co_await session.talk().send(http::Channel::exit, "");
                (void)co_await session.talk().acknowledged();
                break;
            }
        }
        if (message->channel != http::Channel::exit) continue;
        const auto exit = http::decode_exit(message->bytes);
        if (!exit || exit->error) done = std::unexpected(exit ? *exit->error : exit.error());
        break;
    }
    session.finish();
    (void)co_await tasks.close();
    shown.end();
    CO_TRY(std::move(done));
    if (!reader.ended())
        co_return fail(Code::unavailable,
                       "the host broke off while it sent files; the received files are incomplete");
    CO_TRY(unpacker.finish());
    const std::string holes = unpacker.written() + hole_told_min < shown.bytes()
                                  ? fmt::format(", {} of it on the disk: the rest is zeros",
                                                bytes_text(static_cast<std::int64_t>(unpacker.written())))
                                  : "";
    world.err(fmt::format("{} file{}, {} copied{}\n", unpacker.files(), unpacker.files() == 1 ? "" : "s",
                          bytes_text(static_cast<std::int64_t>(shown.bytes())), holes));
    co_return Result<>{};
}

}  // namespace

Task<int> copy_files(CliWorld& world, ApiClient& client, const Connection& connection, std::string tenant,
                     std::string from, std::string to) {
    const Place source = place_of(from), target = place_of(to);
    if (source.instance.empty() == target.instance.empty())
        co_return fail(Code::invalid,
                       "cp copies between this machine and an instance: one of the two is NAME:PATH, as in "
                       "hostler cp data notebook-1:/data");
    const bool in = source.instance.empty();
    const std::string& name = in ? target.instance : source.instance;
    const Way way = CO_TRY(co_await way_to(client, connection, name, std::move(tenant)));
    if (in)
        CO_TRY(co_await send_files(world, way, source.path, target.path));
    else
        CO_TRY(co_await fetch_files(world, way, source.path, target.path));
    co_return 0;
}

}  // namespace hostler::cli
