// `hostler seal`: the sealing keys on their way to another master, and to where secrets are kept.
#include <CLI/CLI.hpp>
#include <filesystem>

#include "adapters/sodium/sealer.h"
#include "bin/arguments.h"
#include "bin/key_files.h"
#include "bin/process.h"
#include "bin/roles.h"

namespace hostler::bin {

namespace {

namespace fs = std::filesystem;

struct Wish {
    std::string master_data, folder, file, passphrase_file;
    fs::path authority() const {
        return folder.empty() ? fs::path{master_data} / "authority" : fs::path{folder};
    }
    fs::path ring() const { return authority() / sealing_keys_file; }
};

void print(const std::vector<std::string>& keys) {
    for (const std::string& key : keys) fmt::print("{}\n", key);
}

Result<> export_keys(const Wish& wish) {
    Secret keys;
    keys.text = TRY(sodium::read_sealing_keys(wish.ring()));
    TRY(write_sealed(wish.file, wish.passphrase_file, keys));
    print(TRY(sodium::ids_of_sealing_keys(keys.text)));
    fmt::print(stderr,
               "{} has the keys, sealed. It opens the secrets of every backup: store it like other master "
               "keys, and apart from the backups.\n",
               wish.file);
    return {};
}

// Beside those that are there.
Result<> import_keys(const Wish& wish) {
    const Secret keys = TRY(read_sealed(wish.file, wish.passphrase_file));
    const auto ids = TRY(sodium::ids_of_sealing_keys(keys.text));
    TRY(make_own_folder(wish.authority()));
    TRY(sodium::add_sealing_keys(wish.ring(), keys.text));
    print(ids);
    fmt::print(stderr, "{} has the keys. A master that runs there reads them when it needs them.\n",
               wish.ring().string());
    return {};
}

}  // namespace

int seal_main(int argc, const char* const* argv) {
    CLI::App app{"The keys that seal what is secret in the store.", "hostler seal"};
    app.require_subcommand(1);
    app.footer(
        "`hostler seal keys`, `hostler seal rotate` and `hostler seal forget` are asked of the running "
        "master.");
    Wish wish;
    CLI::App* exports = app.add_subcommand("export", "Seal the keys under a passphrase");
    CLI::App* imports = app.add_subcommand("import", "Add keys to the keys of a master");
    exports->add_option("file", wish.file, "The new file")->required();
    imports->add_option("file", wish.file, "File of `hostler seal export`")->required();
    for (CLI::App* one : {exports, imports}) {
        one->add_option("--passphrase-file", wish.passphrase_file,
                        "File with the passphrase as its only line; else a person is asked");
        auto* data = one->add_option("--master-data", wish.master_data, "The master's --data folder");
        auto* folder =
            one->add_option("--authority", wish.folder, "The authority's folder, as of `hostler master`");
        data->excludes(folder);
    }
    if (const auto end = read_arguments(app, argc, argv)) return *end;
    if (wish.master_data.empty() && wish.folder.empty())
        return told_keys(fail(Code::invalid, "say where the keys are: --master-data or --authority"));
    return told_keys(*exports ? export_keys(wish) : import_keys(wish));
}

}  // namespace hostler::bin
