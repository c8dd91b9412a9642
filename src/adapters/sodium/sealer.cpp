#include "adapters/sodium/sealer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sodium.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace hostler::sodium {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view head = "HOSTLER SEALING KEYS 1\n";
constexpr std::size_t key_size = crypto_aead_xchacha20poly1305_ietf_KEYBYTES;
constexpr std::size_t nonce_size = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES;
constexpr std::size_t tag_size = crypto_aead_xchacha20poly1305_ietf_ABYTES;
constexpr std::size_t id_bytes = 8;
constexpr std::size_t line_size = 2 * id_bytes + 1 + 2 * key_size + 1;
constexpr int base64 = sodium_base64_VARIANT_URLSAFE_NO_PADDING;

const unsigned char* raw(std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* raw(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

// Forgotten when it goes.
struct Text {
    std::string text{};
    Text() = default;
    explicit Text(std::size_t size) : text(size, '\0') {}
    Text(Text&& other) noexcept { text.swap(other.text); }
    Text& operator=(Text&&) = delete;
    ~Text() { sodium_memzero(text.data(), text.size()); }
};

struct Key {
    std::string id{};
    std::array<unsigned char, key_size> bytes{};
    Key() = default;
    Key(const Key&) = default;
    Key(Key&&) = default;
    Key& operator=(const Key&) = default;
    Key& operator=(Key&&) = default;
    ~Key() { sodium_memzero(bytes.data(), bytes.size()); }
};
using Ring = std::vector<Key>;

std::string hex(const unsigned char* bytes, std::size_t size) {
    std::string text(2 * size + 1, '\0');
    sodium_bin2hex(text.data(), text.size(), bytes, size);
    text.pop_back();
    return text;
}

std::string id_of(const Key& key) {
    constexpr std::string_view what = "hostler sealing key id";
    std::array<unsigned char, crypto_generichash_BYTES_MIN> hash{};
    crypto_generichash(hash.data(), hash.size(), raw(what), what.size(), key.bytes.data(), key.bytes.size());
    return hex(hash.data(), id_bytes);
}

const Key* find(const Ring& ring, std::string_view id) {
    const auto at = std::ranges::find(ring, id, &Key::id);
    return at == ring.end() ? nullptr : &*at;
}

std::unexpected<Error> too_many() {
    return fail(Code::exhausted,
                fmt::format("there are {} sealing keys already; forget an unused one", Sealer::keys_max),
                "sealing_keys_max");
}

Result<Ring> parse(std::string_view text) {
    const auto wrong = [] { return fail(Code::invalid, "these are no sealing keys, or they are torn"); };
    if (!text.starts_with(head)) return wrong();
    text.remove_prefix(head.size());
    if (text.size() % line_size != 0) return wrong();
    Ring ring;
    for (; !text.empty(); text.remove_prefix(line_size)) {
        Key key;
        std::size_t size = 0;
        if (sodium_hex2bin(key.bytes.data(), key_size, text.data() + 2 * id_bytes + 1, 2 * key_size, nullptr,
                           &size, nullptr) != 0 ||
            size != key_size)
            return wrong();
        key.id = id_of(key);
        if (text.substr(0, 2 * id_bytes + 1) != key.id + " " || text[line_size - 1] != '\n') return wrong();
        if (!find(ring, key.id)) ring.push_back(std::move(key));
    }
    if (ring.size() > Sealer::keys_max) return too_many();
    return ring;
}

Text text_of(const Ring& ring) {
    Text all;
    all.text.reserve(head.size() + ring.size() * line_size);
    all.text = head;
    for (const Key& key : ring) {
        Text line;
        line.text = hex(key.bytes.data(), key_size);
        all.text.append(key.id).append(" ").append(line.text).append("\n");
    }
    return all;
}

std::unexpected<Error> wrong_file(const fs::path& file, std::string_view what) {
    return fail(Code::unavailable,
                fmt::format("{} cannot be {}: {}", file.string(), what, std::strerror(errno)));
}

// Errors: not_found.
Result<Text> read_text(const fs::path& file) {
    const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return fail(Code::not_found, fmt::format("there are no sealing keys in {}", file.string()));
    if (fd < 0) return wrong_file(file, "read");
    constexpr std::size_t size_max = head.size() + (Sealer::keys_max + 1) * line_size;
    Text text{size_max};
    std::size_t size = 0;
    ssize_t got = 0;
    while (size < size_max && (got = ::read(fd, text.text.data() + size, size_max - size)) > 0)
        size += static_cast<std::size_t>(got);
    ::close(fd);
    if (got < 0) return wrong_file(file, "read");
    text.text.resize(size);
    return text;
}

// Errors: not_found.
Result<Ring> read_ring(const fs::path& file) {
    const Text text = TRY(read_text(file));
    auto ring = parse(text.text);
    if (!ring) ring.error().message = fmt::format("{}: {}", file.string(), ring.error().message);
    return ring;
}

Result<Ring> ring_or_none(const fs::path& file) {
    auto ring = read_ring(file);
    if (!ring && ring.error().code == Code::not_found) return Ring{};
    return ring;
}

// Whole or not at all, and its name with it.
Result<> write_ring(const fs::path& file, const Ring& ring) {
    const fs::path part = file.string() + ".part";
    ::unlink(part.c_str());
    const int fd = ::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) return wrong_file(file, "written");
    const Text text = text_of(ring);
    const bool written =
        ::write(fd, text.text.data(), text.text.size()) == static_cast<ssize_t>(text.text.size()) &&
        ::fsync(fd) == 0;
    ::close(fd);
    if (!written || ::rename(part.c_str(), file.c_str()) != 0) {
        const auto wrong = wrong_file(file, "written");
        ::unlink(part.c_str());
        return wrong;
    }
    const int folder = ::open(file.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool kept = folder >= 0 && ::fsync(folder) == 0;
    if (folder >= 0) ::close(folder);
    return kept ? Result<>{} : wrong_file(file, "written");
}

class FileSealer final : public Sealer {
public:
    FileSealer(fs::path file, Ring ring) : file_(std::move(file)), ring_(std::move(ring)) {}

    std::vector<std::string> keys() const override {
        std::vector<std::string> ids;
        for (const Key& key : ring_) ids.push_back(key.id);
        return ids;
    }
    Result<std::string> make() override {
        TRY(read());
        if (ring_.size() >= keys_max) return too_many();
        Ring ring = ring_;
        Key& key = ring.emplace_back();
        crypto_aead_xchacha20poly1305_ietf_keygen(key.bytes.data());
        key.id = id_of(key);
        TRY(write_ring(file_, ring));
        ring_ = std::move(ring);
        return ring_.back().id;
    }
    Result<> forget(std::string id) override {
        TRY(read());
        Ring ring = ring_;
        if (std::erase_if(ring, [&id](const Key& key) { return key.id == id; }) == 0) return {};
        TRY(write_ring(file_, ring));
        ring_ = std::move(ring);
        return {};
    }
    Result<> read() override {
        for (Key& key : TRY(ring_or_none(file_)))
            if (!find(ring_, key.id)) ring_.push_back(std::move(key));
        return {};
    }
    Result<std::string> seal(std::string_view id, std::string_view place,
                             std::string_view plain) const override {
        const Key* key = TRY(needed(id));
        std::string box(nonce_size + plain.size() + tag_size, '\0');
        randombytes_buf(box.data(), nonce_size);
        crypto_aead_xchacha20poly1305_ietf_encrypt(raw(box) + nonce_size, nullptr, raw(plain), plain.size(),
                                                   raw(place), place.size(), nullptr, raw(box),
                                                   key->bytes.data());
        std::string text(sodium_base64_encoded_len(box.size(), base64), '\0');
        sodium_bin2base64(text.data(), text.size(), raw(box), box.size(), base64);
        text.pop_back();
        return text;
    }
    Result<std::string> open(std::string_view id, std::string_view place,
                             std::string_view sealed) const override {
        const Key* key = TRY(needed(id));
        const auto wrong = [] {
            return fail(Code::unauthenticated, "it was sealed for another place, or was changed");
        };
        std::string box(sealed.size(), '\0');
        std::size_t size = 0;
        if (sodium_base642bin(raw(box), box.size(), sealed.data(), sealed.size(), nullptr, &size, nullptr,
                              base64) != 0 ||
            size < nonce_size + tag_size)
            return wrong();
        std::string plain(size - nonce_size - tag_size, '\0');
        if (crypto_aead_xchacha20poly1305_ietf_decrypt(raw(plain), nullptr, nullptr, raw(box) + nonce_size,
                                                       size - nonce_size, raw(place), place.size(), raw(box),
                                                       key->bytes.data()) != 0)
            return wrong();
        return plain;
    }

private:
    Result<const Key*> needed(std::string_view id) const {
        if (const Key* key = find(ring_, id)) return key;
        return fail(Code::not_found, fmt::format("there is no sealing key {} in {}", id, file_.string()));
    }

    fs::path file_;
    Ring ring_;
};

}  // namespace

Result<std::unique_ptr<Sealer>> open_sealer(fs::path file) {
    HOSTLER_ASSERT(sodium_init() >= 0);
    Ring ring = TRY(ring_or_none(file));
    return std::make_unique<FileSealer>(std::move(file), std::move(ring));
}

Result<std::string> read_sealing_keys(const fs::path& file) {
    HOSTLER_ASSERT(sodium_init() >= 0);
    Text text = TRY(read_text(file));
    TRY(parse(text.text));
    return std::exchange(text.text, {});
}

Result<std::vector<std::string>> ids_of_sealing_keys(std::string_view text) {
    HOSTLER_ASSERT(sodium_init() >= 0);
    std::vector<std::string> ids;
    for (const Key& key : TRY(parse(text))) ids.push_back(key.id);
    return ids;
}

Result<> add_sealing_keys(const fs::path& file, std::string_view text) {
    HOSTLER_ASSERT(sodium_init() >= 0);
    Ring ring = TRY(ring_or_none(file));
    for (Key& key : TRY(parse(text)))
        if (!find(ring, key.id)) ring.push_back(std::move(key));
    if (ring.size() > Sealer::keys_max) return too_many();
    return write_ring(file, ring);
}

}  // namespace hostler::sodium
