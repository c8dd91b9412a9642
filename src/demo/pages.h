// What the demo answers, path by path.
#pragma once

#include "demo/http.h"

namespace demo {

// Answers one request. False: the connection is over.
bool answer(Connection& connection, const Request& request);

bool websocket(Connection& connection, const Request& request);      // Echoes every message.
bool probe_connect(Connection& connection, const Request& request);  // connected|refused|timeout|unreachable
bool burn(Connection& connection, const Request& request);
bool allocate(Connection& connection, const Request& request);
bool spawn(Connection& connection, const Request& request);
bool attack(Connection& connection, const Request& request);

}  // namespace demo
