#include "adapters/net/authority.h"

#include <fcntl.h>
#include <openssl/err.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "adapters/net/certificate.h"

namespace hostler::net {

namespace {

constexpr std::chrono::years authority_lifetime{30};
constexpr std::chrono::hours clock_tolerance{1};
constexpr int version_3 = 2;  // As X.509 counts.

std::unexpected<Error> disk_failure(std::string_view what, std::string_view path) {
    return fail(Code::unavailable,
                fmt::format("{} {}: {}", what, path, std::generic_category().message(errno)));
}

KeyPtr new_key() {
    KeyPtr key{EVP_EC_gen("P-256")};
    HOSTLER_ASSERT(key != nullptr);
    return key;
}

void add_extension(X509& to, X509& issuer, int kind, const std::string& value) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, &issuer, &to, nullptr, nullptr, 0);
    const ExtensionPtr extension{X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str())};
    HOSTLER_ASSERT(extension && X509_add_ext(&to, extension.get(), -1) == 1);
}

void set_serial(X509& certificate, Random& random) {
    std::array<std::uint8_t, 16> bytes{};
    random.fill(bytes);
    bytes[0] = (bytes[0] & 0x3f) | 0x40;  // Positive, and always of the same length.
    const NumberPtr number{BN_bin2bn(bytes.data(), bytes.size(), nullptr)};
    BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(&certificate));
}

void set_name(X509& certificate, const std::string& common_name) {
    X509_NAME* name = X509_get_subject_name(&certificate);
    const auto* text = reinterpret_cast<const unsigned char*>(common_name.c_str());
    HOSTLER_ASSERT(X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, text, -1, -1, 0) == 1);
}

void set_dates(X509& certificate, WallTime not_before, WallTime not_after) {
    const auto seconds = [](WallTime time) {
        return static_cast<time_t>(std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count());
    };
    ASN1_TIME_set(X509_getm_notBefore(&certificate), seconds(not_before));
    ASN1_TIME_set(X509_getm_notAfter(&certificate), seconds(not_after));
}

struct Root {
    KeyPtr key;
    X509Ptr certificate;
};

Root new_root(Random& random, WallTime now) {
    Root root{new_key(), X509Ptr{X509_new()}};
    X509& certificate = *root.certificate;
    X509_set_version(&certificate, version_3);
    set_serial(certificate, random);
    set_name(certificate, "Hostler authority");
    X509_set_issuer_name(&certificate, X509_get_subject_name(&certificate));
    set_dates(certificate, now - clock_tolerance, now + authority_lifetime);
    X509_set_pubkey(&certificate, root.key.get());
    add_extension(certificate, certificate, NID_basic_constraints, "critical,CA:TRUE,pathlen:0");
    add_extension(certificate, certificate, NID_key_usage, "critical,keyCertSign,cRLSign");
    add_extension(certificate, certificate, NID_subject_key_identifier, "hash");
    HOSTLER_ASSERT(X509_sign(&certificate, root.key.get(), EVP_sha256()) > 0);
    return root;
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

class FileAuthority final : public Authority {
public:
    FileAuthority(Root root, Random& random) : root_(std::move(root)), random_(random) {}

    Result<SignedCertificate> sign(std::string csr_pem, Identity identity, WallTime not_before,
                                   Duration lifetime) override {
        TRY(net::check(identity));
        const auto request = TRY(parse_request(csr_pem));
        const auto key = TRY(key_of(*request));
        X509& issuer = *root_.certificate;
        const X509Ptr certificate{X509_new()};
        X509_set_version(certificate.get(), version_3);
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
                      "critical,URI:hostler://" + identity.text());
        add_extension(*certificate, issuer, NID_authority_key_identifier, "keyid:always");
        HOSTLER_ASSERT(X509_sign(certificate.get(), root_.key.get(), EVP_sha256()) > 0);
        return SignedCertificate{to_pem(*certificate), TRY(facts_of(*certificate))};
    }

    Result<CertificateFacts> check(std::string certificate_pem) const override {
        const auto certificate = TRY(parse_certificate(certificate_pem));
        auto facts = TRY(facts_of(*certificate));
        if (X509_verify(certificate.get(), root_.key.get()) != 1) {
            ERR_clear_error();
            return fail(
                Code::unauthenticated,
                fmt::format("the certificate of {} is not signed by our authority", facts.identity.text()));
        }
        return facts;
    }

    Result<std::string> key_fingerprint(std::string csr_pem) const override {
        const auto request = TRY(parse_request(csr_pem));
        return fingerprint_of(*TRY(key_of(*request)));
    }

    std::string certificate() const override { return to_pem(*root_.certificate); }
    std::string fingerprint() const override { return fingerprint_of(*root_.certificate); }

private:
    Root root_;
    Random& random_;
};

class LocalKeys final : public Keys {
public:
    Result<KeyRequest> make(Identity identity) override { return request(*new_key(), identity); }

    Result<KeyRequest> renew(std::string key_pem, Identity identity) override {
        return request(*TRY(parse_key(key_pem)), identity);
    }

    Result<CertificateFacts> read(std::string certificate_pem) const override {
        return facts_of(*TRY(parse_certificate(certificate_pem)));
    }

    Result<std::string> fingerprint(std::string certificate_pem) const override {
        return fingerprint_of(*TRY(parse_certificate(certificate_pem)));
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

// A file that appears whole or not at all, and never over another.
Result<> create_file(const std::string& folder, const std::string& path, const std::string& text) {
    std::string draft = path + ".XXXXXX";
    const int fd = ::mkostemp(draft.data(), O_CLOEXEC);  // Made with mode 0600.
    if (fd < 0) return disk_failure("creating a file like", draft);
    const bool written =
        ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()) && ::fsync(fd) == 0;
    const Result<> failed = disk_failure("writing", draft);
    ::close(fd);
    const bool linked = written && (::link(draft.c_str(), path.c_str()) == 0 || errno == EEXIST);
    const Result<> unlinked = disk_failure("creating", path);
    ::unlink(draft.c_str());
    if (!written) return failed;
    if (!linked) return unlinked;
    return sync_folder(folder);
}

}  // namespace

Result<std::unique_ptr<Authority>> open_authority(std::string folder, Random& random, WallTime now) {
    const std::string path = folder + "/authority.pem";
    if (::access(path.c_str(), F_OK) != 0) {
        if (errno != ENOENT) return disk_failure("opening", path);
        const auto root = new_root(random, now);
        TRY(create_file(folder, path, to_pem(*root.key) + to_pem(*root.certificate)));
    }
    const std::string text = TRY(read_file(path));
    Root root{TRY(parse_key(text)), TRY(parse_certificate(text))};
    if (X509_check_private_key(root.certificate.get(), root.key.get()) != 1) {
        ERR_clear_error();
        return fail(Code::invalid, fmt::format("the key and the certificate in {} do not go together", path));
    }
    return std::make_unique<FileAuthority>(std::move(root), random);
}

std::unique_ptr<Keys> make_keys() { return std::make_unique<LocalKeys>(); }

}  // namespace hostler::net
