/* The functions of _meaning.h for Python. They release the GIL and work on ranges of their own. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "_meaning.h"

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
        Py_BEGIN_ALLOW_THREADS;
        product_of(loops, bytes.buf, rows, columns, steps, weights.buf, start.buf, sums, out.buf);
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
        Py_BEGIN_ALLOW_THREADS;
        pool_of(loops, places.buf, texts.buf, count, table.buf, width, convolved.buf, small, out.buf);
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

PyDoc_STRVAR(use_doc, "use(name)\n\nTake the named loops (vnni, avx2, dotprod, plain); gives whether they can run here.");

static PyObject *use(PyObject *self, PyObject *args) {
    (void)self;
    const char *name;
    if (!PyArg_ParseTuple(args, "s:use", &name)) return NULL;
    const Loops *wanted = loops_named(name);
    if (wanted == NULL) Py_RETURN_FALSE;
    loops = wanted;
    Py_RETURN_TRUE;
}

static int begin(PyObject *module) {
    (void)module;
#ifdef X86
    __builtin_cpu_init();
#endif
    loops = loops_named(NULL);
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
