#include "sql/packed.h"

#include <zlib.h>

#include <algorithm>

#include "core/result.h"

namespace hostler::sql {

namespace {

// What zlib looks back into before a text begins; what is most frequent stands last. Stores hold bytes that
// were packed with it: it is never changed.
constexpr std::string_view dictionary =
    R"({"id":"n-","tenant":"","createdAt":1,"cmd-","verb":"remove_network","start_workload","stop_workload",)"
    R"("subject":"sn-","subjectGeneration":1,"phase":"done","expiresAt":17"image":""} removed failed pulling )"
    R"(key/operator 127.0.0.1: createInstance deleteInstance stopInstance startInstance volume/ host/h- )"
    R"(stop_asked its owner deleted it it was asked to stop starting the container every probe answers placed )"
    R"(Instance  was placed on host h- from stock. slot command used_name event claim leaving instance stock )"
    R"({"id":"s-","spec":"","zone":"","phase":"idle","claim":"c-","instance":"","message":"","gaveWay":""})"
    R"({"id":"c-","host":"h-","zone":"","use":"stock","tenant":"","holder":"i-","cpuMilli":1000,)"
    R"("memoryBytes":1073741824,"gpus":["GPU-"],"group":"","addressIndex":1,"subnet":"","wish":"open",)"
    R"("why":"","since":17{"id":"i-","instanceID":"","tenantID":"","tenantName":"","specName":"","image":"",)"
    R"("templateName":"","state":"running","phase":"stopping","resumable":false,"reason":"placed","message":"",)"
    R"("urls":[{"port":8080,"url":"http://8080-i-","public":false}],"gateway":"http://","host":"h-","zone":"",)"
    R"("gpus":["GPU-"],"simulated":true,"address":"10.2","volumes":[],"generation":1,"createdAt":"2026-11-",)"
    R"("startedAt":"2026-","readyAt":"2026-","probes":1,"runs":[{"generation":1,"startedAt":"2026-","readyAt":")"
    R"(","host":"h-","reason":""}],"inactivityTimeoutSeconds":0,"maxRunSeconds":0,"inUse":false,"usedAt":"2026-)"
    R"(","usedBy":"start","stopsBecause":"","lossPolicy":"stay"}{"id":"i-","callerID":"","tenant":"",)"
    R"("tenantName":"","specName":"","spec":{"image":"","command":[],"environment":[],"ports":[{"port":8080,)"
    R"("protocol":"TCP","isPublic":false,"isProbe":true,"baseUrl":"","ownPort":0}],"volumes":[],)"
    R"("templateName":"","jupyterPort":0,"jupyterPath":"","zone":"","lossPolicy":"stay"},)"
    R"("requestDigest":"sealed:","phase":"running","reason":"running","message":"every probe answers",)"
    R"("host":"h-","zone":"","claim":"c-","slot":"s-","subnet":"sn-","address":"10.2","runGeneration":1,)"
    R"("createdAt":17"startedAt":17"readyAt":17"endedAt":0,"ranSince":17"schedule":{"inactivityS":0,)"
    R"("maxRunS":0,"stopAt":0,"keptUntil":0},"toldOfStop":0,"unusedStopSent":false,"deleted":false,)"
    R"("namePassedOn":false,"adopted":false,"runs":[{"generation":1,"host":"h-","startedAt":17"readyAt":17)"
    R"("endedAt":0,"reason":""}],"left":[],"leaseMs":0})";

constexpr int level = 4;
constexpr int window_bits = 15;
constexpr int memory_level = 8;

const Bytef* bytes_of(std::string_view text) { return reinterpret_cast<const Bytef*>(text.data()); }

}  // namespace

std::string pack(std::string_view text) {
    z_stream stream{};
    HOSTLER_ASSERT(deflateInit2(&stream, level, Z_DEFLATED, window_bits, memory_level, Z_DEFAULT_STRATEGY) ==
                   Z_OK);
    HOSTLER_ASSERT(deflateSetDictionary(&stream, bytes_of(dictionary), dictionary.size()) == Z_OK);
    std::string packed(deflateBound(&stream, text.size()), '\0');
    stream.next_in = const_cast<Bytef*>(bytes_of(text));
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_out = static_cast<uInt>(packed.size());
    HOSTLER_ASSERT(deflate(&stream, Z_FINISH) == Z_STREAM_END);
    packed.resize(stream.total_out);
    deflateEnd(&stream);
    return packed;
}

std::optional<std::string> unpack(std::string_view packed) {
    z_stream stream{};
    HOSTLER_ASSERT(inflateInit2(&stream, window_bits) == Z_OK);
    stream.next_in = const_cast<Bytef*>(bytes_of(packed));
    stream.avail_in = static_cast<uInt>(packed.size());
    std::string text;
    int code = Z_OK;
    while (code == Z_OK && text.size() < unpacked_max) {
        const std::size_t had = text.size();
        text.resize(std::min(unpacked_max, std::max<std::size_t>(4096, had * 2)));
        stream.next_out = reinterpret_cast<Bytef*>(text.data() + had);
        stream.avail_out = static_cast<uInt>(text.size() - had);
        code = inflate(&stream, Z_NO_FLUSH);
        if (code == Z_NEED_DICT) {
            code = inflateSetDictionary(&stream, bytes_of(dictionary), dictionary.size());
            if (code == Z_OK) code = inflate(&stream, Z_NO_FLUSH);
        }
        text.resize(stream.total_out);
    }
    const bool whole = code == Z_STREAM_END && stream.avail_in == 0;
    inflateEnd(&stream);
    return whole ? std::optional{std::move(text)} : std::nullopt;
}

}  // namespace hostler::sql
