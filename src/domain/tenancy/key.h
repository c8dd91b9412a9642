// API keys and what comes of them: who asks, and what for. The secrets themselves are nowhere, only their
// hashes.
#pragma once

#include <boost/describe.hpp>
#include <string>
#include <vector>

#include "domain/object.h"

namespace hostler {

struct ApiKey {
    std::string id;  // "k-…"
    std::string name;
    std::string hash;    // SHA-256 of the secret (256 random bits), hex.
    std::string tenant;  // Empty: the operator's.
    std::int64_t created_at = 0;
    std::int64_t expires_at = 0;           // 0: never.
    std::int64_t revoked_at = 0;           // 0: valid.
    std::string account;                   // The service account that it stands for; empty: for its tenant.
    std::vector<std::string> permissions;  // It holds these alone; empty: all of its account.
    std::vector<std::string> projects;     // And in these alone; empty: in all.
    std::vector<std::string> addresses;    // And from these ranges alone; empty: from anywhere.
    std::int64_t disabled_at = 0;          // 0: enabled.
    Meta meta;
};
BOOST_DESCRIBE_STRUCT(ApiKey, (),
                      (id, name, hash, tenant, created_at, expires_at, revoked_at, account, permissions,
                       projects, addresses, disabled_at))

// A browser signed in to one route of the gateway.
struct SignIn {
    std::string hash;  // Of its cookie; its id.
    std::string key;   // The API key's id; see `credential`.
    std::string route;
    std::int64_t expires_at = 0;
    std::string share;       // Not empty: it came by this share link.
    std::string credential;  // "key/k-…": the sign-in is worth nothing when this is not. Older releases wrote
                             // `key` alone.
    Meta meta;
};
BOOST_DESCRIBE_STRUCT(SignIn, (), (hash, key, route, expires_at, share, credential))

inline constexpr std::size_t console_sessions_max = 32;  // Of one credential; the oldest makes room.
inline constexpr std::size_t console_links_max = 4;      // The same, that were not opened yet.

// A link that opens one port of one instance to whoever has it, for a time.
struct Share {
    std::string id;  // "sh-…"
    std::string tenant;
    std::string project = "default";  // Of its instance.
    std::string instance;
    int port = 0;
    std::string route;
    std::string hash;     // SHA-256 of the secret in the link, hex.
    std::string made_by;  // "key/k-…"
    std::int64_t created_at = 0;
    std::int64_t expires_at = 0;
    std::int64_t opened = 0;  // How often.
    Meta meta;
};
BOOST_DESCRIBE_STRUCT(Share, (),
                      (id, tenant, instance, port, route, hash, made_by, created_at, expires_at, opened,
                       project))

// The first answer to a call with an idempotency key.
struct Answer {
    std::string id;  // Tenant and key.
    std::string tenant;
    std::string digest;  // Of operation and request: another request under the same key is a conflict.
    int status = 200;
    std::string body;
    std::int64_t expires_at = 0;
    Meta meta;
};
BOOST_DESCRIBE_STRUCT(Answer, (), (id, tenant, digest, status, body, expires_at))

// What takes longer than a request.
enum class OperationPhase { running, done, failed };
BOOST_DESCRIBE_ENUM(OperationPhase, running, done, failed)

struct LongOperation {
    std::string id;       // "op-…"
    std::string kind;     // operationId of the call that began it.
    std::string subject;  // "volume/v-…"
    std::string tenant;
    std::string project = "default";  // Of its subject.
    OperationPhase phase = OperationPhase::running;
    std::string message;
    std::string code;  // When failed.
    std::int64_t created_at = 0;
    std::int64_t ended_at = 0;
    Meta meta;
};
BOOST_DESCRIBE_STRUCT(LongOperation, (),
                      (id, kind, subject, tenant, phase, message, code, created_at, ended_at, project))

}  // namespace hostler
