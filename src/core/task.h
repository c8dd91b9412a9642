// Task<T>: a coroutine that ends in a Result<T>. It runs on one event loop and is awaited once.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include "core/result.h"

namespace hostler {

namespace asio = boost::asio;

using Loop = asio::io_context;

template <class T = void>
using Task = asio::awaitable<Result<T>, Loop::executor_type>;

}  // namespace hostler

// The value of an awaited Task, or leave the coroutine with its error: `auto x = CO_TRY(co_await f());`
#define CO_TRY(...)                                                                  \
    ({                                                                               \
        auto hostler_try = (__VA_ARGS__);                                            \
        if (!hostler_try) co_return std::unexpected(std::move(hostler_try).error()); \
        ::hostler::detail::value_of(std::move(hostler_try));                         \
    })
