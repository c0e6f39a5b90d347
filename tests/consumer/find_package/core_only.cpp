#include <idem/request/fingerprint.hpp>
#include <iostream>

int main() {
  const idem::Fingerprinter fingerprinter;
  std::cout << fingerprinter({.method = "POST", .operation = "/payments", .body = R"({"amount":1290})"}).hex()
            << '\n';
}
