// `hostler ca`: certificates for roles on other machines, and the authority's keys on their way to another
// master.
#include <CLI/CLI.hpp>

#include "adapters/net/authority.h"
#include "bin/arguments.h"
#include "bin/key_files.h"
#include "bin/process.h"
#include "bin/roles.h"

namespace hostler::bin {

namespace {

void print(const std::vector<AuthorityFacts>& all) {
    for (const auto& one : all)
        fmt::print("{}  {}\n    {}, from {} to {}\n", one.fingerprint,
                   one.issues ? "issues certificates" : "is believed", one.name, rfc3339(one.not_before),
                   rfc3339(one.not_after));
}

std::string fingerprints(const std::vector<AuthorityFacts>& all) {
    std::string text;
    for (const auto& one : all) text += (text.empty() ? "" : ", ") + one.fingerprint;
    return text;
}

struct Wish {
    std::string master_data, folder, file, passphrase_file;
    bool replace = false;
    std::string authority() const { return folder.empty() ? master_data + "/authority" : folder; }
};

Result<> export_keys(const Wish& wish) {
    Secret keys;
    keys.text = TRY(net::read_authority_keys(wish.authority()));
    TRY(write_sealed(wish.file, wish.passphrase_file, keys));
    print(TRY(net::facts_of_keys(keys.text)));
    fmt::print(
        stderr,
        "{} has the keys, sealed. It lets its reader act as the cloud: store it like other master keys.\n",
        wish.file);
    return {};
}

// Into a folder that has none, or an earlier step of the same.
Result<> import_keys(const Wish& wish) {
    const Secret keys = TRY(read_sealed(wish.file, wish.passphrase_file));
    Secret present;
    const auto facts = TRY(net::facts_of_keys(keys.text));
    auto before = net::read_authority_keys(wish.authority());
    if (!before && before.error().code != Code::not_found && !wish.replace)
        return std::unexpected(before.error());
    if (before) {
        present.text.swap(*before);
        const auto there = TRY(net::facts_of_keys(present.text));
        const std::string& newest = there.back().fingerprint;
        const bool grown = newest == facts.back().fingerprint
                               ? facts.size() <= there.size() && (!there.back().issues || facts.back().issues)
                               : facts.size() == 2 && newest == facts.front().fingerprint;
        if (!grown && !wish.replace)
            return fail(Code::conflict,
                        fmt::format("{} has the authority {}, and the file has {}: with --replace who was "
                                    "certified by the first alone is locked out",
                                    wish.authority(), fingerprints(there), fingerprints(facts)));
    }
    TRY(make_own_folder(wish.authority()));
    TRY(net::put_authority_keys(wish.authority(), keys.text, net::IfThere::replace));
    print(facts);
    fmt::print(stderr, "{} has the keys. A master that runs there reads them when it is started again.\n",
               wish.authority());
    return {};
}

Result<> show(const Wish& wish) {
    Secret keys;
    keys.text = TRY(net::read_authority_keys(wish.authority()));
    print(TRY(net::facts_of_keys(keys.text)));
    return {};
}

}  // namespace

int ca_main(int argc, const char* const* argv) {
    CLI::App app{"Certificates for roles on other machines, and the keys of the authority.", "hostler ca"};
    app.require_subcommand(1);
    app.footer(
        "`hostler ca show`, `hostler ca rotate` and `hostler ca admit` are asked of the running master.");
    Wish wish;
    std::string out, identity;
    ServerNames names;
    const auto of_master = [&wish](CLI::App* to) {
        auto* data = to->add_option("--master-data", wish.master_data, "The master's --data folder");
        auto* folder =
            to->add_option("--authority", wish.folder, "The authority's folder, as of `hostler master`");
        data->excludes(folder);
    };
    const auto sealed = [&wish](CLI::App* to, const char* help) {
        to->add_option("file", wish.file, help)->required();
        to->add_option("--passphrase-file", wish.passphrase_file,
                       "File with the passphrase as its only line; else a person is asked");
    };
    CLI::App* issue = app.add_subcommand(
        "issue", "Make key and certificate of one role: access/NAME, gateway/NAME or master/NAME");
    issue->add_option("identity", identity, "access/NAME, gateway/NAME or master/NAME")->required();
    issue->add_option("--out", out, "Folder to write to: the role's --data folder")->required();
    issue
        ->add_option("--dns", names.dns,
                     "Host name by which clients know its listener, also '*.DOMAIN'; may be repeated")
        ->allow_extra_args(false);
    issue->add_option("--address", names.addresses, "IP address of its listener; may be repeated")
        ->allow_extra_args(false);
    CLI::App* exports = app.add_subcommand("export", "Seal the authority's keys under a passphrase");
    sealed(exports, "The new file");
    CLI::App* imports = app.add_subcommand("import", "Put the authority's keys where a master finds them");
    sealed(imports, "File of `hostler ca export`");
    imports->add_flag("--replace", wish.replace, "Also over another authority: it is gone then");
    CLI::App* shows = app.add_subcommand("keys", "Show the authorities with keys at a master");
    for (CLI::App* one : {issue, exports, imports, shows}) of_master(one);
    if (const auto end = read_arguments(app, argc, argv)) return *end;
    if (wish.master_data.empty() && wish.folder.empty())
        return told_keys(fail(Code::invalid, "say where the authority is: --master-data or --authority"));
    if (*exports) return told_keys(export_keys(wish));
    if (*imports) return told_keys(import_keys(wish));
    if (*shows) return told_keys(show(wish));
    const auto slash = identity.find('/');
    const std::string role = identity.substr(0, slash);
    if (slash == std::string::npos || (role != "access" && role != "gateway" && role != "master"))
        return told_keys(fail(Code::invalid,
                              fmt::format("'{}' is not access/NAME, gateway/NAME or master/NAME", identity)));
    Process process;
    return told_keys(
        issue_credentials(process, wish.authority(), out, role, identity.substr(slash + 1), names));
}

}  // namespace hostler::bin
