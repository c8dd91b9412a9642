#include "bin/key_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <termios.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "adapters/sodium/sealed.h"
#include "bin/process.h"
#include "core/log.h"

namespace hostler::bin {

namespace {

namespace fs = std::filesystem;

// A line that nobody sees. Ctrl-C comes as a letter meanwhile, so that the terminal shows again what is
// typed.
Result<Secret> type_unseen(std::string_view question) {
    fmt::print(stderr, "{}: ", question);
    termios shown{};
    ::tcgetattr(STDIN_FILENO, &shown);
    termios unseen = shown;
    unseen.c_lflag &= ~static_cast<tcflag_t>(ECHO | ISIG);
    ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &unseen);
    Secret secret;
    constexpr char interrupt = 3;
    char letter = 0;
    while (::read(STDIN_FILENO, &letter, 1) == 1 && letter != '\n' && letter != interrupt)
        secret.text += letter;
    ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &shown);
    fmt::print(stderr, "\n");
    if (letter != '\n') return fail(Code::cancelled, "nothing was done");
    return secret;
}

// Never over another file. Errors: conflict, unavailable.
Result<> write_new(const std::string& path, std::string_view text) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    const auto wrong = [&path] {
        return fail(errno == EEXIST ? Code::conflict : Code::unavailable,
                    fmt::format("{} cannot be written: {}", path, std::strerror(errno)));
    };
    if (fd < 0) return wrong();
    const bool written =
        ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()) && ::fsync(fd) == 0;
    Result<> result{};
    if (!written) {
        result = wrong();
        ::unlink(path.c_str());
    }
    ::close(fd);
    return result;
}

}  // namespace

Result<Secret> passphrase(const std::string& file, Typed typed) {
    if (file.empty()) {
        if (::isatty(STDIN_FILENO) != 1)
            return fail(Code::invalid,
                        "there is no terminal to ask for the passphrase: give it with --passphrase-file");
        Secret first = TRY(type_unseen("Passphrase"));
        if (typed == Typed::twice && TRY(type_unseen("The same again")).text != first.text)
            return fail(Code::invalid, "the two differ");
        return first;
    }
    Secret read;
    read.text = read_file(file);
    if (read.text.empty()) return fail(Code::not_found, fmt::format("{} cannot be read, or is empty", file));
    while (!read.text.empty() && (read.text.back() == '\n' || read.text.back() == '\r')) read.text.pop_back();
    if (read.text.contains('\n')) return fail(Code::invalid, fmt::format("{} has more than one line", file));
    return read;
}

Result<> write_sealed(const std::string& file, const std::string& passphrase_file, const Secret& keys) {
    if (fs::exists(file)) return fail(Code::conflict, fmt::format("{} exists already", file));
    const Secret phrase = TRY(passphrase(passphrase_file, Typed::twice));
    return write_new(file, TRY(sodium::seal(keys.text, phrase.text)));
}

Result<Secret> read_sealed(const std::string& file, const std::string& passphrase_file) {
    const std::string sealed = read_file(file);
    if (sealed.empty()) return fail(Code::not_found, fmt::format("{} cannot be read", file));
    const Secret phrase = TRY(passphrase(passphrase_file, Typed::once));
    Secret keys;
    keys.text = TRY(sodium::unseal(sealed, phrase.text));
    return keys;
}

int told_keys(const Result<>& result) {
    if (result) return 0;
    log_error("{}", result.error().message);
    switch (result.error().code) {
        case Code::invalid: return 2;
        case Code::not_found: return 3;
        case Code::unauthenticated: return 4;
        case Code::conflict: return 5;
        case Code::exhausted: return 6;
        case Code::forbidden:
        case Code::unavailable:
        case Code::timeout:
        case Code::cancelled:
        case Code::internal: return 1;
    }
    return 1;
}

}  // namespace hostler::bin
