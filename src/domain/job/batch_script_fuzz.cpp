// Whatever is submitted as a batch script: nothing may crash, each mistake has its line, and what was taken
// is within its bounds.
#include "domain/job/batch_script.h"
#include "domain/job/output_pattern.h"
#include "domain/job/rendezvous.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* bytes, std::size_t size) {
    using namespace hostler;
    const std::string_view text{reinterpret_cast<const char*>(bytes), size};
    const auto script = read_batch_script(text);
    if (!script) {
        const Error& error = script.error();
        HOSTLER_ASSERT(error.code == Code::invalid && !error.message.empty());
        HOSTLER_ASSERT(error.reason == "script_too_large" || !error.fields.empty());
        for (const FieldError& field : error.fields)
            HOSTLER_ASSERT(field.path.starts_with("line ") && !field.message.empty());
        return 0;
    }
    HOSTLER_ASSERT(script->text == text && script->nodes == 1 && script->tasks >= 1);
    HOSTLER_ASSERT(script->gpus >= 0 && script->memory_bytes >= 0 && script->time_limit_s % 60 == 0);
    HOSTLER_ASSERT(script->array.size() <= array_elements_max);
    HOSTLER_ASSERT(script->notes.size() <= batch_options_max + 1);
    const OutputNames names{.job = "7", .array_job = "", .name = script->name, .host = "h", .user = "u"};
    if (const auto path = expand_output(script->output, names, "/base", "output"))
        HOSTLER_ASSERT(*path == "/dev/null" || (!path->starts_with('/') && path->find("/../") == path->npos));
    (void)slurm_variables(
        {.part = TaskPart::script, .job_id = "7", .tasks = script->tasks, .array = script->array});
    return 0;
}
