#include "adapters/remote_write/message.h"

#include <snappy.h>

#include <algorithm>

#include "proto/remote_write.pb.h"

namespace hostler::remote_write {

namespace {

std::string packed(const std::string& request) {
    std::string body;
    snappy::Compress(request.data(), request.size(), &body);
    return body;
}

Message message_of(const WriteRequest& request) {
    Message message;
    for (const TimeSeries& series : request.timeseries()) {
        message.samples += static_cast<std::uint64_t>(series.samples_size());
        for (const Sample& sample : series.samples())
            message.newest = std::max(message.newest, sample.timestamp());
    }
    message.body = packed(request.SerializeAsString());
    return message;
}

void put(TimeSeries& series, std::string_view name, std::string_view value) {
    Label& label = *series.add_labels();
    label.set_name(std::string{name});
    label.set_value(std::string{value});
}

}  // namespace

void MessageWriter::add(std::string_view metric, const Labels& labels, double value, series::Millis time) {
    WriteRequest one;
    TimeSeries& series = *one.add_timeseries();
    constexpr std::string_view name_label = "__name__";
    bool named = false;
    for (const auto& [name, text] : labels) {
        if (!named && name > name_label) named = (put(series, name_label, metric), true);
        put(series, name, text);
    }
    if (!named) put(series, name_label, metric);
    Sample& sample = *series.add_samples();
    sample.set_value(value);
    sample.set_timestamp(time);
    one.AppendToString(&request_);  // Requests one behind the other are a request of all their series.
    newest_ = samples_ == 0 ? time : std::max(newest_, time);
    if (++samples_ == samples_max_) end_message();
}

void MessageWriter::end_message() {
    if (samples_ == 0) return;
    done_.push_back({packed(request_), samples_, newest_});
    request_.clear();
    samples_ = 0;
}

std::vector<Message> MessageWriter::take() {
    end_message();
    return std::exchange(done_, {});
}

Result<std::vector<Message>> halves(const Message& message) {
    std::string plain;
    WriteRequest request;
    if (!snappy::Uncompress(message.body.data(), message.body.size(), &plain) ||
        !request.ParseFromString(plain))
        return fail(Code::invalid, "this is no remote-write request");
    const int count = request.timeseries_size();
    if (count < 2) return std::vector{message};
    WriteRequest parts[2];
    for (int i = 0; i < count; ++i)
        parts[i < count / 2 ? 0 : 1].add_timeseries()->Swap(request.mutable_timeseries(i));
    return std::vector{message_of(parts[0]), message_of(parts[1])};
}

}  // namespace hostler::remote_write
