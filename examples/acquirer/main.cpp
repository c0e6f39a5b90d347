// acquirer --listen HOST:PORT --ledger FILE
#include "program.hpp"
#include "request.hpp"

namespace {

// The payments example's rule: amounts that end in 13 are declined.
company::Command read_charge(std::string_view body) {
  const nlohmann::json request = company::read_object(body);
  const std::int64_t amount_cents = company::amount(request, "amount_cents");
  return {"",
          {{"amount_cents", amount_cents},
           {"currency", company::text(request, "currency")},
           {"reference", company::text(request, "reference")}},
          company::text(request, "payment_method_token"),
          amount_cents % 100 == 13};
}

}  // namespace

int main(int argc, char** argv) {
  return company::run({.words = {.program = "acquirer",
                                 .id = "charge_id",
                                 .id_prefix = "ch_",
                                 .accept = "approve",
                                 .accepted = "approved",
                                 .refuse = "decline",
                                 .refused = "declined"},
                       .commands = {{"/charges", read_charge}}},
                      argc, argv);
}
