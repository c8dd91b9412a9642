#include "adapters/net/authority.h"

#include <fcntl.h>
#include <openssl/err.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "adapters/net/digest.h"
#include "adapters/net/keyring.h"
#include "adapters/net/making.h"
#include "core/base64.h"

namespace hostler::net {

namespace {

std::unexpected<Error> disk_failure(std::string_view what, std::string_view path) {
    return fail(Code::unavailable,
                fmt::format("{} {}: {}", what, path, std::generic_category().message(errno)));
}

// P-256 is what make_keys() makes; a small or exotic key is not worth our signature.
Result<KeyPtr> key_of(X509_REQ& request) {
    KeyPtr key{X509_REQ_get_pubkey(&request)};
    std::array<char, 64> group{};
    std::size_t size = 0;
    if (EVP_PKEY_get_base_id(key.get()) != EVP_PKEY_EC ||
        EVP_PKEY_get_group_name(key.get(), group.data(), group.size(), &size) != 1 ||
        std::string_view{group.data(), size} != "prime256v1") {
        ERR_clear_error();
        return fail(Code::invalid, "the certificate request is for a key that is not ECDSA on P-256");
    }
    return key;
}

class LocalKeys final : public Keys {
public:
    Result<KeyRequest> make(Identity identity) override { return request(*new_key(), identity); }

    Result<KeyRequest> renew(std::string key_pem, Identity identity) override {
        return request(*TRY(parse_key(key_pem)), identity);
    }

    Result<CertificateFacts> read(std::string certificate_pem) const override {
        return facts_of(*TRY(parse_certificate(certificate_pem)));
    }

    Result<std::vector<std::string>> fingerprints(std::string authorities_pem) const override {
        std::vector<std::string> all;
        for (const X509Ptr& one : TRY(parse_certificates(authorities_pem)))
            all.push_back(fingerprint_of(*one));
        return all;
    }

private:
    static Result<KeyRequest> request(EVP_PKEY& key, const Identity& identity) {
        TRY(net::check(identity));
        const RequestPtr request{X509_REQ_new()};
        X509_REQ_set_pubkey(request.get(), &key);
        const std::string name = identity.text().substr(0, 64);
        X509_NAME_add_entry_by_txt(X509_REQ_get_subject_name(request.get()), "CN", MBSTRING_UTF8,
                                   reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
        if (X509_REQ_sign(request.get(), &key, EVP_sha256()) <= 0)
            return fail(Code::invalid,
                        fmt::format("this key cannot sign a certificate request: {}", ssl_words()));
        return KeyRequest{to_pem(key), to_pem(*request)};
    }
};

Result<std::string> read_file(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) return disk_failure("opening", path);
    struct stat found{};
    std::string text(pem_size_max, '\0');
    const bool ok = ::fstat(fd, &found) == 0;
    const ssize_t size = ok ? ::read(fd, text.data(), text.size()) : -1;
    const int error = std::exchange(errno, 0);
    ::close(fd);
    errno = error;
    if (size < 0) return disk_failure("reading", path);
    if ((found.st_mode & 077) != 0)
        return fail(Code::invalid,
                    fmt::format("{} holds the authority's key and others may read it; chmod 600 it", path));
    text.resize(static_cast<std::size_t>(size));
    return text;
}

Result<> sync_folder(const std::string& folder) {
    const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool ok = fd >= 0 && ::fsync(fd) == 0;
    if (fd >= 0) ::close(fd);
    return ok ? Result<>{} : disk_failure("syncing", folder);
}

// A file that appears whole or not at all; over another only if that is wished.
Result<> put_file(const std::string& folder, const std::string& path, const std::string& text,
                  IfThere if_there) {
    std::string draft = path + ".XXXXXX";
    const int fd = ::mkostemp(draft.data(), O_CLOEXEC);  // Made with mode 0600.
    if (fd < 0) return disk_failure("creating a file like", draft);
    const bool written =
        ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()) && ::fsync(fd) == 0;
    const Result<> failed = disk_failure("writing", draft);
    ::close(fd);
    const bool replace = if_there == IfThere::replace;
    const bool put = written && (replace ? ::rename(draft.c_str(), path.c_str()) == 0
                                         : ::link(draft.c_str(), path.c_str()) == 0 || errno == EEXIST);
    const Result<> not_put = disk_failure("creating", path);
    if (!put || !replace) ::unlink(draft.c_str());
    if (!written) return failed;
    if (!put) return not_put;
    return sync_folder(folder);
}

std::string name_of(const X509& certificate) {
    const BioPtr bio{BIO_new(BIO_s_mem())};
    X509_NAME_print_ex(bio.get(), X509_get_subject_name(&certificate), 0, XN_FLAG_RFC2253);
    char* bytes = nullptr;
    const long size = BIO_get_mem_data(bio.get(), &bytes);
    return std::string(bytes, static_cast<std::size_t>(size));
}

std::vector<AuthorityFacts> facts_of(const Keyring& ring) {
    std::vector<AuthorityFacts> all;
    for (const Root& root : ring.roots)
        all.push_back({.fingerprint = fingerprint_of(*root.certificate),
                       .name = name_of(*root.certificate),
                       .certificate = to_pem(*root.certificate),
                       .not_before = wall_of(*X509_get0_notBefore(root.certificate.get())),
                       .not_after = wall_of(*X509_get0_notAfter(root.certificate.get())),
                       .issues = &root == &ring.issuer()});
    return all;
}

// In front of the keys in their file: a comment for PEM readers. A file that an older release wrote has no
// such line until the next key is added; older releases ignore the line.
constexpr std::string_view sum_begin = "# sha256 ";

std::string with_sum(const std::string& keys) {
    return fmt::format("{}{}\n{}", sum_begin, OpenSslDigest{}.sha256(keys), keys);
}

bool has_sum(std::string_view text) { return text.starts_with(sum_begin); }

Result<Keyring> parse_file(const std::string& text) {
    if (has_sum(text)) {
        const std::string keys = text.substr(std::min(text.find('\n'), text.size() - 1) + 1);
        if (text != with_sum(keys)) return fail(Code::invalid, "it was changed, or a part is missing");
    }
    return parse_keyring(text);
}

Result<Keyring> read_keyring(const std::string& path) {
    auto ring = parse_file(TRY(read_file(path)));
    if (!ring) ring.error().message = fmt::format("{}: {}", path, ring.error().message);
    return ring;
}

std::string path_in(const std::string& folder) { return folder + "/authority.pem"; }

Result<> put_ring(const std::string& folder, const Keyring& ring, IfThere if_there) {
    return put_file(folder, path_in(folder), with_sum(ring.text()), if_there);
}

class FileAuthority final : public Authority {
public:
    FileAuthority(std::string folder, Keyring ring, Random& random)
        : folder_(std::move(folder)), ring_(std::move(ring)), random_(random) {}

    Result<SignedCertificate> sign(std::string csr_pem, Identity identity, ServerNames names,
                                   WallTime not_before, Duration lifetime) override {
        TRY(net::check(identity));
        names = TRY(checked(names));
        const auto request = TRY(parse_request(csr_pem));
        const auto key = TRY(key_of(*request));
        // Masters go first: a standby learns of a new authority by import, and not when that issues.
        const Root& root = identity.role == "master" ? ring_.newest() : ring_.issuer();
        X509& issuer = *root.certificate;
        const X509Ptr certificate{X509_new()};
        X509_set_version(certificate.get(), x509_version_3);
        set_serial(*certificate, random_);
        set_name(*certificate, identity.text().substr(0, 64));  // For people; 64 is X.509's limit.
        X509_set_issuer_name(certificate.get(), X509_get_subject_name(&issuer));
        const auto ends = not_before + std::chrono::floor<std::chrono::microseconds>(lifetime);
        set_dates(*certificate, not_before, std::min(ends, wall_of(*X509_get0_notAfter(&issuer))));
        X509_set_pubkey(certificate.get(), key.get());
        add_extension(*certificate, issuer, NID_basic_constraints, "critical,CA:FALSE");
        add_extension(*certificate, issuer, NID_key_usage, "critical,digitalSignature");
        add_extension(*certificate, issuer, NID_ext_key_usage, "clientAuth,serverAuth");
        add_extension(*certificate, issuer, NID_subject_alt_name,
                      "critical,URI:hostler://" + identity.text() +
                          (names.empty() ? "" : "," + alternative_names(names)));
        add_extension(*certificate, issuer, NID_authority_key_identifier, "keyid:always");
        HOSTLER_ASSERT(X509_sign(certificate.get(), root.key.get(), EVP_sha256()) > 0);
        auto facts = TRY(net::facts_of(*certificate));
        facts.authority = fingerprint_of(*root.certificate);
        // With what shows it to those who know the authority before this one alone.
        return SignedCertificate{to_pem(*certificate) + (root.crossed ? to_pem(*root.crossed) : ""),
                                 std::move(facts)};
    }

    Result<CertificateFacts> check(std::string certificate_pem) const override {
        const auto certificate = TRY(parse_certificate(certificate_pem));
        auto facts = TRY(net::facts_of(*certificate));
        const auto root = std::ranges::find_if(ring_.roots, [&certificate](const Root& one) {
            return X509_verify(certificate.get(), one.key.get()) == 1;
        });
        ERR_clear_error();
        if (root == ring_.roots.end())
            return fail(
                Code::unauthenticated,
                fmt::format("the certificate of {} is not signed by our authority", facts.identity.text()));
        facts.authority = fingerprint_of(*root->certificate);
        return facts;
    }

    Result<std::string> key_fingerprint(std::string csr_pem) const override {
        const auto request = TRY(parse_request(csr_pem));
        return fingerprint_of(*TRY(key_of(*request)));
    }

    Result<std::string> sign_text(std::string_view text) const override {
        const DigestContextPtr context{EVP_MD_CTX_new()};
        EVP_PKEY* key = ring_.issuer().key.get();
        HOSTLER_ASSERT(EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, key) == 1);
        const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
        std::size_t size = 0;
        HOSTLER_ASSERT(EVP_DigestSign(context.get(), nullptr, &size, bytes, text.size()) == 1);
        std::string signature(size, '\0');
        HOSTLER_ASSERT(EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()),
                                      &size, bytes, text.size()) == 1);
        signature.resize(size);
        return base64(signature);
    }

    Result<> check_text(std::string_view text, const std::string& signature,
                        const std::string& certificate_pem, const std::string& fingerprint) const override {
        return check_signed_text(text, signature, certificate_pem, fingerprint);
    }

    std::string certificate() const override {
        std::string all;
        for (const Root& root : ring_.roots) all += to_pem(*root.certificate);
        return all;
    }
    std::string fingerprint() const override { return fingerprint_of(*ring_.roots.front().certificate); }

    std::vector<AuthorityFacts> all() const override { return facts_of(ring_); }

    Result<> add(WallTime now) override {
        Keyring ring = TRY(read_keyring(path_in(folder_)));  // An import may have been there meanwhile.
        if (ring.roots.size() == 1) {
            ring.roots.push_back(new_root(random_, now, &ring.newest()));
            TRY(put_ring(folder_, ring, IfThere::replace));
        }
        ring_ = std::move(ring);
        return {};
    }

    Result<> keep(std::vector<std::string> kept, std::string issuing) override {
        Keyring ring = TRY(read_keyring(path_in(folder_)));
        const std::string before = ring.text();
        std::erase_if(ring.roots, [&kept](const Root& root) {
            return !std::ranges::count(kept, fingerprint_of(*root.certificate));
        });
        const auto issuer = std::ranges::find(
            ring.roots, issuing, [](const Root& root) { return fingerprint_of(*root.certificate); });
        if (issuer == ring.roots.end())
            return fail(Code::not_found, fmt::format("{} has no key of the authority {}", folder_, issuing));
        ring.issuing = static_cast<std::size_t>(issuer - ring.roots.begin());
        if (ring.text() != before) TRY(put_ring(folder_, ring, IfThere::replace));
        ring_ = std::move(ring);
        return {};
    }

private:
    std::string folder_;
    Keyring ring_;
    Random& random_;
};

}  // namespace

Result<> check_signed_text(std::string_view text, const std::string& signature,
                           const std::string& certificate_pem, const std::string& fingerprint) {
    const auto certificate = TRY(parse_certificate(certificate_pem));
    if (fingerprint_of(*certificate) != fingerprint)
        return fail(Code::unauthenticated, "its certificate is not that of its authority");
    const std::string bytes = base64_decoded(signature);
    const DigestContextPtr context{EVP_MD_CTX_new()};
    EVP_PKEY* key = X509_get0_pubkey(certificate.get());
    const bool good =
        key && EVP_DigestVerifyInit(context.get(), nullptr, EVP_sha256(), nullptr, key) == 1 &&
        EVP_DigestVerify(context.get(), reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
                         reinterpret_cast<const unsigned char*>(text.data()), text.size()) == 1;
    ERR_clear_error();
    if (good) return {};
    return fail(Code::unauthenticated, "the signature is not by the key of its certificate");
}

Result<std::unique_ptr<Authority>> open_authority(std::string folder, Random& random, WallTime now) {
    const std::string path = path_in(folder);
    if (::access(path.c_str(), F_OK) != 0) {
        if (errno != ENOENT) return disk_failure("opening", path);
        Keyring ring;
        ring.roots.push_back(new_root(random, now));
        TRY(put_ring(folder, ring, IfThere::leave));
    }
    return std::make_unique<FileAuthority>(folder, TRY(read_keyring(path)), random);
}

Result<std::string> read_authority_keys(const std::string& folder) {
    if (::access(path_in(folder).c_str(), F_OK) != 0)
        return fail(Code::not_found, fmt::format("there is no authority in {}", folder));
    return TRY(read_keyring(path_in(folder))).text();
}

Result<std::vector<AuthorityFacts>> facts_of_keys(std::string_view keys) {
    return facts_of(TRY(parse_keyring(keys)));
}

Result<> put_authority_keys(const std::string& folder, std::string_view keys, IfThere if_there) {
    return put_ring(folder, TRY(parse_keyring(keys)), if_there);
}

std::unique_ptr<Keys> make_keys() { return std::make_unique<LocalKeys>(); }

}  // namespace hostler::net
