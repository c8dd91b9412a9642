#include "registry.h"

#include "adapters/net/digest.h"

namespace hostler::cloud {

namespace {

constexpr const char* manifest_type = "application/vnd.oci.image.manifest.v1+json";

std::string digest(const std::string& bytes) { return "sha256:" + net::OpenSslDigest{}.sha256(bytes); }

http::Response json_answer(int status, const std::string& code) {
    http::Response answer{.status = status};
    answer.headers.set("Content-Type", "application/json");
    answer.body = json::serialize(json::object{
        {"errors", json::array{json::object{{"code", code}, {"message", "as the test wants it"}}}}});
    return answer;
}

}  // namespace

Registry::Registry(Web& web, ListenerPtr listener, std::string layer)
    : web_(web),
      address_(listener->address()),
      layer_(std::move(layer)),
      layer_digest_(digest(layer_)),
      handler_([this](http::Exchange& exchange) { return answer(exchange); }),
      server_(web.loop, *web.timers, 64),
      tasks_(web.loop) {
    config_ = json::serialize(
        json::object{{"architecture", "amd64"},
                     {"os", "linux"},
                     {"config", json::object{{"Cmd", json::array{"/demo"}}}},
                     {"rootfs", json::object{{"type", "layers"}, {"diff_ids", json::array{layer_digest_}}}}});
    config_digest_ = digest(config_);
    manifest_ = json::serialize(json::object{
        {"schemaVersion", 2},
        {"mediaType", manifest_type},
        {"config", json::object{{"mediaType", "application/vnd.oci.image.config.v1+json"},
                                {"size", config_.size()},
                                {"digest", config_digest_}}},
        {"layers", json::array{json::object{{"mediaType", "application/vnd.oci.image.layer.v1.tar"},
                                            {"size", layer_.size()},
                                            {"digest", layer_digest_}}}}});
    manifest_digest_ = digest(manifest_);
    tasks_.start("registry", server_.run(std::move(listener), [this](StreamPtr stream, http::Place& place) {
        return http::serve(std::move(stream), *web_.timers, limits_, handler_, nullptr, &place);
    }));
}

Registry::~Registry() {
    (void)web_.go([](Registry& self) -> Task<> {
        (void)co_await self.server_.stop({});
        co_return co_await self.tasks_.close();
    }(*this));
}

Task<> Registry::answer(http::Exchange& exchange) {
    const std::string target = exchange.request.target;
    const auto names = [&](std::string_view part) { return target.contains(part); };
    http::Response found{.status = 200};
    if (target == "/v2/") {
        found.headers.set("Docker-Distribution-API-Version", "registry/2.0");
        found.body = "{}";
    } else if (names("secret")) {
        found = json_answer(401, "UNAUTHORIZED");
        found.headers.set("WWW-Authenticate", "Basic realm=\"registry\"");
    } else if (names("denied")) {
        found = json_answer(403, "DENIED");
    } else if (names("broken")) {
        found = json_answer(500, "UNKNOWN");
    } else if (names("/demo/manifests/")) {
        found.headers.set("Content-Type", manifest_type);
        found.headers.set("Docker-Content-Digest", manifest_digest_);
        found.body = manifest_;
    } else if (names("/demo/blobs/" + config_digest_)) {
        found.headers.set("Content-Type", "application/octet-stream");
        found.body = config_;
    } else if (names("/demo/blobs/" + layer_digest_)) {
        co_return co_await send_layer(exchange);
    } else {
        found = json_answer(404, "MANIFEST_UNKNOWN");
    }
    co_return co_await exchange.respond(std::move(found));
}

Task<> Registry::send_layer(http::Exchange& exchange) {
    ++layers_begun_;
    http::Response head{.status = 200};
    head.headers.set("Content-Type", "application/octet-stream");
    head.headers.set("Content-Length", std::to_string(layer_.size()));
    CO_TRY(co_await exchange.start(std::move(head)));
    std::string_view left = layer_;
    while (!left.empty()) {
        constexpr std::size_t drop = 256, gulp = 256 << 10;
        // The last gulp is kept back as long as it is held.
        if (held_ && left.size() <= gulp) {
            CO_TRY(co_await sleep(*web_.timers, 50ms));
            if (left.size() <= drop) continue;
        }
        const std::string_view piece = left.substr(0, held_ && left.size() <= gulp ? drop : gulp);
        CO_TRY(co_await exchange.write(piece));
        left.remove_prefix(piece.size());
    }
    co_return co_await exchange.end();
}

}  // namespace hostler::cloud
