#include "adapters/net/keyring.h"

#include <openssl/err.h>
#include <openssl/pem.h>

#include "adapters/net/making.h"

namespace hostler::net {

namespace {

constexpr std::chrono::years authority_lifetime{30};
constexpr std::chrono::hours clock_tolerance{1};

// Of `key`, signed by `by`, which is the same one for an authority that stands for itself.
X509Ptr authority_certificate(EVP_PKEY& key, Random& random, WallTime from, WallTime until, EVP_PKEY& by,
                              X509* issuer) {
    X509Ptr made{X509_new()};
    X509_set_version(made.get(), x509_version_3);
    set_serial(*made, random);
    set_name(*made, "Hostler authority");
    X509_set_issuer_name(made.get(), X509_get_subject_name(made.get()));
    set_dates(*made, from, until);
    X509_set_pubkey(made.get(), &key);
    add_extension(*made, *made, NID_basic_constraints, "critical,CA:TRUE,pathlen:0");
    add_extension(*made, *made, NID_key_usage, "critical,keyCertSign,cRLSign");
    add_extension(*made, *made, NID_subject_key_identifier, "hash");
    // By it a chain finds the right one of two authorities of the same name.
    if (issuer != nullptr) add_extension(*made, *issuer, NID_authority_key_identifier, "keyid:always");
    HOSTLER_ASSERT(X509_sign(made.get(), &by, EVP_sha256()) > 0);
    return made;
}

bool signed_by(X509& certificate, EVP_PKEY& key) {
    const bool good = X509_verify(&certificate, &key) == 1;
    ERR_clear_error();
    return good;
}

std::vector<KeyPtr> parse_keys(std::string_view text) {
    const BioPtr bio{BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))};
    std::vector<KeyPtr> keys;
    while (EVP_PKEY* one = PEM_read_bio_PrivateKey(
               bio.get(), nullptr, [](char*, int, int, void*) { return -1; }, nullptr))
        keys.emplace_back(one);
    ERR_clear_error();
    return keys;
}

}  // namespace

Root new_root(Random& random, WallTime now, const Root* before) {
    Root root;
    root.key = new_key();
    const WallTime from = now - clock_tolerance, until = now + authority_lifetime;
    root.certificate = authority_certificate(*root.key, random, from, until, *root.key, nullptr);
    if (before != nullptr)
        root.crossed = authority_certificate(*root.key, random, from,
                                             wall_of(*X509_get0_notAfter(before->certificate.get())),
                                             *before->key, before->certificate.get());
    return root;
}

std::string Keyring::text() const {
    std::string text;
    const auto add = [&text](const Root& root) {
        text += to_pem(*root.key) + to_pem(*root.certificate);
        if (root.crossed) text += to_pem(*root.crossed);
    };
    add(issuer());
    for (const Root& root : roots)
        if (&root != &issuer()) add(root);
    return text;
}

Result<Keyring> parse_keyring(std::string_view text) {
    constexpr std::size_t roots_max = 2;
    auto certificates = TRY(parse_certificates(text));
    TRY(parse_key(text));  // For what is wrong with the first.
    Keyring ring;
    for (KeyPtr& key : parse_keys(text)) {
        if (!is_pair(*key)) return fail(Code::invalid, "the two halves of a key do not go together");
        Root root{.key = std::move(key), .certificate = nullptr, .crossed = nullptr};
        for (X509Ptr& one : certificates) {
            if (!one || X509_check_private_key(one.get(), root.key.get()) != 1) continue;
            (signed_by(*one, *root.key) ? root.certificate : root.crossed) = std::move(one);
        }
        ERR_clear_error();
        if (!root.certificate) return fail(Code::invalid, "a key has no certificate that goes with it");
        ring.roots.push_back(std::move(root));
    }
    for (const X509Ptr& one : certificates)
        if (one) return fail(Code::invalid, "a certificate has no key that goes with it");
    if (ring.roots.size() > roots_max) return fail(Code::invalid, "there are too many keys in it");
    // What issues stands first; in memory the older one does.
    if (ring.roots.size() == 2 && ring.roots[0].crossed &&
        signed_by(*ring.roots[0].crossed, *ring.roots[1].key)) {
        std::swap(ring.roots[0], ring.roots[1]);
        ring.issuing = 1;
    }
    return ring;
}

}  // namespace hostler::net
