// A letter as it goes over the wire (RFC 5322, RFC 2045).
#pragma once

#include <string>

#include "ports/outgoing.h"

namespace hostler::curl {

// `mail` passed check(). Lines end in CRLF and none is longer than 78, so that nothing on the way changes
// them.
std::string mime_message(const Mail& mail);

}  // namespace hostler::curl
