// refund_services --listen HOST:PORT --ledger FILE
#include "program.hpp"
#include "request.hpp"

namespace {

// What is asked of a service, such as to withdraw a seat. All of them are told the same of the refund.
company::ReadCommand reader(const std::string& service, const std::string& action) {
  return [=](std::string_view body) -> company::Command {
    const nlohmann::json request = company::read_object(body);
    return {service,
            {{"service", service},
             {"action", action},
             {"refund", company::text(request, "refund")},
             {"payment", company::text(request, "payment")},
             {"amount_cents", company::amount(request, "amount_cents")}},
            "",
            false};
  };
}

}  // namespace

int main(int argc, char** argv) {
  return company::run({.words = {.program = "refund_services",
                                 .id = "id",
                                 .id_prefix = "",
                                 .accept = "ok",
                                 .accepted = "done",
                                 .refuse = "refuse",
                                 .refused = "refused"},
                       .services = {"enrolment", "payments", "email"},
                       .commands = {{"/enrolment/withdraw", reader("enrolment", "withdraw")},
                                    {"/enrolment/reinstate", reader("enrolment", "reinstate")},
                                    {"/payments/refund", reader("payments", "refund")},
                                    {"/email/send", reader("email", "send")}}},
                      argc, argv);
}
