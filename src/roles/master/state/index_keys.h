// Keys of rows, as indexes want them (see Index::KeysOf).
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace hostler::master {

using Texts = std::vector<std::string>;

template <class Key>
std::vector<Key> one(Key key) {
    std::vector<Key> keys;
    keys.push_back(std::move(key));
    return keys;
}

template <class Key>
std::vector<Key> one_if(bool there, Key key) {
    return there ? one(std::move(key)) : std::vector<Key>{};
}

inline Texts unless_empty(const std::string& key) { return one_if(!key.empty(), key); }

template <class Key>
std::vector<Key> once_each(std::vector<Key> keys) {
    std::ranges::sort(keys);
    keys.erase(std::ranges::unique(keys).begin(), keys.end());
    return keys;
}

}  // namespace hostler::master
