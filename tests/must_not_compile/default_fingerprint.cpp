// A fingerprint that every request shares would answer one request with another's response.
// expect: (no matching function|no matching constructor)
#include <idem/request/fingerprint.hpp>

idem::Fingerprint fingerprint_of(const idem::RequestContent& content) {
#ifdef MUST_NOT_COMPILE
  static_cast<void>(content);
  return idem::Fingerprint{};
#else
  return idem::Fingerprinter{}(content);
#endif
}
