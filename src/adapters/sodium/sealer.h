// Keys for what must not be read in the store, in a file of their own, and sealing by XChaCha20-Poly1305. The
// file: "HOSTLER SEALING KEYS 1", then a line for each key, the oldest first: its id and 64 hex digits. The
// id is made of the key.
#pragma once

#include <filesystem>
#include <memory>

#include "ports/sealer.h"

namespace hostler::sodium {

// Of the keys in `file`, which comes to be with the first of them. Errors: invalid: it is no such file, or
// torn; unavailable.
Result<std::unique_ptr<Sealer>> open_sealer(std::filesystem::path file);

// The file's text, which is all secret. Errors: not_found, unavailable; invalid: it is no such file.
Result<std::string> read_sealing_keys(const std::filesystem::path& file);
// Errors: invalid: it is no text of such a file.
Result<std::vector<std::string>> ids_of_sealing_keys(std::string_view text);
// Puts those of `text` beside those that are in `file`. Errors: invalid: either is no such file; exhausted:
// they are more than Sealer::keys_max; unavailable.
Result<> add_sealing_keys(const std::filesystem::path& file, std::string_view text);

}  // namespace hostler::sodium
