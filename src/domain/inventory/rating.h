// What a GPU is, by what was measured of it: whether that fits what it says it is, and what it is good for.
#pragma once

#include <boost/describe.hpp>
#include <string>
#include <vector>

#include "domain/inventory/figures.h"
#include "domain/inventory/host.h"

namespace hostler {

// `unrated`: too little was measured, or no data sheet of the model is known.
enum class GpuVerdict { as_expected, slow, wrong_model, faulty, unrated };
BOOST_DESCRIBE_ENUM(GpuVerdict, as_expected, slow, wrong_model, faulty, unrated)

// By measured memory and speed alone, whatever the GPU calls itself: the highest for which all of memory
// size, memory speed and speed of computing suffice. See tier_rows in rating.cpp.
enum class GpuTier { frontier, training, inference, entry, unrated };
BOOST_DESCRIBE_ENUM(GpuTier, frontier, training, inference, entry, unrated)

struct GpuRating {
    std::string gpu_class;  // The model in the catalogue whose figures it shows; empty: none.
    GpuTier tier = GpuTier::unrated;
    GpuVerdict verdict = GpuVerdict::unrated;
    std::vector<std::string> evidence;  // Sentences with numbers and limits; first those that decided.
    bool operator==(const GpuRating&) const = default;
};
BOOST_DESCRIBE_STRUCT(GpuRating, (), (gpu_class, tier, verdict, evidence))

// Where what it says of itself does not fit the model that it says it is, or that its PCI id is: sentences.
std::vector<std::string> identity_conflicts(const GpuFacts& facts);

GpuRating rate_gpu(const GpuFacts& facts, const GpuFigures& figures);

// The model whose data sheet explains memory size and speeds best; empty: none within reach.
std::string model_by_figures(const GpuFacts& facts, const GpuFigures& figures);

}  // namespace hostler
