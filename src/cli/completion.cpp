#include "cli/completion.h"

#include <fmt/format.h>

namespace hostler::cli {

Result<std::string> completion_script(std::string_view shell) {
    if (shell == "bash")
        return R"(_hostler() {
    local IFS=$'\n'
    COMPREPLY=($(hostler __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _hostler hostler
)";
    if (shell == "zsh")
        return R"(#compdef hostler
_hostler() {
    local -a found
    found=("${(@f)$(hostler __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    if [[ -n "${found[1]}" ]]; then compadd -- "${found[@]}"; else _files; fi
}
compdef _hostler hostler
)";
    if (shell == "fish")
        return R"(function __hostler_complete
    set -l typed (commandline -opc) (commandline -ct)
    hostler __complete $typed[2..-1] 2>/dev/null
end
complete -c hostler -a '(__hostler_complete)'
)";
    return fail(Code::invalid, fmt::format("'{}' is none of bash, zsh, fish", shell));
}

}  // namespace hostler::cli
