#include "bin/up_tls.h"

#include "bin/process.h"

namespace hostler::bin {

namespace {

constexpr std::chrono::hours life{24 * 90}, renewed_before{24 * 30};

}  // namespace

UpTlsFiles::UpTlsFiles(const std::filesystem::path& data)
    : folder(data / "tls"),
      authority_key(folder / "authority-key.pem"),
      certificate(folder / "certificate.pem"),
      key(folder / "key.pem"),
      authority(data / "ca.pem") {}

Result<bool> keep_up_tls(const UpTlsFiles& files, const ServerNames& names, Random& random, WallTime now) {
    TRY(make_own_folder(files.folder));
    net::WebPair authority{read_file(files.authority), read_file(files.authority_key)};
    if (net::is_good_web({read_file(files.certificate), read_file(files.key)}, authority.certificate, names,
                         now + renewed_before))
        return false;
    auto made = net::issue_web(authority, names, random, now, life);
    // One that is lost, ends soon, or was made for other names cannot vouch for these.
    const bool fits = made && net::is_good_web(*made, authority.certificate, names, now + renewed_before);
    if (!fits) {
        authority = TRY(net::new_web_authority(names, random, now));
        made = TRY(net::issue_web(authority, names, random, now, life));
        TRY(write_file(files.authority_key, authority.key));
        TRY(write_file(files.authority, authority.certificate));
    }
    TRY(write_file(files.key, made->key));
    TRY(write_file(files.certificate, made->certificate));
    return !fits;
}

}  // namespace hostler::bin
