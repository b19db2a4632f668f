/* The inner loops of claimlab.text.meaning: products of small whole numbers, and what is done to each token around them.
 *
 *   product   rows of unsigned bytes times a matrix of signed bytes, exactly
 *   convolve  one of the three convolutions of the encoder, over texts laid out with two empty rows between them
 *   pool      the layer norm of every token, summed over each text
 *
 * Whole numbers have one sum in any order, and every sum of fractions here has a fixed order in 16 lanes, without fused
 * multiply-add (-ffp-contract=off). So every processor gives the same bytes, and so does the NumPy code in meaning.py: the tests
 * hold the two to identical output. Change them together. Nothing here is Python's but Py_ssize_t, so that the tests can run the
 * loops of another processor in an emulator.
 */
#ifndef CLAIMLAB_MEANING_H
#define CLAIMLAB_MEANING_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define X86 1
#elif defined(__aarch64__) && defined(__GNUC__)
#include <arm_neon.h>
#ifdef __linux__
#include <sys/auxv.h>
#endif
#define ARM 1
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

#define UNROLLED _Pragma("GCC unroll 8")

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

#ifdef ARM
#ifdef __clang__
#define DOTPROD __attribute__((target("dotprod")))
#else
#define DOTPROD __attribute__((target("arch=armv8.2-a+dotprod")))
#endif
#define DOT_TILE 4 /* rows; with 16 columns their sums, weights and bytes take 24 of the 32 registers */

/* sum += four numbers of each of four columns times the `k`-th four of 16 bytes. */
#define DOT(sum, weight, row, k) sum = vdotq_laneq_s32(sum, weight, row, k)
#define DOT_ALL(k)                                                                            \
    UNROLLED                                                                                  \
    for (int c = 0; c < 4; c++) weight[c] = vld1q_s8(panel + (from + 4 * k) * PANEL + 16 * c); \
    UNROLLED                                                                                  \
    for (int r = 0; r < rows; r++)                                                            \
        UNROLLED                                                                              \
        for (int c = 0; c < 4; c++) DOT(sum[r][c], weight[c], row[r], k);

/* 16 columns of some rows. The instruction multiplies signed bytes: each unsigned one goes in as itself less 128, and `back` has
 * 128 times the sum of each column. `rows` is a constant where this is used. */
DOTPROD static inline __attribute__((always_inline)) void tile_dotprod(const uint8_t *bytes, Py_ssize_t stride, const int rows,
                                                                       const int8_t *panel, const int32x4_t *back, int32_t *sums) {
    int32x4_t sum[DOT_TILE][4];
    int8x16_t row[DOT_TILE], weight[4];
    UNROLLED
    for (int r = 0; r < rows; r++)
        UNROLLED
        for (int c = 0; c < 4; c++) sum[r][c] = vaddq_s32(vld1q_s32(sums + r * PANEL + 4 * c), back[c]);
    for (int from = 0; from < WIDE; from += 16) {
        UNROLLED
        for (int r = 0; r < rows; r++)
            row[r] = vreinterpretq_s8_u8(veorq_u8(vld1q_u8(bytes + r * stride + from), vdupq_n_u8(ZERO)));
        DOT_ALL(0)
        DOT_ALL(1)
        DOT_ALL(2)
        DOT_ALL(3)
    }
    UNROLLED
    for (int r = 0; r < rows; r++)
        UNROLLED
        for (int c = 0; c < 4; c++) vst1q_s32(sums + r * PANEL + 4 * c, sum[r][c]);
}

DOTPROD static void step_dotprod(const uint8_t *bytes, Py_ssize_t stride, Py_ssize_t count, const int8_t *panel, int32_t *sums) {
    for (int n = 0; n < PANEL; n += 16) {
        const int8_t *columns = panel + 4 * n;
        int32x4_t back[4];
        for (int c = 0; c < 4; c++) {
            back[c] = vdupq_n_s32(0);
            for (int k = 0; k < WIDE; k += 4) back[c] = vdotq_s32(back[c], vld1q_s8(columns + k * PANEL + 16 * c), vdupq_n_s8(1));
            back[c] = vmulq_n_s32(back[c], ZERO);
        }
        Py_ssize_t row = 0;
        for (; row + DOT_TILE <= count; row += DOT_TILE)
            tile_dotprod(bytes + row * stride, stride, DOT_TILE, columns, back, sums + row * PANEL + n);
        for (; row < count; row++) tile_dotprod(bytes + row * stride, stride, 1, columns, back, sums + row * PANEL + n);
    }
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
#ifdef ARM
LOOPS(dotprod, DOTPROD)
#endif

static int runs_here(const Loops *loops) {
#ifdef X86
    if (loops == &avx2) return __builtin_cpu_supports("avx2");
    if (loops == &vnni)
        return __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
#endif
#ifdef ARM
    if (loops == &dotprod)
#ifdef __linux__
        return (getauxval(AT_HWCAP) >> 20) & 1; /* asimddp */
#elif defined(__ARM_FEATURE_DOTPROD)
        return 1; /* every processor of the platform has it, such as Apple's */
#else
        return 0;
#endif
#endif
    return loops == &plain;
}

static const Loops *const all[] = {
#ifdef X86
    &vnni, &avx2,
#elif defined(ARM)
    &dotprod,
#endif
    &plain,
}; /* the fastest first */

/* The loops of this name, or the fastest where it is null; null where they cannot run here. */
static const Loops *loops_named(const char *name) {
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if ((name == NULL || strcmp(name, all[i]->name) == 0) && runs_here(all[i])) return all[i];
    return NULL;
}

/* out = start + bytes @ weights; `sums` has room for a panel of every row. */
static void product_of(const Loops *loops, const uint8_t *bytes, Py_ssize_t rows, Py_ssize_t columns, Py_ssize_t steps,
                       const int8_t *weights, const int32_t *start, int32_t *sums, float *out) {
    for (Py_ssize_t p = 0; p < columns / PANEL; p++) {
        panel_sums(loops->step, bytes, steps * WIDE, rows, steps, weights + p * steps * SIZE, start + p * PANEL, sums);
        for (Py_ssize_t row = 0; row < rows; row++)
            for (int n = 0; n < PANEL; n++) out[row * columns + p * PANEL + n] = (float)sums[row * PANEL + n];
    }
}

/* The normalised features of each text, summed. */
static void pool_of(const Loops *loops, const int32_t *place, const int32_t *text, Py_ssize_t texts, const float *table,
                    Py_ssize_t width, const float *convolved, float small, float *out) {
    memset(out, 0, (size_t)texts * FEATURES * sizeof(float));
    for (Py_ssize_t i = 0; i < texts; i++)
        for (Py_ssize_t row = text[2 * i]; row < text[2 * i + 1]; row++)
            loops->pool(table + place[row] * width, convolved + row * 3 * WIDE, small, out + i * FEATURES);
}
#endif
