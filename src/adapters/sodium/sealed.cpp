#include "adapters/sodium/sealed.h"

#include <fmt/format.h>
#include <sodium.h>

#include <array>

namespace hostler::sodium {

namespace {

constexpr std::string_view magic = "HOSTLER SEALED ", version = "1\n";
constexpr std::size_t salt_size = crypto_pwhash_SALTBYTES, nonce_size = crypto_secretbox_NONCEBYTES;
constexpr std::size_t head_size = magic.size() + version.size() + 16 + salt_size + nonce_size;
// A file from elsewhere cannot ask for more.
constexpr Cost cost_max{.passes = 64, .memory_bytes = std::uint64_t{4} << 30};

const unsigned char* raw(std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* raw(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

std::string number(std::uint64_t value) {
    std::string text(8, '\0');
    for (std::size_t at = 8; at-- > 0; value >>= 8) text[at] = static_cast<char>(value & 0xff);
    return text;
}

std::uint64_t number(std::string_view text) {
    std::uint64_t value = 0;
    for (const char c : text.substr(0, 8)) value = value << 8 | static_cast<unsigned char>(c);
    return value;
}

// Forgotten when it goes.
struct Key {
    std::array<unsigned char, crypto_secretbox_KEYBYTES> bytes{};
    ~Key() { sodium_memzero(bytes.data(), bytes.size()); }
};

Result<> derive(Key& key, std::string_view passphrase, std::string_view salt, Cost cost) {
    if (crypto_pwhash(key.bytes.data(), key.bytes.size(), passphrase.data(), passphrase.size(), raw(salt),
                      cost.passes, cost.memory_bytes, crypto_pwhash_ALG_ARGON2ID13) != 0)
        return fail(Code::exhausted, fmt::format("the passphrase needs {} MiB of memory to be checked",
                                                 cost.memory_bytes >> 20));
    return {};
}

}  // namespace

Result<std::string> seal(std::string_view plain, std::string_view passphrase, Cost cost) {
    if (passphrase.size() < passphrase_min)
        return fail(Code::invalid,
                    fmt::format("the passphrase must have {} characters at least", passphrase_min));
    if (plain.size() > plain_size_max) return fail(Code::invalid, "this is too much to be sealed");
    HOSTLER_ASSERT(sodium_init() >= 0);
    std::string salt(salt_size, '\0'), nonce(nonce_size, '\0'),
        box(plain.size() + crypto_secretbox_MACBYTES, '\0');
    randombytes_buf(salt.data(), salt.size());
    randombytes_buf(nonce.data(), nonce.size());
    Key key;
    TRY(derive(key, passphrase, salt, cost));
    crypto_secretbox_easy(raw(box), raw(plain), plain.size(), raw(nonce), key.bytes.data());
    return fmt::format("{}{}", magic, version) + number(cost.passes) + number(cost.memory_bytes) + salt +
           nonce + box;
}

Result<std::string> unseal(std::string_view sealed, std::string_view passphrase) {
    if (!sealed.starts_with(magic))
        return fail(Code::invalid, "this is not a file of `hostler ca export` or `hostler seal export`");
    sealed.remove_prefix(magic.size());
    if (!sealed.starts_with(version))
        return fail(Code::invalid, "a newer release has made this file; it cannot be read here");
    sealed.remove_prefix(version.size());
    if (sealed.size() < head_size - magic.size() - version.size() + crypto_secretbox_MACBYTES)
        return fail(Code::invalid, "the file is torn: its end is missing");
    const Cost cost{.passes = number(sealed), .memory_bytes = number(sealed.substr(8))};
    if (cost.passes < crypto_pwhash_OPSLIMIT_MIN || cost.passes > cost_max.passes ||
        cost.memory_bytes < crypto_pwhash_MEMLIMIT_MIN || cost.memory_bytes > cost_max.memory_bytes)
        return fail(Code::invalid, "the file is damaged: its cost parameters are out of range");
    const auto salt = sealed.substr(16, salt_size), nonce = sealed.substr(16 + salt_size, nonce_size);
    const auto box = sealed.substr(16 + salt_size + nonce_size);
    if (box.size() > plain_size_max + crypto_secretbox_MACBYTES)
        return fail(Code::invalid, "this is too large to be such a file");
    HOSTLER_ASSERT(sodium_init() >= 0);
    Key key;
    TRY(derive(key, passphrase, salt, cost));
    std::string plain(box.size() - crypto_secretbox_MACBYTES, '\0');
    if (crypto_secretbox_open_easy(raw(plain), raw(box), box.size(), raw(nonce), key.bytes.data()) != 0)
        return fail(Code::unauthenticated,
                    "the passphrase is another one, or the file is torn or was changed");
    return plain;
}

}  // namespace hostler::sodium
