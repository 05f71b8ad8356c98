/// The version of Joule, stated here alone.
#pragma once

#define JOULE_VERSION "0.1.0"
