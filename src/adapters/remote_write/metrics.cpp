#include "adapters/remote_write/sender.h"

namespace hostler::remote_write {

void Sender::write_metrics(MetricsPage& page) const {
    using enum MetricsPage::Type;
    const OutboxCount& kept = backlog_.count();
    const auto now =
        std::chrono::duration_cast<std::chrono::milliseconds>(timers_.wall().time_since_epoch()).count();
    page.add("hostler_remote_write_sent_total", "Samples that the receiver took.", counter, count_.sent);
    page.add("hostler_remote_write_failed_total", "Requests that failed and are made again.", counter,
             count_.failed);
    page.begin("hostler_remote_write_dropped_total", "Samples that were given up.", counter);
    page.value({{"reason", "refused"}}, count_.refused);
    page.value({{"reason", "no_room"}}, kept.samples_dropped);
    page.value({{"reason", "disk"}}, backlog_.lost());
    page.add("hostler_remote_write_lag_seconds", "Age of the samples that are being sent; 0: none wait.",
             gauge, backlog_.oldest() ? std::max<series::Millis>(0, now - *backlog_.oldest()) / 1000 : 0);
    page.add("hostler_remote_write_backlog_samples", "Samples that are to be sent.", gauge, kept.samples);
    page.add_bounded("hostler_remote_write_backlog_bytes", "Of the files that hold them.", kept.bytes,
                     backlog_.limits().bytes_max);
    page.add("hostler_remote_write_damaged_files_total", "Files of which a part could not be read.", counter,
             kept.damaged);
}

}  // namespace hostler::remote_write
