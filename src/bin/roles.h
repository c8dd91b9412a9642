// The roles as processes: `hostler master`, `hostler access`, `hostler gateway`; `hostler ca`, `hostler
// seal`.
#pragma once

namespace hostler::bin {

// In the folder of the authority.
inline constexpr const char* sealing_keys_file = "sealing.keys";

int master_main(int argc, const char* const* argv);
int access_main(int argc, const char* const* argv);
int gateway_main(int argc, const char* const* argv);
int ca_main(int argc, const char* const* argv);         // Certificates, and the keys of the authority.
int seal_main(int argc, const char* const* argv);       // The keys that seal secrets in the store.
int store_main(int argc, const char* const* argv);      // Stores that no master uses.
int backup_main(int argc, const char* const* argv);     // Of a store, used or not.
int restore_main(int argc, const char* const* argv);    // A new store of a backup.
bool is_audit_file(int argc, const char* const* argv);  // `audit verify FILE`: of no API.
int audit_verify_main(int argc, const char* const* argv);
int up_main(int argc, const char* const* argv);

}  // namespace hostler::bin
