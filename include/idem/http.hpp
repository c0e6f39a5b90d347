// idem's HTTP boundary and the client's rule, tied to no server library. Link idem::http. The parts stand in the order to
// read them in.
#pragma once

// RequestView: what the boundary has to know of a request.
#include "idem/http/request.hpp"
// Boundary: makes a command of a request, and a response of its outcome.
#include "idem/http/boundary.hpp"
// StorePolicy: which answers are stored, and which of their headers.
#include "idem/http/storing.hpp"
// Problem: the boundary's own answers (RFC 9457).
#include "idem/http/problem.hpp"
// parse_idempotency_key(): the header's one key.
#include "idem/http/idempotency_key.hpp"
// Intent and ClientRule: the client's side.
#include "idem/http/client.hpp"
