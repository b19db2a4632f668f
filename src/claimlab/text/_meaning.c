/* The inner loops of claimlab.text.meaning: products of small whole numbers, and what is done to each token around them.
 *
 *   product   rows of unsigned bytes times a matrix of signed bytes, exactly
 *   convolve  one of the three convolutions of the encoder, over texts laid out with two empty rows between them
 *   pool      the layer norm of every token, summed over each text
 *
 * Whole numbers have one sum in any order, and every sum of fractions here has a fixed order in 16 lanes, without fused
 * multiply-add (-ffp-contract=off). So every processor gives the same bytes, and so does the NumPy code in meaning.py: the tests
 * hold the two to identical output. Change them together. The functions release the GIL and work on ranges of their own.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define X86 1
#endif

#define WIDE 256                /* numbers in a row of a convolution, and in a step of a product */
#define PANEL 64                /* columns that are worked on together */
#define SIZE (WIDE * PANEL)     /* bytes of the weights of a step for a panel: they stay in the first cache */
#define TILE 6                  /* rows that are worked on together */
#define EMBEDDED 512            /* numbers of an embedded token, at the beginning of its row in the table */
#define FEATURES (EMBEDDED + 3 * WIDE)
#define LANES 16
#define ZERO 128                /* how 0 is written in an unsigned byte */
#define TOP 127.0f
#define NEAREST 12582912.0f     /* added and taken away: rounds to the nearest whole number, ties to the even one */

/* sums[row][column] += 256 bytes of the row times the panel, for `count` rows that begin `stride` bytes apart. In the panel, four
 * numbers of a column stand together, then those of the next column. */
typedef void (*Step)(const uint8_t *bytes, Py_ssize_t stride, Py_ssize_t count, const int8_t *panel, int32_t *sums);

static void step_plain(const uint8_t *bytes, Py_ssize_t stride, Py_ssize_t count, const int8_t *panel, int32_t *sums) {
    for (Py_ssize_t row = 0; row < count; row++) {
        const uint8_t *from = bytes + row * stride;
        int32_t *sum = sums + row * PANEL;
        for (int k = 0; k < WIDE; k += 4) {
            const int8_t *weight = panel + k * PANEL;
            for (int n = 0; n < PANEL; n++)
                sum[n] += from[k] * weight[4 * n] + from[k + 1] * weight[4 * n + 1] + from[k + 2] * weight[4 * n + 2] +
                          from[k + 3] * weight[4 * n + 3];
        }
    }
}

#ifdef X86
#define AVX2 __attribute__((target("avx2")))
#define VNNI __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni")))

/* Two rows and 16 columns at a time: bytes become 16-bit numbers, and pairs of products are added as they are made. */
AVX2 static void two_avx2(const uint8_t *first, const uint8_t *second, const int8_t *panel,
                                                     int32_t *into, int32_t *into_second) {
    __m256i one[4] = {0}, two[4] = {0};
    for (int k = 0; k < WIDE; k += 4) {
        int32_t four;
        memcpy(&four, first + k, 4);
        __m256i a = _mm256_cvtepu8_epi16(_mm_set1_epi32(four));
        memcpy(&four, second + k, 4);
        __m256i b = _mm256_cvtepu8_epi16(_mm_set1_epi32(four));
        for (int c = 0; c < 4; c++) {
            __m256i weight = _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(panel + k * PANEL + 16 * c)));
            one[c] = _mm256_add_epi32(one[c], _mm256_madd_epi16(a, weight));
            two[c] = _mm256_add_epi32(two[c], _mm256_madd_epi16(b, weight));
        }
    }
    int32_t halves[8];
    for (int c = 0; c < 4; c++) {
        _mm256_storeu_si256((__m256i *)halves, one[c]);
        for (int n = 0; n < 4; n++) into[4 * c + n] += halves[2 * n] + halves[2 * n + 1];
        _mm256_storeu_si256((__m256i *)halves, two[c]);
        for (int n = 0; n < 4; n++) into_second[4 * c + n] += halves[2 * n] + halves[2 * n + 1];
    }
}

AVX2 static void step_avx2(const uint8_t *bytes, Py_ssize_t stride, Py_ssize_t count, const int8_t *panel, int32_t *sums) {
    int32_t nowhere[16] = {0};
    for (Py_ssize_t row = 0; row < count; row += 2) {
        const uint8_t *from = bytes + row * stride;
        int pair = row + 1 < count;
        for (int n = 0; n < PANEL; n += 16) {
            int32_t *into = sums + row * PANEL + n;
            two_avx2(from, pair ? from + stride : from, panel + 4 * n, into, pair ? into + PANEL : nowhere);
        }
    }
}

#define UNROLLED _Pragma("GCC unroll 8")

/* `rows` is a constant where this is used, so that all sums stay in registers. */
VNNI static inline __attribute__((always_inline)) void tile_vnni(const uint8_t *bytes, Py_ssize_t stride, const int rows,
                                                                 const int8_t *panel, int32_t *sums) {
    __m512i sum[TILE][4];
    UNROLLED
    for (int r = 0; r < rows; r++)
        UNROLLED
        for (int c = 0; c < 4; c++) sum[r][c] = _mm512_loadu_si512(sums + r * PANEL + 16 * c);
    for (int k = 0; k < WIDE; k += 4) {
        __m512i weight[4];
        UNROLLED
        for (int c = 0; c < 4; c++) weight[c] = _mm512_loadu_si512(panel + k * PANEL + 64 * c);
        UNROLLED
        for (int r = 0; r < rows; r++) {
            int32_t four;
            memcpy(&four, bytes + r * stride + k, 4);
            __m512i all = _mm512_set1_epi32(four);
            UNROLLED /* in assembler: of the intrinsic the compiler makes twice the moves, and half the speed */
            for (int c = 0; c < 4; c++) __asm__("vpdpbusd %2, %1, %0" : "+v"(sum[r][c]) : "v"(all), "v"(weight[c]));
        }
    }
    UNROLLED
    for (int r = 0; r < rows; r++)
        UNROLLED
        for (int c = 0; c < 4; c++) _mm512_storeu_si512(sums + r * PANEL + 16 * c, sum[r][c]);
}

VNNI static void step_vnni(const uint8_t *bytes, Py_ssize_t stride, Py_ssize_t count, const int8_t *panel, int32_t *sums) {
    Py_ssize_t row = 0;
    for (; row + TILE <= count; row += TILE) tile_vnni(bytes + row * stride, stride, TILE, panel, sums + row * PANEL);
    for (; row < count; row++) tile_vnni(bytes + row * stride, stride, 1, panel, sums + row * PANEL);
}
#endif

/* The sums of one panel for `count` rows of 256 * `steps` bytes each. */
static void panel_sums(Step step, const uint8_t *bytes, Py_ssize_t stride, Py_ssize_t count, Py_ssize_t steps,
                       const int8_t *weights, const int32_t *start, int32_t *sums) {
    for (Py_ssize_t row = 0; row < count; row++) memcpy(sums + row * PANEL, start, PANEL * sizeof(int32_t));
    for (Py_ssize_t k = 0; k < steps; k++) step(bytes + k * WIDE, stride, count, weights + k * SIZE, sums);
}

/* One convolution of some texts: what it reads and where it writes. */
typedef struct {
    const int32_t *place, *text; /* of each row in the table; the first row of each text and the row after its last */
    Py_ssize_t rows, texts;
    const float *table;
    Py_ssize_t width;             /* numbers in a row of the table */
    Py_ssize_t own, products;     /* where those of this convolution begin */
    Py_ssize_t order, left;       /* of its window */
    const float *bias, *second_bias;
    const int8_t *weights;
    const int32_t *start;
    float scale;
    float *h, *unit, *out;
    uint8_t *bytes;
    int32_t *sums;
} Work;

/* The loops below are compiled once for each kind of processor. */
#ifdef __GNUC__
#define BODY static inline __attribute__((always_inline))
#else
#define BODY static inline
#endif

/* h = max(0, bias + what the first layer gives for the window) + the token itself, for one row. */
BODY void first_layer(const Work *w, Py_ssize_t row) {
    float *h = w->h + row * WIDE;
    memcpy(h, w->bias, WIDE * sizeof(float));
    for (Py_ssize_t m = 0; m < w->order; m++) {
        const float *from = w->table + w->place[row + m - w->left] * w->width + w->products + m * WIDE;
        for (int n = 0; n < WIDE; n++) h[n] += from[n];
    }
    const float *own = w->table + w->place[row] * w->width + w->own;
    for (int n = 0; n < WIDE; n++) h[n] = (h[n] > 0.0f ? h[n] : 0.0f) + own[n];
}

/* The rows of one text as bytes; gives the size of one of their units. */
BODY float as_bytes(const float *h, Py_ssize_t count, uint8_t *bytes) {
    float lane[LANES] = {0}, top = 0.0f;
    for (Py_ssize_t i = 0; i < count * WIDE; i += LANES)
        for (int n = 0; n < LANES; n++) {
            float size = fabsf(h[i + n]);
            lane[n] = size > lane[n] ? size : lane[n];
        }
    for (int n = 0; n < LANES; n++) top = lane[n] > top ? lane[n] : top;
    float units = top > 0.0f ? TOP / top : 0.0f;
    for (Py_ssize_t i = 0; i < count * WIDE; i++) {
        float whole = (h[i] * units + NEAREST) - NEAREST;
        bytes[i] = (uint8_t)((int32_t)whole + ZERO);
    }
    return top / TOP;
}

BODY void convolve_body(const Work *w, Step step) {
    memset(w->bytes, ZERO, (size_t)w->rows * WIDE);
    memset(w->unit, 0, (size_t)w->rows * sizeof(float));
    for (Py_ssize_t i = 0; i < w->texts; i++) {
        Py_ssize_t from = w->text[2 * i], end = w->text[2 * i + 1];
        memset(w->h + (from - 2) * WIDE, 0, 2 * WIDE * sizeof(float));
        for (Py_ssize_t row = from; row < end; row++) first_layer(w, row);
        float unit = as_bytes(w->h + from * WIDE, end - from, w->bytes + from * WIDE) * w->scale;
        for (Py_ssize_t row = from; row < end; row++) w->unit[row] = unit;
    }
    for (int p = 0; p < WIDE / PANEL; p++) {
        panel_sums(step, w->bytes + (2 - w->left) * WIDE, WIDE, w->rows - 4, w->order, w->weights + p * w->order * SIZE,
                   w->start + p * PANEL, w->sums);
        for (Py_ssize_t row = 2; row < w->rows - 2; row++) {
            const int32_t *sum = w->sums + (row - 2) * PANEL;
            const float *own = w->h + row * WIDE + p * PANEL, *bias = w->second_bias + p * PANEL;
            float *into = w->out + row * 3 * WIDE + p * PANEL, unit = w->unit[row];
            for (int n = 0; n < PANEL; n++) {
                float value = (float)sum[n] * unit + bias[n];
                into[n] = (value > 0.0f ? value : 0.0f) + own[n];
            }
        }
    }
}

/* The sum of 16 lanes: halves are added until one number is left. */
BODY float lanes_sum(float *lane) {
    for (int half = LANES / 2; half > 0; half /= 2)
        for (int n = 0; n < half; n++) lane[n] += lane[n + half];
    return lane[0];
}

/* Adds the layer norm of one token to the sum of its text. */
BODY void pool_body(const float *embedded, const float *convolved, float small, float *sum) {
    float row[FEATURES], lane[LANES] = {0};
    memcpy(row, embedded, EMBEDDED * sizeof(float));
    memcpy(row + EMBEDDED, convolved, 3 * WIDE * sizeof(float));
    for (int i = 0; i < FEATURES; i += LANES)
        for (int n = 0; n < LANES; n++) lane[n] += row[i + n];
    float mean = lanes_sum(lane) / (float)FEATURES;
    memset(lane, 0, sizeof lane);
    for (int i = 0; i < FEATURES; i += LANES)
        for (int n = 0; n < LANES; n++) {
            float away = row[i + n] - mean;
            row[i + n] = away;
            lane[n] += away * away;
        }
    float rate = 1.0f / sqrtf(lanes_sum(lane) / (float)FEATURES + small);
    for (int i = 0; i < FEATURES; i++) sum[i] += row[i] * rate;
}

typedef struct {
    const char *name;
    Step step;
    void (*convolve)(const Work *);
    void (*pool)(const float *, const float *, float, float *);
} Loops;

#define LOOPS(kind, target)                                                                                  \
    target static void convolve_##kind(const Work *w) { convolve_body(w, step_##kind); }                     \
    target static void pool_##kind(const float *e, const float *c, float small, float *sum) { pool_body(e, c, small, sum); } \
    static const Loops kind = {#kind, step_##kind, convolve_##kind, pool_##kind};

LOOPS(plain, )
#ifdef X86
LOOPS(avx2, AVX2)
LOOPS(vnni, VNNI)
#endif

static int runs_here(const Loops *loops) {
#ifdef X86
    if (loops == &avx2) return __builtin_cpu_supports("avx2");
    if (loops == &vnni)
        return __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
#endif
    return loops == &plain;
}

#ifdef X86
static const Loops *const all[] = {&vnni, &avx2, &plain}; /* the fastest first */
#else
static const Loops *const all[] = {&plain};
#endif
static const Loops *loops = &plain;

static int buffer_is(const Py_buffer *view, Py_ssize_t items, Py_ssize_t width, const char *name) {
    if (items >= 0 && view->len == items * width && (uintptr_t)view->buf % (size_t)width == 0) return 1;
    PyErr_Format(PyExc_ValueError, "the buffer '%s' has the wrong size or is not aligned", name);
    return 0;
}

/* Whether every row is one of the table's, and every text has two rows on each side. */
static int inside(const Py_buffer *places, const Py_buffer *texts, Py_ssize_t kept) {
    Py_ssize_t rows = places->len / 4, count = texts->len / 8, before = 0;
    const int32_t *place = places->buf, *text = texts->buf;
    int fits = buffer_is(places, rows, 4, "places") && buffer_is(texts, 2 * count, 4, "texts");
    for (Py_ssize_t row = 0; fits && row < rows; row++) fits = place[row] >= 0 && place[row] < kept;
    for (Py_ssize_t i = 0; fits && i < count; i++) {
        fits = text[2 * i] >= before + 2 && text[2 * i + 1] >= text[2 * i] && text[2 * i + 1] + 2 <= rows;
        before = text[2 * i + 1];
    }
    if (!fits && !PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "a place or a text lies outside its rows");
    return fits;
}

PyDoc_STRVAR(product_doc, "product(bytes, rows, columns, weights, start, out)\n\nout = start + bytes @ weights, as float32.");

static PyObject *product(PyObject *self, PyObject *args) {
    (void)self;
    Py_buffer bytes, weights, start, out;
    Py_ssize_t rows, columns;
    if (!PyArg_ParseTuple(args, "y*nny*y*w*:product", &bytes, &rows, &columns, &weights, &start, &out)) return NULL;
    Py_ssize_t steps = rows > 0 ? bytes.len / rows / WIDE : 0, panels = columns / PANEL;
    int32_t *sums = NULL;
    int fits = buffer_is(&bytes, rows * steps * WIDE, 1, "bytes") && buffer_is(&weights, panels * steps * SIZE, 1, "weights") &&
               buffer_is(&start, panels * PANEL, 4, "start") && buffer_is(&out, rows * columns, 4, "out");
    if (fits && (sums = malloc((size_t)(rows + 1) * PANEL * sizeof(int32_t))) == NULL) PyErr_NoMemory();
    if (sums != NULL) {
        float *to = out.buf;
        Py_BEGIN_ALLOW_THREADS;
        for (Py_ssize_t p = 0; p < panels; p++) {
            panel_sums(loops->step, bytes.buf, steps * WIDE, rows, steps, (const int8_t *)weights.buf + p * steps * SIZE,
                       (const int32_t *)start.buf + p * PANEL, sums);
            for (Py_ssize_t row = 0; row < rows; row++)
                for (int n = 0; n < PANEL; n++) to[row * columns + p * PANEL + n] = (float)sums[row * PANEL + n];
        }
        Py_END_ALLOW_THREADS;
        free(sums);
    }
    PyBuffer_Release(&bytes);
    PyBuffer_Release(&weights);
    PyBuffer_Release(&start);
    PyBuffer_Release(&out);
    if (!fits || sums == NULL) return NULL;
    Py_RETURN_NONE;
}

PyDoc_STRVAR(convolve_doc,
             "convolve(places, texts, table, width, own, products, order, left, bias, weights, start, second_bias, scale, out, at)\n\n"
             "Both layers of a convolution for rows whose numbers stand at `places` of the table; place 0 is an empty row.\n"
             "`texts` are the first row of each text and the row after its last.");

static PyObject *convolve(PyObject *self, PyObject *args) {
    (void)self;
    Py_buffer places, texts, table, bias, weights, start, second, out;
    Work w = {0};
    Py_ssize_t at;
    if (!PyArg_ParseTuple(args, "y*y*y*nnnnny*y*y*y*fw*n:convolve", &places, &texts, &table, &w.width, &w.own, &w.products, &w.order,
                          &w.left, &bias, &weights, &start, &second, &w.scale, &out, &at))
        return NULL;
    w.rows = places.len / 4, w.texts = texts.len / 8;
    int fits = w.order > 0 && w.left >= 0 && w.left <= 2 && w.order - w.left <= 3 && w.width > 0 && at >= 0 && at + WIDE <= 3 * WIDE &&
               w.own >= 0 && w.own + WIDE <= w.width && w.products >= 0 && w.products + w.order * WIDE <= w.width &&
               buffer_is(&bias, WIDE, 4, "bias") && buffer_is(&weights, WIDE / PANEL * w.order * SIZE, 1, "weights") &&
               buffer_is(&start, WIDE, 4, "start") && buffer_is(&second, WIDE, 4, "second_bias") &&
               buffer_is(&out, w.rows * 3 * WIDE, 4, "out") && inside(&places, &texts, table.len / 4 / w.width);
    if (fits) {
        w.h = malloc((size_t)w.rows * WIDE * sizeof(float));
        w.unit = malloc((size_t)w.rows * sizeof(float));
        w.bytes = malloc((size_t)w.rows * WIDE);
        w.sums = malloc((size_t)w.rows * PANEL * sizeof(int32_t));
    } else if (!PyErr_Occurred()) {
        PyErr_SetString(PyExc_ValueError, "the window does not fit the table");
    }
    int made = w.h != NULL && w.unit != NULL && w.bytes != NULL && w.sums != NULL;
    if (fits && !made) PyErr_NoMemory();
    if (made) {
        w.place = places.buf, w.text = texts.buf, w.table = table.buf, w.bias = bias.buf, w.second_bias = second.buf;
        w.weights = weights.buf, w.start = start.buf, w.out = (float *)out.buf + at;
        Py_BEGIN_ALLOW_THREADS;
        loops->convolve(&w);
        Py_END_ALLOW_THREADS;
    }
    free(w.h);
    free(w.unit);
    free(w.bytes);
    free(w.sums);
    PyBuffer_Release(&places);
    PyBuffer_Release(&texts);
    PyBuffer_Release(&table);
    PyBuffer_Release(&bias);
    PyBuffer_Release(&weights);
    PyBuffer_Release(&start);
    PyBuffer_Release(&second);
    PyBuffer_Release(&out);
    if (!made) return NULL;
    Py_RETURN_NONE;
}

PyDoc_STRVAR(pool_doc, "pool(places, texts, table, width, convolved, small, out)\n\nThe normalised features of each text, summed.");

static PyObject *pool(PyObject *self, PyObject *args) {
    (void)self;
    Py_buffer places, texts, table, convolved, out;
    Py_ssize_t width;
    float small;
    if (!PyArg_ParseTuple(args, "y*y*y*ny*fw*:pool", &places, &texts, &table, &width, &convolved, &small, &out)) return NULL;
    Py_ssize_t rows = places.len / 4, count = texts.len / 8;
    int fits = width >= EMBEDDED && buffer_is(&convolved, rows * 3 * WIDE, 4, "convolved") &&
               buffer_is(&out, count * FEATURES, 4, "out") && inside(&places, &texts, table.len / 4 / width);
    if (fits) {
        const int32_t *place = places.buf, *text = texts.buf;
        float *sum = out.buf;
        Py_BEGIN_ALLOW_THREADS;
        memset(sum, 0, (size_t)count * FEATURES * sizeof(float));
        for (Py_ssize_t i = 0; i < count; i++)
            for (Py_ssize_t row = text[2 * i]; row < text[2 * i + 1]; row++)
                loops->pool((const float *)table.buf + place[row] * width, (const float *)convolved.buf + row * 3 * WIDE, small,
                            sum + i * FEATURES);
        Py_END_ALLOW_THREADS;
    } else if (!PyErr_Occurred()) {
        PyErr_SetString(PyExc_ValueError, "a row of the table has too few numbers");
    }
    PyBuffer_Release(&places);
    PyBuffer_Release(&texts);
    PyBuffer_Release(&table);
    PyBuffer_Release(&convolved);
    PyBuffer_Release(&out);
    if (!fits) return NULL;
    Py_RETURN_NONE;
}

PyDoc_STRVAR(use_doc, "use(name)\n\nTake the named loops (vnni, avx2, plain); gives whether they can run here.");

static PyObject *use(PyObject *self, PyObject *args) {
    (void)self;
    const char *name;
    if (!PyArg_ParseTuple(args, "s:use", &name)) return NULL;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(name, all[i]->name) == 0 && runs_here(all[i])) {
            loops = all[i];
            Py_RETURN_TRUE;
        }
    Py_RETURN_FALSE;
}

static int begin(PyObject *module) {
    (void)module;
#ifdef X86
    __builtin_cpu_init();
#endif
    for (size_t i = sizeof all / sizeof *all; i-- > 0;)
        if (runs_here(all[i])) loops = all[i];
    return 0;
}

static PyMethodDef methods[] = {
    {"product", product, METH_VARARGS, product_doc},
    {"convolve", convolve, METH_VARARGS, convolve_doc},
    {"pool", pool, METH_VARARGS, pool_doc},
    {"use", use, METH_VARARGS, use_doc},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot slots[] = {{Py_mod_exec, begin}, {0, NULL}};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "_meaning", "The compiled loops of claimlab.text.meaning.", 0, methods, slots, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__meaning(void) { return PyModuleDef_Init(&module); }
