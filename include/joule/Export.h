/* What Joule's shared libraries export. They are compiled with everything else hidden. Also read by C. */
#ifndef JOULE_EXPORT_H
#define JOULE_EXPORT_H

#define JOULE_API __attribute__((visibility("default")))
#define JOULE_HIDDEN __attribute__((visibility("hidden")))

#endif
