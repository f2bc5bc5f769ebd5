// SPDX-License-Identifier: Apache-2.0
// Pictures and films of runs: the page of a run in a browser without a window, and what is made of its
// pictures.
#ifndef CNI_CLI_RENDER_H
#define CNI_CLI_RENDER_H

#include "cli/cli.h"

// A program by its name in the folders of PATH. 0: there is none.
int cni_find_program(const char *name, char *path, size_t size);

// ---- the browser: browser.c ----

typedef struct CniBrowser CniBrowser;

// Start it, with a profile in `folder`, and open a page from a file. A failure leaves a sentence
// (cn_error_message).
CnStatus cni_browser_open(const char *folder, const char *page, CniBrowser **browser);
// Run an expression in the page, wait for it, and take the text that it gives: `*text` is valid until
// the next call.
CnStatus cni_browser_ask(CniBrowser *browser, const char *expression, const char **text,
                         size_t *size);
void cni_browser_close(CniBrowser *browser); // null is allowed

// The bytes of "data:...;base64,..." in place of the text, to be freed; null: it is none, or no memory.
unsigned char *cni_data_url(const char *text, size_t size, size_t *bytes);

// ---- films: webm.c ----

// Frames that are WebP pictures become a WebM film of VP8 key frames.
typedef struct CniFilm CniFilm;
CnStatus cni_film_create(int width, int height, double frames_per_second, CniFilm **film);
CnStatus cni_film_add(CniFilm *film, const unsigned char *webp, size_t size);
CnStatus cni_film_write(CniFilm *film, const char *path);
void cni_film_destroy(CniFilm *film); // null is allowed

#endif
