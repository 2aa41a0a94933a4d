"""The C declarations of QuickJS-NG, and the generator of `quickjs_abi.py` from them.

After a change: `python -m sandbox_kernel.worker.quickjs_cdef`.
"""

from __future__ import annotations

from pathlib import Path

from ..isolation.abi import generate

DECLARATIONS = """
typedef struct JSRuntime JSRuntime;
typedef struct JSContext JSContext;
typedef struct JSModuleDef JSModuleDef;
typedef uint32_t JSAtom;
typedef struct { uint64_t bits; int64_t tag; } JSValue;  /* the union travels as an integer */
typedef struct { int version, eval_flags; const char *filename; int line_num; } JSEvalOptions;
typedef struct {
    int64_t malloc_size, malloc_limit, memory_used_size, malloc_count, memory_used_count;
    int64_t others[22];
} JSMemoryUsage;

typedef JSValue JSCFunction(JSContext *, JSValue, int, JSValue *);
typedef char *JSModuleNormalizeFunc(JSContext *, const char *, const char *, void *);
typedef JSModuleDef *JSModuleLoaderFunc(JSContext *, const char *, void *);
typedef int JSModuleInitFunc(JSContext *, JSModuleDef *);
typedef int JSInterruptHandler(JSRuntime *, void *);
typedef void JSHostPromiseRejectionTracker(JSContext *, JSValue, JSValue, bool, void *);

const char *JS_GetVersion(void);
JSRuntime *JS_NewRuntime(void);
void JS_SetMemoryLimit(JSRuntime *, size_t);
void JS_SetGCThreshold(JSRuntime *, size_t);
void JS_SetMaxStackSize(JSRuntime *, size_t);
void JS_ComputeMemoryUsage(JSRuntime *, JSMemoryUsage *);
void JS_SetInterruptHandler(JSRuntime *, JSInterruptHandler *, void *);
void JS_SetHostPromiseRejectionTracker(JSRuntime *, JSHostPromiseRejectionTracker *, void *);
void JS_SetModuleLoaderFunc(JSRuntime *, JSModuleNormalizeFunc *, JSModuleLoaderFunc *, void *);
int JS_ExecutePendingJob(JSRuntime *, JSContext **);

JSContext *JS_NewContext(JSRuntime *);
JSContext *JS_NewContextRaw(JSRuntime *);
int JS_AddIntrinsicBaseObjects(JSContext *);
int JS_AddIntrinsicDate(JSContext *);
int JS_AddIntrinsicRegExp(JSContext *);
int JS_AddIntrinsicJSON(JSContext *);
int JS_AddIntrinsicProxy(JSContext *);
int JS_AddIntrinsicMapSet(JSContext *);
int JS_AddIntrinsicTypedArrays(JSContext *);
int JS_AddIntrinsicPromise(JSContext *);
int JS_AddIntrinsicWeakRef(JSContext *);

JSValue JS_Eval2(JSContext *, const char *, size_t, JSEvalOptions *);
JSValue JS_EvalFunction(JSContext *, JSValue);
uint8_t *JS_WriteObject(JSContext *, size_t *, JSValue, int);
JSValue JS_ReadObject(JSContext *, const uint8_t *, size_t, int);
int JS_ResolveModule(JSContext *, JSValue);
JSValue JS_Call(JSContext *, JSValue, JSValue, int, JSValue *);
JSValue JS_GetException(JSContext *);
JSValue JS_Throw(JSContext *, JSValue);
JSValue JS_GetGlobalObject(JSContext *);
JSValue JS_GetPropertyStr(JSContext *, JSValue, const char *);
JSValue JS_GetPropertyUint32(JSContext *, JSValue, uint32_t);
int JS_SetPropertyStr(JSContext *, JSValue, const char *, JSValue);
int JS_DefinePropertyValueStr(JSContext *, JSValue, const char *, JSValue, int);
JSValue JS_NewArray(JSContext *);
JSValue JS_NewError(JSContext *);
JSValue JS_NewObjectClass(JSContext *, uint32_t);
JSValue JS_NewStringLen(JSContext *, const char *, size_t);
const char *JS_ToCStringLen2(JSContext *, size_t *, JSValue, bool);
void JS_FreeCString(JSContext *, const char *);
JSValue JS_DupValue(JSContext *, JSValue);
void JS_FreeValue(JSContext *, JSValue);
JSValue JS_NewCFunction2(JSContext *, JSCFunction *, const char *, int, int, int);
JSValue JS_NewArrayBufferCopy(JSContext *, const uint8_t *, size_t);
uint8_t *JS_GetArrayBuffer(JSContext *, size_t *, JSValue);
bool JS_IsArrayBuffer(JSValue);
JSValue JS_GetTypedArrayBuffer(JSContext *, JSValue, size_t *, size_t *, size_t *);
int JS_PromiseState(JSContext *, JSValue);
JSValue JS_PromiseResult(JSContext *, JSValue);
bool JS_IsPromise(JSValue);
uint32_t JS_GetClassID(JSValue);
JSAtom JS_GetClassName(JSRuntime *, uint32_t);
JSValue JS_AtomToString(JSContext *, JSAtom);

JSModuleDef *JS_NewCModule(JSContext *, const char *, JSModuleInitFunc *);
int JS_AddModuleExport(JSContext *, JSModuleDef *, const char *);
int JS_SetModuleExport(JSContext *, JSModuleDef *, const char *, JSValue);
JSValue JS_GetImportMeta(JSContext *, JSModuleDef *);
JSValue JS_GetModuleNamespace(JSContext *, JSModuleDef *);
void *js_malloc(JSContext *, size_t);
uintptr_t js_std_cmd(int, ...);
"""

if __name__ == "__main__":
    text = generate("quickjs_abi", DECLARATIONS)
    Path(__file__).with_name("quickjs_abi.py").write_text(text)
