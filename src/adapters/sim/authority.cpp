#include "adapters/sim/authority.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

namespace hostler::sim {

namespace {

std::vector<std::string> split(std::string_view text, char end_of_part) {
    std::vector<std::string> parts;
    while (!text.empty()) {
        const auto end = std::min(text.find(end_of_part), text.size());
        parts.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return parts;
}

std::vector<std::string> lines_of(std::string_view text) { return split(text, '\n'); }
std::vector<std::string> words_of(std::string_view text) { return split(text, ' '); }

std::int64_t number_of(const std::string& text) {
    std::int64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

Result<> check_name(const Identity& identity) {
    for (const auto& part : {identity.role, identity.id}) {
        const bool odd = std::any_of(part.begin(), part.end(), [](unsigned char c) {
            return !std::isalnum(c) && c != '-' && c != '_' && c != '.';
        });
        if (part.empty() || part.size() > 63 || odd)
            return fail(Code::invalid, fmt::format("'{}' cannot be an identity", identity.text()));
    }
    return {};
}

// What a request, "sim-request\n<public part>\n<proof>", is for.
Result<std::string> requested_key(const std::string& csr) {
    const auto lines = lines_of(csr);
    if (lines.size() != 3 || lines[0] != "sim-request" || lines[2] != hash_hex(lines[1]))
        return fail(Code::invalid, "this is not a certificate request");
    return lines[1];
}

// Lines of a certificate: header, role, id, serial, key, not before, not after, authority, the one that it
// follows, names, addresses, signature.
constexpr std::size_t certificate_lines = 12;

Result<std::vector<std::string>> parse(const std::string& certificate) {
    auto lines = lines_of(certificate);
    if (lines.size() != certificate_lines || lines[0] != "sim-certificate")
        return fail(Code::invalid, "this is not a certificate");
    return lines;
}

std::string signature_of(const std::vector<std::string>& lines) {
    std::string all;
    for (std::size_t i = 0; i + 1 < lines.size(); ++i) all += lines[i] + "\n";
    return hash_hex(all);
}

Result<CertificateFacts> facts_of(const std::string& certificate) {
    const auto lines = TRY(parse(certificate));
    return CertificateFacts{.identity = {lines[1], lines[2]},
                            .serial = lines[3],
                            .fingerprint = hash_hex(certificate),
                            .key_fingerprint = hash_hex(lines[4]),
                            .not_before = WallTime{std::chrono::microseconds{number_of(lines[5])}},
                            .not_after = WallTime{std::chrono::microseconds{number_of(lines[6])}},
                            .names = {words_of(lines[9]), words_of(lines[10])}};
}

Result<std::vector<std::string>> fingerprints_of(const std::string& authorities) {
    const auto lines = lines_of(authorities);
    std::vector<std::string> all;
    for (std::size_t at = 0; at + 1 < lines.size() && lines[at] == "sim-authority"; at += 2)
        all.push_back(hash_hex(fmt::format("sim-authority\n{}\n", lines[at + 1])));
    if (all.empty() || all.size() * 2 != lines.size())
        return fail(Code::invalid, "this is not a certificate");
    return all;
}

}  // namespace

std::string hash_hex(std::string_view text) {
    std::string hex;
    for (std::uint64_t part = 1; part <= 4; ++part) {
        std::uint64_t value = 0xcbf29ce484222325 * part;
        for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3;
        hex += fmt::format("{:016x}", Dice{value}.next());
    }
    return hex;
}

std::string public_part(const std::string& key) { return hash_hex("public part of " + key); }

bool signed_by(const std::string& certificate, const std::string& authorities) {
    const auto lines = parse(certificate);
    const auto known = fingerprints_of(authorities);
    return lines && known && lines->back() == signature_of(*lines) &&
           (std::ranges::count(*known, (*lines)[7]) || std::ranges::count(*known, (*lines)[8]));
}

SimAuthority::SimAuthority(Dice dice)
    : dice_(dice), roots_{{fmt::format("sim-authority\n{:016x}\n", dice_.next()), "", {}}} {}

std::string SimAuthority::certificate() const {
    std::string all;
    for (const Root& root : roots_) all += root.certificate;
    return all;
}

std::string SimAuthority::fingerprint() const { return hash_hex(roots_.front().certificate); }

std::vector<AuthorityFacts> SimAuthority::all() const {
    std::vector<AuthorityFacts> all;
    for (const Root& root : roots_)
        all.push_back({.fingerprint = hash_hex(root.certificate),
                       .name = "sim-authority",
                       .certificate = root.certificate,
                       .not_before = root.not_before,
                       .not_after = root.not_before + std::chrono::years{30},
                       .issues = &root == &roots_[issuing_]});
    return all;
}

Result<> SimAuthority::add(WallTime now) {
    if (roots_.size() == 1)
        roots_.push_back({fmt::format("sim-authority\n{:016x}\n", dice_.next()), fingerprint(), now});
    return {};
}

Result<> SimAuthority::keep(std::vector<std::string> kept, std::string issuing) {
    auto roots = roots_;
    std::erase_if(
        roots, [&kept](const Root& root) { return !std::ranges::count(kept, hash_hex(root.certificate)); });
    const auto issuer =
        std::ranges::find(roots, issuing, [](const Root& root) { return hash_hex(root.certificate); });
    if (issuer == roots.end())
        return fail(Code::not_found, fmt::format("there is no key of the authority {}", issuing));
    issuing_ = static_cast<std::size_t>(issuer - roots.begin());
    roots_ = std::move(roots);
    return {};
}

Result<std::string> SimAuthority::sign_text(std::string_view text) const {
    return hash_hex(fmt::format("{}{}", roots_[issuing_].certificate, text));
}

Result<> SimAuthority::check_text(std::string_view text, const std::string& signature,
                                  const std::string& certificate_pem, const std::string& fingerprint) const {
    if (TRY(fingerprints_of(certificate_pem)) != std::vector{fingerprint})
        return fail(Code::unauthenticated, "its certificate is not that of its authority");
    if (signature == hash_hex(fmt::format("{}{}", certificate_pem, text))) return {};
    return fail(Code::unauthenticated, "the signature is not by the key of its certificate");
}

Result<SignedCertificate> SimAuthority::sign(std::string csr_pem, Identity identity, ServerNames names,
                                             WallTime not_before, Duration lifetime) {
    TRY(check_name(identity));
    names = TRY(checked(names));
    const std::string key = TRY(requested_key(csr_pem));
    const Root& root = identity.role == "master" ? roots_.back() : roots_[issuing_];
    const WallTime not_after = not_before + std::chrono::floor<std::chrono::microseconds>(lifetime);
    std::vector<std::string> lines = {"sim-certificate",
                                      identity.role,
                                      identity.id,
                                      fmt::format("{:016x}", dice_.next()),
                                      key,
                                      std::to_string(not_before.time_since_epoch().count()),
                                      std::to_string(not_after.time_since_epoch().count()),
                                      hash_hex(root.certificate),
                                      root.follows,
                                      fmt::format("{}", fmt::join(names.dns, " ")),
                                      fmt::format("{}", fmt::join(names.addresses, " ")),
                                      ""};
    lines.back() = signature_of(lines);
    std::string text;
    for (const auto& line : lines) text += line + "\n";
    auto facts = TRY(facts_of(text));
    facts.authority = hash_hex(root.certificate);
    return SignedCertificate{text, std::move(facts)};
}

Result<CertificateFacts> SimAuthority::check(std::string certificate_pem) const {
    auto facts = TRY(facts_of(certificate_pem));
    facts.authority = TRY(parse(certificate_pem))[7];
    if (std::ranges::count(all(), facts.authority, &AuthorityFacts::fingerprint) == 0 ||
        !signed_by(certificate_pem, certificate()))
        return fail(Code::unauthenticated, fmt::format("the certificate of {} is not signed by our authority",
                                                       facts.identity.text()));
    return facts;
}

Result<std::string> SimAuthority::key_fingerprint(std::string csr_pem) const {
    return hash_hex(TRY(requested_key(csr_pem)));
}

Result<KeyRequest> SimKeys::make(Identity identity) {
    return renew(fmt::format("sim-key {:016x}", dice_.next()), std::move(identity));
}

Result<KeyRequest> SimKeys::renew(std::string key_pem, Identity identity) {
    TRY(check_name(identity));
    if (!key_pem.starts_with("sim-key ")) return fail(Code::invalid, "this is not a private key");
    const std::string open = public_part(key_pem);
    return KeyRequest{std::move(key_pem), fmt::format("sim-request\n{}\n{}\n", open, hash_hex(open))};
}

Result<CertificateFacts> SimKeys::read(std::string certificate_pem) const {
    return facts_of(certificate_pem);
}

Result<std::vector<std::string>> SimKeys::fingerprints(std::string authorities_pem) const {
    return fingerprints_of(authorities_pem);
}

Credentials issue(Authority& authority, Keys& keys, const Identity& identity, WallTime not_before,
                  Duration lifetime) {
    const auto request = keys.make(identity);
    HOSTLER_ASSERT(request.has_value());
    const auto made = authority.sign(request->csr_pem, identity, {}, not_before, lifetime);
    HOSTLER_ASSERT(made.has_value());
    return {made->certificate, request->key_pem, authority.certificate()};
}

}  // namespace hostler::sim
