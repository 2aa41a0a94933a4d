"""The C declarations of the C library, and the generator of `libc_abi.py` from them.

After a change: `python -m sandbox_kernel.isolation.libc_cdef`.
"""

from __future__ import annotations

from pathlib import Path

from .abi import generate

DECLARATIONS = """
struct sock_filter { uint16_t code; uint8_t jt; uint8_t jf; uint32_t k; };
struct sock_fprog { unsigned short len; struct sock_filter *filter; };
int prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d);
int capset(void *header, const void *data);
long syscall(long number, ...);
int fork(void);
int unshare(int flags);
int setns(int descriptor, int kind);
int mount(const char *, const char *, const char *, unsigned long flags, const void *data);
int umount2(const char *target, int flags);
int sethostname(const char *name, size_t);
int setfsuid(unsigned int user);
void tzset(void);
int madvise(void *, size_t, int);
size_t strlen(const char *);
void *lfind(const void *, const void *, size_t *, size_t, int (*)(const void *, const void *));
"""

if __name__ == "__main__":
    text = generate("libc_abi", DECLARATIONS)
    Path(__file__).with_name("libc_abi.py").write_text(text)
