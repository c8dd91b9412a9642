// A set of hosts, as bits by model and place: what a ranking is searched through.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace hostler {

class Mask {
public:
    void set(std::size_t model, std::size_t place) { word(model, place) |= std::uint64_t{1} << place % 64; }
    void reset(std::size_t model, std::size_t place) {
        word(model, place) &= ~(std::uint64_t{1} << place % 64);
    }
    bool test(std::size_t model, std::size_t place) const {
        const auto& bits = of(model);
        return place / 64 < bits.size() && (bits[place / 64] >> place % 64 & 1);
    }
    const std::vector<std::uint64_t>& of(std::size_t model) const {
        static const std::vector<std::uint64_t> none;
        return model < words_.size() ? words_[model] : none;
    }
    bool any(std::size_t model) const {
        return std::ranges::any_of(of(model), [](std::uint64_t bits) { return bits != 0; });
    }
    void join(const Mask& others) {
        for (std::size_t model = 0; model < others.words_.size(); ++model)
            for (std::size_t i = 0; i < others.words_[model].size(); ++i)
                if (const std::uint64_t bits = others.words_[model][i]; bits != 0)
                    word(model, i * 64) |= bits;
    }
    void keep(const Mask& others) {
        for (std::size_t model = 0; model < words_.size(); ++model)
            for (std::size_t i = 0; i < words_[model].size(); ++i) words_[model][i] &= others.at(model, i);
    }
    void drop(const Mask& others) {
        for (std::size_t model = 0; model < words_.size(); ++model)
            for (std::size_t i = 0; i < words_[model].size(); ++i) words_[model][i] &= ~others.at(model, i);
    }

private:
    std::uint64_t at(std::size_t model, std::size_t i) const {
        const auto& bits = of(model);
        return i < bits.size() ? bits[i] : 0;
    }
    std::uint64_t& word(std::size_t model, std::size_t place) {
        if (model >= words_.size()) words_.resize(model + 1);
        if (place / 64 >= words_[model].size()) words_[model].resize(place / 64 + 1);
        return words_[model][place / 64];
    }
    std::vector<std::vector<std::uint64_t>> words_;
};

}  // namespace hostler
