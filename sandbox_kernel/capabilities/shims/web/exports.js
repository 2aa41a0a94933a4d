const crypto = { getRandomValues, randomUUID };
const all = { URL, URLSearchParams, TextEncoder, TextDecoder, atob, btoa, crypto };
return { __proto__: null, '': { ...all, default: all } };
