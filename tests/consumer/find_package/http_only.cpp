#include <idem/http/client.hpp>
#include <iostream>

int main() {
  const idem::http::Intent intent = idem::http::Intent::mint("{}");
  std::cout << intent.header() << '\n';
}
