// The web platform's fetch over one function of the host, which takes plain data and gives plain data.
const { uncurry, apply, put, newList, newMap, namedError, viewOfBytes, utf8Decode } = kit;
const requestOfHost = host.fetch;
const StringFunction = String;
const PromiseConstructor = Promise;
const Bytes = Uint8Array;
const { parse } = JSON;
const { ownKeys } = Reflect;
const { iterator } = Symbol;
const lower = uncurry(String.prototype.toLowerCase);
const upper = uncurry(String.prototype.toUpperCase);
const trim = uncurry(String.prototype.trim);
const sliceBytes = uncurry(Bytes.prototype.slice);

class Headers {
  #values = newMap(); // by name in small letters: a list of values
  #names = newList();

  constructor(init = undefined) {
    if (init === undefined || init === null) return;
    if (typeof init[iterator] === 'function') {
      for (const pair of init) this.append(pair[0], pair[1]);
    } else {
      const keys = ownKeys(init);
      for (let i = 0; i < keys.length; i++) this.append(keys[i], init[keys[i]]);
    }
  }
  append(name, value) {
    const key = lower(StringFunction(name));
    const values = this.#values.get(key) ?? newList();
    if (values.length === 0) this.#names[this.#names.length] = key;
    values[values.length] = trim(StringFunction(value));
    this.#values.set(key, values);
  }
  set(name, value) {
    this.delete(name);
    this.append(name, value);
  }
  get(name) {
    const values = this.#values.get(lower(StringFunction(name)));
    if (values === undefined) return null;
    let joined = values[0];
    for (let i = 1; i < values.length; i++) joined += ', ' + values[i];
    return joined;
  }
  has(name) {
    return this.#values.has(lower(StringFunction(name)));
  }
  delete(name) {
    const key = lower(StringFunction(name));
    if (!this.#values.delete(key)) return;
    let kept = 0;
    for (let i = 0; i < this.#names.length; i++) {
      if (this.#names[i] !== key) this.#names[kept++] = this.#names[i];
    }
    this.#names.length = kept;
  }
  getSetCookie() {
    const found = [];
    const values = this.#values.get('set-cookie') ?? newList();
    for (let i = 0; i < values.length; i++) put(found, i, values[i]);
    return found;
  }
  forEach(callback, self = undefined) {
    for (let i = 0; i < this.#names.length; i++) {
      apply(callback, self, [this.get(this.#names[i]), this.#names[i], this]);
    }
  }
  *entries() {
    for (let i = 0; i < this.#names.length; i++) yield [this.#names[i], this.get(this.#names[i])];
  }
  *keys() {
    for (let i = 0; i < this.#names.length; i++) yield this.#names[i];
  }
  *values() {
    for (let i = 0; i < this.#names.length; i++) yield this.get(this.#names[i]);
  }
  [iterator]() {
    return this.entries();
  }
}

// What a body is sent as, and the content type that goes with it.
function bodyOf(body) {
  if (body === undefined || body === null) return [null, null];
  if (typeof body === 'string') return [body, 'text/plain;charset=UTF-8'];
  const view = viewOfBytes(body);
  if (view !== undefined) return [view, null];
  if (typeof body.append === 'function' && typeof body.getAll === 'function') {
    return [StringFunction(body), 'application/x-www-form-urlencoded;charset=UTF-8'];
  }
  throw namedError(
    'TypeError',
    'the body must be a string, bytes or URLSearchParams; write JSON.stringify(value) for JSON',
  );
}

class Body {
  #bytes;
  #used = false;

  constructor(bytes) {
    this.#bytes = bytes;
  }
  get bodyUsed() {
    return this.#used;
  }
  #take() {
    if (this.#used) throw namedError('TypeError', 'the body was already read');
    this.#used = true;
    return this.#bytes;
  }
  #later(make) {
    return new PromiseConstructor((resolve) => resolve(make(this.#take())));
  }
  text() {
    return this.#later(textOf);
  }
  json() {
    return this.#later((bytes) => parse(textOf(bytes)));
  }
  bytes() {
    return this.#later((bytes) => sliceBytes(bytes));
  }
  arrayBuffer() {
    return this.#later((bytes) => sliceBytes(bytes).buffer);
  }
  static bytesOf(body) {
    if (body.#used) throw namedError('TypeError', 'the body was already read');
    return body.#bytes;
  }
}
const bytesOf = Body.bytesOf;
delete Body.bytesOf;

function textOf(bytes) {
  const text = utf8Decode(bytes, 0);
  return text[0] === '\ufeff' ? apply(String.prototype.slice, text, [1]) : text;
}

class Response extends Body {
  #status;
  #statusText;
  #headers;
  #url = '';
  #redirected = false;

  constructor(body = undefined, init = undefined) {
    const { 0: data, 1: type } = bodyOf(body);
    super(typeof data === 'string' ? new Bytes(kit.utf8Encode(data)) : (data ?? new Bytes(0)));
    this.#status = init?.status ?? 200;
    this.#statusText = StringFunction(init?.statusText ?? '');
    this.#headers = new Headers(init?.headers);
    if (type !== null && !this.#headers.has('content-type')) this.#headers.set('content-type', type);
  }
  static received(status, statusText, url, redirected, headers, body) {
    const made = new Response(body, { status, statusText, headers });
    made.#url = url;
    made.#redirected = redirected;
    return made;
  }
  static json(value, init = undefined) {
    const made = new Response(JSON.stringify(value), init);
    made.#headers.set('content-type', 'application/json');
    return made;
  }
  get status() {
    return this.#status;
  }
  get statusText() {
    return this.#statusText;
  }
  get ok() {
    return this.#status >= 200 && this.#status < 300;
  }
  get headers() {
    return this.#headers;
  }
  get url() {
    return this.#url;
  }
  get redirected() {
    return this.#redirected;
  }
  get type() {
    return 'basic';
  }
  clone() {
    const headers = new Headers(this.#headers);
    const init = { status: this.#status, statusText: this.#statusText, headers };
    const made = new Response(bytesOf(this), init);
    made.#url = this.#url;
    made.#redirected = this.#redirected;
    return made;
  }
}
const received = Response.received;
delete Response.received;

class Request {
  constructor(input, init = undefined) {
    const from = input instanceof Request ? input : undefined;
    this.url = from === undefined ? StringFunction(input) : from.url;
    this.method = upper(StringFunction(init?.method ?? from?.method ?? 'GET'));
    this.headers = new Headers(init?.headers ?? from?.headers);
    this.redirect = StringFunction(init?.redirect ?? from?.redirect ?? 'follow');
    this.body = init?.body ?? from?.body ?? null;
  }
}

async function fetch(input, init = undefined) {
  const request = new Request(input, init);
  const { 0: body, 1: type } = bodyOf(request.body);
  const { method, headers } = request;
  if (body !== null && (method === 'GET' || method === 'HEAD')) {
    throw namedError('TypeError', 'a request with the method ' + method + ' cannot have a body');
  }
  if (type !== null && !headers.has('content-type')) headers.set('content-type', type);
  const pairs = [];
  headers.forEach((value, name) => put(pairs, pairs.length, [name, value]));
  const answer = await requestOfHost(request.url, method, pairs, body, request.redirect);
  return apply(received, undefined, answer);
}

const all = { fetch, Headers, Request, Response };
return { __proto__: null, '': { ...all, default: fetch } };
