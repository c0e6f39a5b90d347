#include "idem/error.hpp"
#include "idem/version.hpp"
namespace idem::inline v0 {
int placeholder() { return IDEM_VERSION_MAJOR; }
}
