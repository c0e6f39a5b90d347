// The library's version: the one place that states it. The build reads these three lines.
#pragma once

#define IDEM_VERSION_MAJOR 0
#define IDEM_VERSION_MINOR 1
#define IDEM_VERSION_PATCH 0
