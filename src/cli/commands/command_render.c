// SPDX-License-Identifier: Apache-2.0
// cairn render: a run as a picture or a film. The page of the run is opened in Chromium without a window, and
// asked for one picture after the other (window.cairn, docs/dev/page.md).
#define _XOPEN_SOURCE 700 // nftw
#include <cairn/record.h>
#include <cairn/tools.h>
#include <ftw.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/render/render.h"

#define PAGE_BYTES 0 // the usual most
#define MOST_FRAMES 1000000
#define PNG_HEAD 33 // bytes of its signature and IHDR

typedef enum Form { PICTURE, WEBM, MP4 } Form;

typedef struct Render {
  const CniArgs *args;
  const char *source, *output;
  Form form;
  int width, height;
  double rate, speed, first, last; // frames a second; simulated seconds a second; s, s
  int64_t frame_count;
  char folder[1024]; // for page and profile
  CniBrowser *browser;
  CniFilm *film;
  FILE *coder; // ffmpeg
} Render;

// ---- what is asked for ----

static int take_form(Render *r) {
  const char *dot = r->output ? strrchr(r->output, '.') : NULL;
  if (!r->output)
    return cni_usage_error(r->args->command, "-o FILE.png, FILE.webm or FILE.mp4 is missing");
  if (dot && strcmp(dot, ".png") == 0) return r->form = PICTURE, CNI_EXIT_DONE;
  if (dot && strcmp(dot, ".webm") == 0) return r->form = WEBM, CNI_EXIT_DONE;
  if (dot && strcmp(dot, ".mp4") == 0) return r->form = MP4, CNI_EXIT_DONE;
  return cni_usage_error(r->args->command, "a picture is a .png, a film a .webm or a .mp4 (got %s)",
                         r->output);
}

// Numbers with commas between them.
static int take_numbers(const CniArgs *args, const char *name, int least, int most, double *numbers,
                        int *count) {
  const char *text = cni_args_text(args, name);
  *count = 0;
  while (text && *text) {
    char word[64];
    size_t length = strcspn(text, ",");
    snprintf(word, sizeof word, "%.*s", (int)(length < 60 ? length : 60), text);
    if (*count == most || !cni_number_parse(word, &numbers[*count])) break;
    (*count)++;
    text += length + (text[length] == ',');
  }
  if (!cni_args_has(args, name) || (*count >= least && !*text)) return 1;
  cni_usage_error(args->command, "--%s takes %d%s numbers with commas between them (got %s)", name,
                  least, most > least ? " or more" : "", cni_args_text(args, name));
  return 0;
}

static int take_options(Render *r) {
  const CniArgs *args = r->args;
  int status = take_form(r);
  if (status != CNI_EXIT_DONE) return status;
  r->rate = 30;
  r->speed = 1;
  r->first = 0;
  r->last = -1;
  r->width = 1280;
  r->height = 720;
  double time = -1;
  if (!cni_size_parse(args, &r->width, &r->height) ||
      !cni_args_number(args, "fps", CNI_NUMBER_POSITIVE, &r->rate) ||
      !cni_args_number(args, "speed", CNI_NUMBER_POSITIVE, &r->speed) ||
      !cni_args_number(args, "start", CNI_NUMBER_NOT_NEGATIVE, &r->first) ||
      !cni_args_number(args, "end", CNI_NUMBER_NOT_NEGATIVE, &r->last) ||
      !cni_args_number(args, "time", CNI_NUMBER_NOT_NEGATIVE, &time))
    return CNI_EXIT_USAGE;
  if (r->form != PICTURE && time >= 0)
    return cni_usage_error(args->command, "--time is of a picture; a film has --start and --end");
  if (time >= 0) r->first = time;
  if (r->form == MP4 && (r->width % 2 || r->height % 2))
    return cni_usage_error(args->command, "an mp4 has an even width and height (got %dx%d)",
                           r->width, r->height);
  return CNI_EXIT_DONE;
}

// How long the run is, and with it how many frames there are.
static int plan(Render *r, CnRun *run) {
  CnRunInfo info;
  double end = 0;
  cn_run_info(run, &info);
  if (info.frame_count > 0 && cn_run_frame(run, info.frame_count - 1, &end, NULL, NULL) != CN_OK)
    return cni_fail(r->args, "%s", cn_error_message());
  // a frame may be due after the last one
  double late = end + (info.frames_per_second > 0 ? 1 / info.frames_per_second : info.time_step);
  double asked = r->form == PICTURE ? r->first : r->last;
  if (info.frame_count > 0 && asked > late + 1e-9 * late)
    return cni_usage_error(r->args->command, "the run ends at %g s, before the %g s asked for", end,
                           asked);
  if (r->last < 0 || r->last > end) r->last = end;
  if (r->form == PICTURE) {
    if (!cni_args_has(r->args, "time")) r->first = end;
    r->frame_count = 1;
    return CNI_EXIT_DONE;
  }
  if (r->first > r->last)
    return cni_usage_error(r->args->command, "the film would start at %g s, after its end at %g s",
                           r->first, r->last);
  double frames = floor((r->last - r->first) * r->rate / r->speed + 1e-9) + 1;
  if (frames > MOST_FRAMES)
    return cni_usage_error(r->args->command, "%.0f frames are too many", frames);
  r->frame_count = (int64_t)frames;
  return CNI_EXIT_DONE;
}

// ---- a folder for a while ----

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *where) {
  (void)about;
  (void)kind;
  (void)where;
  return remove(path);
}

static void remove_folder(const char *folder) {
  // what ends slowly may still write there
  for (int i = 0; folder[0] && i < 20 && nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS) != 0;
       i++)
    nanosleep(&(struct timespec){0, 50000000}, NULL);
}

static int make_folder(Render *r) {
  const char *root = getenv("TMPDIR");
  snprintf(r->folder, sizeof r->folder - 32, "%s/cairn-render-XXXXXX",
           root && root[0] == '/' ? root : "/tmp");
  if (mkdtemp(r->folder)) return CNI_EXIT_DONE;
  cni_fail(r->args, "%s: cannot be made", r->folder);
  r->folder[0] = 0;
  return CNI_EXIT_FAILED;
}

// ---- the page ----

static int open_page(Render *r) {
  CnAllocator allocator = cn_allocator_default();
  CnRun *run;
  char page[1100];
  if (cn_file_kind(r->source) == CN_FILE_KIND_OTHER)
    return cni_fail(r->args, "%s: is no recorded run: `cairn run %s --out run.h5` records one",
                    r->source, r->source);
  if (cn_run_open(r->source, &allocator, &run) != CN_OK)
    return cni_fail(r->args, "%s", cn_error_message());
  int status = cn_run_check_output(run, r->output) == CN_OK
                   ? plan(r, run)
                   : cni_fail(r->args, "%s", cn_error_message());
  if (status == CNI_EXIT_DONE) status = cni_check_vacant(r->args, r->output);
  if (status == CNI_EXIT_DONE) status = make_folder(r);
  snprintf(page, sizeof page, "%s/page.html", r->folder);
  if (status == CNI_EXIT_DONE && (cn_page_from_run(run, page, PAGE_BYTES) != CN_OK ||
                                  cni_browser_open(r->folder, page, &r->browser) != CN_OK))
    status = cni_fail(r->args, "%s", cn_error_message());
  cn_run_close(run);
  return status;
}

// A word for a text in a script: letters, digits and a few signs.
static void clean(const char *from, char *to, size_t size) {
  size_t n = 0;
  for (; *from && n + 1 < size; from++)
    if ((*from >= 'a' && *from <= 'z') || (*from >= 'A' && *from <= 'Z') ||
        (*from >= '0' && *from <= '9') || strchr(" ,_-", *from))
      to[n++] = *from;
  to[n] = 0;
}

// Bare page, size, eye, colors and marks.
static int set_up(Render *r) {
  double eye[3] = {0}, from[3] = {0}, to[3] = {0};
  int n, has_from, has_to;
  char camera[512] = "", script[2200], show[200], color[64], theme[16];
  const char *words = cni_args_text(r->args, "show"), *text;
  if (!take_numbers(r->args, "camera", 2, 3, eye, &n) ||
      !take_numbers(r->args, "from", 3, 3, from, &has_from) ||
      !take_numbers(r->args, "to", 3, 3, to, &has_to))
    return CNI_EXIT_USAGE;
  if (n > 0)
    snprintf(camera, sizeof camera, "c.camera({azimuth:%.9g,elevation:%.9g,zoom:%.9g});", eye[0],
             eye[1], n > 2 ? eye[2] : 1);
  else if (has_from)
    snprintf(camera, sizeof camera, "c.camera({from:[%.9g,%.9g,%.9g],to:[%.9g,%.9g,%.9g]});",
             from[0], from[1], from[2], to[0], to[1], to[2]);
  else
    snprintf(camera, sizeof camera, "c.camera({fit:true});");
  clean(words ? words : "", show, sizeof show);
  clean(cni_args_has(r->args, "color") ? cni_args_text(r->args, "color") : "", color, sizeof color);
  clean(cni_args_has(r->args, "dark") ? "dark" : "light", theme, sizeof theme);
  snprintf(script, sizeof script,
           "(async()=>{const late=Date.now()+60000;"
           "while(!window.cairn?.picture&&Date.now()<late)await new Promise(d=>setTimeout(d,20));"
           "const c=window.cairn;if(!c?.picture)throw new Error('it shows no picture');"
           "await c.ready;c.pause();c.theme('%s');c.hide_ui(true);c.size(%d,%d);c.sharp?.(true);"
           "for(const s of '%s'.split(',').filter(Boolean))c.show(s);"
           "if('%s')c.colour('%s');%sreturn 'ready'})()",
           theme, r->width, r->height, show, color, color, camera);
  size_t size;
  if (cni_browser_ask(r->browser, script, &text, &size) == CN_OK) return CNI_EXIT_DONE;
  return cni_fail(r->args, "%s: %s", r->source, cn_error_message());
}

// ---- frames ----

static int open_coder(Render *r) {
  char program[1024], line[3000];
  if (r->form == WEBM)
    return cni_film_create(r->width, r->height, r->rate, &r->film) == CN_OK
               ? CNI_EXIT_DONE
               : cni_fail(r->args, "%s", cn_error_message());
  if (r->form != MP4) return CNI_EXIT_DONE;
  if (!cni_find_program("ffmpeg", program, sizeof program))
    return cni_fail(
        r->args, "ffmpeg, which makes mp4, is not installed (Debian: apt install ffmpeg); a .webm "
                 "needs none");
  // names with quotes in them would end the word
  if (strchr(r->output, '\'') || strchr(program, '\''))
    return cni_fail(r->args, "%s: the name of an mp4 has no quotes", r->output);
  snprintf(line, sizeof line,
           "'%s' -nostdin -y -loglevel error -f image2pipe -framerate %.9g -c:v png -i - -c:v "
           "libx264 -preset "
           "medium -crf 18 -pix_fmt yuv420p -movflags +faststart '%s%s'",
           program, r->rate, r->output[0] == '-' ? "./" : "", r->output);
  r->coder = popen(line, "w");
  return r->coder ? CNI_EXIT_DONE : cni_fail(r->args, "ffmpeg cannot be started");
}

static CnStatus keep_picture(Render *r, const unsigned char *bytes, size_t size) {
  CnOutput *out;
  if (r->form == WEBM) return cni_film_add(r->film, bytes, size);
  if (r->form == MP4)
    return fwrite(bytes, 1, size, r->coder) == size
               ? CN_OK
               : cn_error_set(CN_FILE, "ffmpeg has ended too soon");
  CNI_TRY(cn_output_create(r->output, &out));
  // behind the head of a PNG that cairn made it, for cn_output_vacant
  static const unsigned char mark[] = "\0\0\0\016tEXtSoftware\0cairn\005\137\040\375";
  size_t head = size > PNG_HEAD ? PNG_HEAD : 0;
  cn_output_write(out, bytes, head);
  if (head) cn_output_write(out, mark, sizeof mark - 1);
  cn_output_write(out, bytes + head, size - head);
  return cn_output_close(out);
}

static CnStatus take_frame(Render *r, int64_t frame) {
  char script[200];
  const char *text;
  size_t size, bytes = 0;
  double time = r->first + (double)frame * r->speed / r->rate;
  snprintf(script, sizeof script, "(()=>{cairn.seek(%.17g);return cairn.picture(%s)})()",
           time < r->last || r->form == PICTURE ? time : r->last,
           r->form == WEBM ? "'image/webp',0.92" : "'image/png'");
  CNI_TRY(cni_browser_ask(r->browser, script, &text, &size));
  unsigned char *picture = cni_data_url(text, size, &bytes);
  if (!picture) return cn_error_set(CN_INVALID_DATA, "the page gave no picture");
  CnStatus status = keep_picture(r, picture, bytes);
  free(picture);
  return status;
}

static int take_frames(Render *r) {
  CniProgress progress;
  int quiet = cni_args_has(r->args, "quiet") || cni_args_has(r->args, "json") || r->form == PICTURE;
  cni_progress_begin(&progress, cni_progress_style(quiet), r->source, 0, r->frame_count);
  progress.unit = "frames";
  for (int64_t i = 0; i < r->frame_count; i++) {
    if (take_frame(r, i) != CN_OK)
      return cni_fail(r->args, "%s: %s", r->source, cn_error_message());
    if (cni_progress_due(&progress))
      cni_progress_show(&progress, i + 1, (double)(i + 1) / r->rate, "");
  }
  cni_progress_end(&progress, r->frame_count, (double)r->frame_count / r->rate, "");
  return CNI_EXIT_DONE;
}

static int finish(Render *r, int status) {
  if (r->coder && pclose(r->coder) != 0 && status == CNI_EXIT_DONE)
    status = cni_fail(r->args, "%s: ffmpeg could not make it", r->output);
  if (r->film && status == CNI_EXIT_DONE && cni_film_write(r->film, r->output) != CN_OK)
    status = cni_fail(r->args, "%s", cn_error_message());
  cni_film_destroy(r->film);
  cni_browser_close(r->browser);
  remove_folder(r->folder);
  if (status != CNI_EXIT_DONE) return status;
  CniShow show;
  int json = cni_args_has(r->args, "json");
  cni_show_begin(&show, stdout, json);
  cni_show_text(&show, "output", NULL, r->output);
  cni_show_count(&show, "frames", NULL, r->frame_count);
  cni_show_number(&show, "fps", NULL, r->rate, "");
  cni_show_end(&show);
  if (!json && !cni_args_has(r->args, "quiet"))
    printf("%s: %lld frame%s of %dx%d\n", r->output, (long long)r->frame_count,
           r->frame_count == 1 ? "" : "s", r->width, r->height);
  return status;
}

static int run(const CniArgs *args) {
  Render r = {.args = args, .source = args->operands[0], .output = cni_args_text(args, "output")};
  int status = take_options(&r);
  if (status != CNI_EXIT_DONE) return status;
  status = open_page(&r);
  if (status == CNI_EXIT_DONE) status = set_up(&r);
  if (status == CNI_EXIT_DONE) status = open_coder(&r);
  if (status == CNI_EXIT_DONE) status = take_frames(&r);
  return finish(&r, status);
}

static const CniOption options[] = {
    {"output", 'o', "FILE", "FILE.png: a picture; FILE.webm, FILE.mp4: a film"},
    {"size", 0, "WxH", "in pixels (default 1280x720)"},
    {"fps", 0, "N", "frames a second of the film (default 30)"},
    {"speed", 0, "S", "simulated seconds a second of the film (default 1)"},
    {"start", 0, "T", "the film begins at this time of the run (default 0)"},
    {"end", 0, "T", "and ends at this one (default: that of the run)"},
    {"time", 0, "T", "the picture is of this time (default: the end)"},
    {"camera", 0, "A,E[,Z]", "azimuth and elevation in degrees; zoom (1: all is seen)"},
    {"from", 0, "X,Y,Z", "where the eye is, instead of --camera"},
    {"to", 0, "X,Y,Z", "and what it looks at (default the origin)"},
    {"show", 0, "NAMES",
     "joints, contacts (points and arrows), points, arrows, chains, trails, glass"},
    {"color", 0, "NAME", "what colors tell, as the page has it: speed, ..."},
    {"dark", 0, NULL, "on a dark ground"},
    CNI_OPTION_FORCE,
    CNI_OPTION_JSON,
    CNI_OPTION_QUIET,
    CNI_OPTION_END};
static const CniExample examples[] = {
    {"cairn render run.h5 -o run.webm", "a film"},
    {"cairn render run.h5 -o run.png --time 1.5 --camera 30,20", "a picture"},
    {"cairn render run.h5 -o slow.mp4 --speed 0.1 --size 1920x1080 --fps 60", "slow motion"},
    {NULL, NULL}};
const CniCommand cni_command_render = {
    .name = "render",
    .summary = "a run as a picture or a film",
    .operands = "RUN",
    .operand_min = 1,
    .operand_max = 1,
    .description = "Makes a picture (.png) or a film (.webm, .mp4) of a "
                   "run. It is drawn by the page that `cairn report` "
                   "makes, in Chromium without a window, which must be "
                   "installed; no network is used. A .webm needs nothing "
                   "else, a .mp4 needs ffmpeg. An older picture or .webm of "
                   "cairn's is replaced, any other file with --force alone.",
    .options = options,
    .examples = examples,
    .run = run};
