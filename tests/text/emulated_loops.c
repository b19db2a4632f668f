/* The loops of _meaning.h behind a pipe, so that those of another processor can run in an emulator. Each call is a header
 * (which function, its numbers, the bytes of each buffer) and its buffers; the answer is the bytes of the output.
 */
#include <stddef.h>
#include <stdio.h>

typedef ptrdiff_t Py_ssize_t;
#include "_meaning.h"

#define BUFFERS 7

typedef struct {
    int64_t call, numbers[5], sizes[BUFFERS], out;
    double fraction;
} Header;

static void *room(size_t bytes) {
    void *block = calloc(bytes + 1, 1);
    if (block == NULL) exit(4);
    return block;
}

int main(int count, char **names) {
#ifdef X86
    __builtin_cpu_init();
#endif
    const Loops *loops = loops_named(count > 1 ? names[1] : NULL);
    if (loops == NULL) return 3;
    Header head;
    while (fread(&head, sizeof head, 1, stdin) == 1) {
        void *in[BUFFERS], *out = room((size_t)head.out);
        for (int i = 0; i < BUFFERS; i++) {
            in[i] = room((size_t)head.sizes[i]);
            if (fread(in[i], 1, (size_t)head.sizes[i], stdin) != (size_t)head.sizes[i]) return 5;
        }
        const int64_t *n = head.numbers;
        if (head.call == 'p') {
            int32_t *sums = room((size_t)(n[0] + 1) * PANEL * sizeof(int32_t));
            product_of(loops, in[0], n[0], n[1], head.sizes[0] / n[0] / WIDE, in[1], in[2], sums, out);
            free(sums);
        } else if (head.call == 's') {
            pool_of(loops, in[0], in[1], head.sizes[1] / 8, in[2], n[0], in[3], (float)head.fraction, out);
        } else {
            Work w = {
                .place = in[0], .text = in[1], .table = in[2], .bias = in[3], .weights = in[4], .start = in[5],
                .second_bias = in[6], .rows = head.sizes[0] / 4, .texts = head.sizes[1] / 8, .width = n[0], .own = n[1],
                .products = n[2], .order = n[3], .left = n[4], .scale = (float)head.fraction, .out = out,
            };
            w.h = room((size_t)w.rows * WIDE * sizeof(float));
            w.unit = room((size_t)w.rows * sizeof(float));
            w.bytes = room((size_t)w.rows * WIDE);
            w.sums = room((size_t)w.rows * PANEL * sizeof(int32_t));
            loops->convolve(&w);
            free(w.h), free(w.unit), free(w.bytes), free(w.sums);
        }
        fwrite(out, 1, (size_t)head.out, stdout);
        fflush(stdout);
        for (int i = 0; i < BUFFERS; i++) free(in[i]);
        free(out);
    }
    return 0;
}
