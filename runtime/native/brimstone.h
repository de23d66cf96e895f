/* The native core, as C programs and Python see it.
 *
 * Python reads this very file: `runtime/native.py` drops the lines that start with `#` and the word
 * BRIMSTONE_API, and what is left must be plain C declarations.
 */
#ifndef BRIMSTONE_H
#define BRIMSTONE_H

#include <stdint.h>

#ifdef __cplusplus
#define BRIMSTONE_API extern "C" __attribute__((visibility("default")))
#else
#define BRIMSTONE_API extern
#endif

/* The version the library was built as, such as "0.1.0". The text lives as long as the process. */
BRIMSTONE_API const char *brimstone_version(void);

/* Nanoseconds on a clock that never goes back. Only differences have a meaning. */
BRIMSTONE_API int64_t brimstone_clock(void);

#endif
