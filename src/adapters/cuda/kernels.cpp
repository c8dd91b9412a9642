#include "adapters/cuda/kernels.h"

#include <fmt/format.h>

#include <bit>
#include <string_view>

namespace hostler::cuda {

namespace {

// %x = mixed(%x); %t is lost.
constexpr std::string_view mix = R"(
    shr.u32 %t, %x, 16;
    xor.b32 %x, %x, %t;
    mul.lo.u32 %x, %x, 0x9e3779b1;
    shr.u32 %t, %x, 15;
    xor.b32 %x, %x, %t;
    mul.lo.u32 %x, %x, 0x85ebca77;
    shr.u32 %t, %x, 16;
    xor.b32 %x, %x, %t;)";

// %id: this thread of all; %all: how many there are.
constexpr std::string_view who_am_i = R"(
    .reg .u32 %thread, %block, %size, %grid, %x, %t, %id32;
    .reg .u64 %id, %all;
    mov.u32 %thread, %tid.x;
    mov.u32 %block, %ctaid.x;
    mov.u32 %size, %ntid.x;
    mov.u32 %grid, %nctaid.x;
    mad.lo.u32 %id32, %block, %size, %thread;
    mul.wide.u32 %all, %size, %grid;
    cvt.u64.u32 %id, %id32;)";

// The four words of group %i in %w0 .. %w3, from %seed and %rounds. %slab = mixed(high half of the index +
// seed), %key = %slab + the rounds that are left.
std::string four_words() {
    std::string text = R"(
    shl.b64 %index, %i, 2;
    shr.u64 %high64, %index, 32;
    cvt.u32.u64 %x, %high64;
    add.u32 %x, %x, %seed;)";
    text += mix;
    text += R"(
    mov.u32 %slab, %x;
    cvt.u32.u64 %low, %index;)";
    for (int k = 0; k < 4; ++k)
        text += fmt::format("\n    add.u32 %x, %low, {0};\n    xor.b32 %w{0}, %x, %slab;", k);
    text += R"(
    mov.u32 %n, %rounds;
more_rounds:
    add.u32 %key, %slab, %n;)";
    for (int k = 0; k < 4; ++k)
        text += fmt::format("\n    add.u32 %x, %w{0}, %key;{1}\n    mov.u32 %w{0}, %x;", k, mix);
    text += R"(
    sub.u32 %n, %n, 1;
    setp.ne.u32 %p, %n, 0;
    @%p bra more_rounds;)";
    return text;
}

// A kernel that does `body` for each group %i of four words.
std::string for_each_group(std::string_view name, std::string_view parameters, std::string_view before,
                           std::string_view body, std::string_view after) {
    return fmt::format(R"(
.visible .entry {0}({1})
{{
    .reg .pred %p, %q;
    .reg .u32 %seed, %rounds, %n, %slab, %key, %low, %w<4>, %v<4>, %bad;
    .reg .u64 %words, %count, %i, %index, %high64, %at, %other;{2}{3}
    shr.u64 %count, %count, 2;
    mov.u64 %i, %id;
next:
    setp.ge.u64 %p, %i, %count;
    @%p bra done;
    shl.b64 %at, %i, 4;{4}
    add.u64 %i, %i, %all;
    bra next;
done:{5}
    ret;
}}
)",
                       name, parameters, who_am_i, before, body, after);
}

std::string fill_kernel() {
    return for_each_group("fill", ".param .u64 a, .param .u64 b, .param .u32 c, .param .u32 d", R"(
    ld.param.u64 %words, [a];
    ld.param.u64 %count, [b];
    ld.param.u32 %seed, [c];
    ld.param.u32 %rounds, [d];)",
                          four_words() + R"(
    add.u64 %at, %at, %words;
    st.global.v4.u32 [%at], {%w0, %w1, %w2, %w3};)",
                          "");
}

std::string check_kernel() {
    std::string body = four_words() + R"(
    add.u64 %at, %at, %words;
    ld.global.v4.u32 {%v0, %v1, %v2, %v3}, [%at];)";
    for (int k = 0; k < 4; ++k)
        body += fmt::format("\n    setp.ne.u32 %q, %w{0}, %v{0};\n    @%q add.u32 %bad, %bad, 1;", k);
    return for_each_group("check",
                          ".param .u64 a, .param .u64 b, .param .u32 c, .param .u32 d, .param .u64 e", R"(
    ld.param.u64 %words, [a];
    ld.param.u64 %count, [b];
    ld.param.u32 %seed, [c];
    ld.param.u32 %rounds, [d];
    ld.param.u64 %other, [e];
    mov.u32 %bad, 0;)",
                          body, R"(
    setp.ne.u32 %q, %bad, 0;
    @%q red.global.add.u32 [%other], %bad;)");
}

std::string copy_reads() {
    std::string text;
    for (int k = 0; k < 4; ++k)
        text += fmt::format(R"(
    setp.lt.u64 %p{0}, %j, %count;
    shl.b64 %offset, %j, 4;
    add.u64 %r{0}, %from, %offset;
    add.u64 %e{0}, %to, %offset;
    @%p{0} ld.global.v4.u32 {{%w{1}, %w{2}, %w{3}, %w{4}}}, [%r{0}];
    add.u64 %j, %j, %step;)",
                            k, 4 * k, 4 * k + 1, 4 * k + 2, 4 * k + 3);
    return text;
}

std::string copy_writes() {
    std::string text;
    for (int k = 0; k < 4; ++k)
        text += fmt::format("\n    @%p{0} st.global.v4.u32 [%e{0}], {{%w{1}, %w{2}, %w{3}, %w{4}}};", k,
                            4 * k, 4 * k + 1, 4 * k + 2, 4 * k + 3);
    return text;
}

// Each block copies pieces of four groups for each of its threads, all read before the first is written.
std::string copy_kernel() {
    return fmt::format(R"(
.visible .entry copy(.param .u64 a, .param .u64 b, .param .u64 c)
{{
    .reg .pred %p<4>;
    .reg .u32 %w<16>;
    .reg .u64 %to, %from, %count, %i, %j, %piece, %step, %offset, %r<4>, %e<4>;{}
    ld.param.u64 %to, [a];
    ld.param.u64 %from, [b];
    ld.param.u64 %count, [c];
    shr.u64 %count, %count, 2;
    cvt.u64.u32 %step, %size;
    mul.wide.u32 %i, %block, %size;
    shl.b64 %i, %i, 2;
    cvt.u64.u32 %j, %thread;
    add.u64 %i, %i, %j;
    shl.b64 %piece, %all, 2;
next:
    setp.ge.u64 %p0, %i, %count;
    @%p0 bra done;
    mov.u64 %j, %i;{}{}
    add.u64 %i, %i, %piece;
    bra next;
done:
    ret;
}}
)",
                       who_am_i, copy_reads(), copy_writes());
}

std::string walk_kernel() {
    return fmt::format(R"(
.visible .entry walk(.param .u64 a, .param .u64 b, .param .u32 c, .param .u32 d, .param .u64 e)
{{
    .reg .pred %p;
    .reg .u32 %here, %salt, %steps, %high, %read;
    .reg .u64 %words, %count, %out, %wide, %at;{0}
    ld.param.u64 %words, [a];
    ld.param.u64 %count, [b];
    ld.param.u32 %x, [c];
    xor.b32 %salt, %x, 0x9e3779b1;
    ld.param.u32 %steps, [d];
    ld.param.u64 %out, [e];
    add.u32 %x, %x, %id32;{1}
    mov.u32 %here, %x;
step:
    mov.u32 %x, %here;{1}
    mov.u32 %high, %x;
    xor.b32 %x, %here, %salt;{1}
    mov.b64 %wide, {{%x, %high}};
    mul.hi.u64 %wide, %wide, %count;
    shl.b64 %at, %wide, 2;
    add.u64 %at, %at, %words;
    ld.global.u32 %read, [%at];
    add.u32 %here, %here, %read;
    add.u32 %here, %here, 1;
    sub.u32 %steps, %steps, 1;
    setp.ne.u32 %p, %steps, 0;
    @%p bra step;
    shl.b64 %at, %id, 2;
    add.u64 %at, %at, %out;
    st.global.u32 [%at], %here;
    ret;
}}
)",
                       who_am_i, mix);
}

// Chains x = x * factor + addend, which no compiler can shorten and whose every bit IEEE 754 lays down.
std::string fma_kernel() {
    std::string begin, round, fold;
    for (std::uint32_t k = 0; k < fma_chains; ++k) {
        begin += fmt::format("\n    add.u32 %x, %lane, {};\n    cvt.rn.f32.u32 %f{}, %x;", 32 * k, k);
        fold += fmt::format("\n    mov.b32 %x, %f{};\n    xor.b32 %sum, %sum, %x;", k);
    }
    for (std::uint32_t step = 0; step < fma_unrolled; ++step)
        for (std::uint32_t k = 0; k < fma_chains; ++k)
            round += fmt::format("\n    fma.rn.f32 %f{0}, %f{0}, %factor, %addend;", k);
    return fmt::format(R"(
.visible .entry fma32(.param .u64 a, .param .u32 b)
{{
    .reg .pred %p;
    .reg .u32 %lane, %rounds, %sum;
    .reg .f32 %f<{0}>, %factor, %addend;
    .reg .u64 %out, %at;{1}
    ld.param.u64 %out, [a];
    ld.param.u32 %rounds, [b];
    mov.f32 %factor, 0f{5:08x};
    mov.f32 %addend, 0f{6:08x};
    and.b32 %lane, %thread, 31;{2}
round:{3}
    sub.u32 %rounds, %rounds, 1;
    setp.ne.u32 %p, %rounds, 0;
    @%p bra round;
    mov.u32 %sum, 0;{4}
    shl.b64 %at, %id, 2;
    add.u64 %at, %at, %out;
    st.global.u32 [%at], %sum;
    ret;
}}
)",
                       fma_chains, who_am_i, begin, round, fold, std::bit_cast<std::uint32_t>(fma_factor),
                       std::bit_cast<std::uint32_t>(fma_addend));
}

constexpr std::string_view head = ".version {}\n.target {}\n.address_size 64\n";

}  // namespace

std::string general_kernels() {
    return fmt::format(head, "6.0", "sm_60") + fill_kernel() + check_kernel() + copy_kernel() +
           walk_kernel() + fma_kernel();
}

std::string tensor_kernels() {
    std::string begin, round, fold;
    for (int k = 0; k < 16; ++k)
        begin += fmt::format(
            "\n    add.u32 %x, %lane, {0};{1}\n    and.b32 %x, %x, 0x{2:x};\n"
            "    or.b32 %m{3}, %x, 0x{4:x};",
            32 * k, mix, bf16_chosen, k, bf16_halves);
    for (std::uint32_t tile = 0; tile < tensor_tiles; ++tile) {
        const auto a = 4 * (tile % 2);
        const auto b = 8 + 2 * (tile / 2);
        const auto d = 4 * tile;
        round += fmt::format(
            "\n    mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {{%f{0}, %f{1}, %f{2}, %f{3}}}, "
            "{{%m{4}, %m{5}, %m{6}, %m{7}}}, {{%m{8}, %m{9}}}, {{%f{0}, %f{1}, %f{2}, %f{3}}};",
            d, d + 1, d + 2, d + 3, a, a + 1, a + 2, a + 3, b, b + 1);
    }
    for (std::uint32_t k = 0; k < 4 * tensor_tiles; ++k) {
        begin += fmt::format("\n    mov.f32 %f{}, 0f00000000;", k);
        fold += fmt::format("\n    mov.b32 %x, %f{};\n    xor.b32 %sum, %sum, %x;", k);
    }
    return fmt::format(head, "7.0", "sm_80") + fmt::format(R"(
.visible .entry tensor_bf16(.param .u64 a, .param .u32 b, .param .u32 c)
{{
    .reg .pred %p;
    .reg .u32 %lane, %rounds, %sum, %seed;
    .reg .b32 %m<16>;
    .reg .f32 %f<{0}>;
    .reg .u64 %out, %at;{1}
    ld.param.u64 %out, [a];
    ld.param.u32 %rounds, [b];
    ld.param.u32 %seed, [c];
    and.b32 %lane, %thread, 31;
    add.u32 %lane, %lane, %seed;{2}
round:{3}
    sub.u32 %rounds, %rounds, 1;
    setp.ne.u32 %p, %rounds, 0;
    @%p bra round;
    mov.u32 %sum, 0;{4}
    shl.b64 %at, %id, 2;
    add.u64 %at, %at, %out;
    st.global.u32 [%at], %sum;
    ret;
}}
)",
                                                           4 * tensor_tiles, who_am_i, begin, round, fold);
}

}  // namespace hostler::cuda
