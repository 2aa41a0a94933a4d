// The class URL: a record of parts behind accessors.
class URL {
  #record;
  #params;

  constructor(url, base = undefined) {
    const given = text(url);
    const known = base === undefined ? undefined : parseURL(text(base), undefined);
    const record = base !== undefined && known === undefined ? undefined : parseURL(given, known);
    if (record === undefined) {
      const error = namedError('TypeError', 'Invalid URL');
      hide(error, 'code', 'ERR_INVALID_URL');
      hide(error, 'input', given);
      throw error;
    }
    this.#record = record;
  }
  static canParse(url, base = undefined) {
    const known = base === undefined ? undefined : parseURL(text(base), undefined);
    return (base === undefined || known !== undefined) && parseURL(text(url), known) !== undefined;
  }
  static parse(url, base = undefined) {
    return URL.canParse(url, base) ? new URL(url, base) : null;
  }
  get href() {
    return spellURL(this.#record);
  }
  set href(value) {
    const record = parseURL(text(value), undefined);
    if (record === undefined) throw namedError('TypeError', 'Invalid URL');
    this.#record = record;
    this.#refresh();
  }
  get origin() {
    const { scheme, path } = this.#record;
    if (scheme === 'blob:' && typeof path === 'string') {
      const inner = parseURL(path, undefined);
      return inner !== undefined && test(/^https?:$/, inner.scheme) ? originOf(inner) : 'null';
    }
    return isSpecialScheme(scheme) && scheme !== 'file:' ? originOf(this.#record) : 'null';
  }
  get protocol() {
    return this.#record.scheme;
  }
  set protocol(value) {
    const record = this.#record;
    const found = exec(/^[a-zA-Z][a-zA-Z0-9+\-.]*(?=:)/, text(value) + ':');
    if (found === null) return;
    const scheme = lower(found[0]) + ':';
    if (isSpecialScheme(scheme) !== isSpecialScheme(record.scheme)) return;
    const hasMore = record.username !== '' || record.password !== '' || record.port !== null;
    if (scheme === 'file:' && hasMore) return;
    if (record.scheme === 'file:' && record.host === '') return;
    record.scheme = scheme;
    if (record.port === DEFAULT_PORTS[scheme]) record.port = null;
  }
  get username() {
    return this.#record.username;
  }
  set username(value) {
    if (hasAuthority(this.#record)) this.#record.username = percentEncode(text(value), inUserinfo);
  }
  get password() {
    return this.#record.password;
  }
  set password(value) {
    if (hasAuthority(this.#record)) this.#record.password = percentEncode(text(value), inUserinfo);
  }
  get host() {
    return spellHost(this.#record);
  }
  set host(value) {
    this.#setHost(value, true);
  }
  get hostname() {
    return this.#record.host ?? '';
  }
  set hostname(value) {
    this.#setHost(value, false);
  }
  get port() {
    return this.#record.port === null ? '' : StringFunction(this.#record.port);
  }
  set port(value) {
    if (!hasAuthority(this.#record)) return;
    const given = without(text(value), '\t\n\r');
    if (given === '') this.#record.port = null;
    else setLeadingPort(this.#record, given);
  }
  get pathname() {
    return spellPath(this.#record);
  }
  set pathname(value) {
    const record = this.#record;
    if (typeof record.path === 'string') return;
    const given = without(text(value), '\t\n\r');
    record.path = newList();
    const isSpecial = isSpecialScheme(record.scheme);
    if (given === '' && !isSpecial) {
      if (record.host === null) record.path[0] = '';
      return;
    }
    const startsWithSlash = given[0] === '/' || (isSpecial && given[0] === '\\');
    parsePath(record, startsWithSlash ? sliceText(given, 1) : given, false);
  }
  get search() {
    return this.#record.query ? '?' + this.#record.query : '';
  }
  set search(value) {
    const given = without(text(value), '\t\n\r');
    const query = given[0] === '?' ? sliceText(given, 1) : given;
    this.#record.query = given === '' ? null : encodeQuery(this.#record, query);
    this.#refresh();
  }
  get searchParams() {
    if (this.#params === undefined) {
      this.#params = new URLSearchParams();
      this.#refresh();
    }
    return this.#params;
  }
  get hash() {
    return this.#record.fragment ? '#' + this.#record.fragment : '';
  }
  set hash(value) {
    const given = without(text(value), '\t\n\r');
    const fragment = given[0] === '#' ? sliceText(given, 1) : given;
    this.#record.fragment = given === '' ? null : percentEncode(fragment, inFragment);
  }
  toString() {
    return this.href;
  }
  toJSON() {
    return this.href;
  }
  #refresh() {
    if (this.#params === undefined) return;
    linkParams(this.#params, this.#record.query ?? '', (query) => {
      this.#record.query = query === '' ? null : query;
    });
  }
  #setHost(value, withPort) {
    const record = this.#record;
    if (typeof record.path === 'string') return;
    const isSpecial = isSpecialScheme(record.scheme);
    const given = without(text(value), '\t\n\r');
    const authority = sliceText(given, 0, firstOf(given, isSpecial ? '/\\?#' : '/?#', 0));
    const colon = portColon(authority);
    if (colon >= 0 && !withPort) return;
    const name = colon < 0 ? authority : sliceText(authority, 0, colon);
    const isFile = record.scheme === 'file:';
    if (isFile && colon >= 0) return;
    if (name === '') {
      const hasMore = record.username !== '' || record.password !== '' || record.port !== null;
      if ((isSpecial && !isFile) || colon >= 0 || hasMore) return;
    }
    const host = name === '' ? '' : parseHost(name, isSpecial);
    if (host === undefined) return;
    record.host = isFile && host === 'localhost' ? '' : host;
    if (colon >= 0) setLeadingPort(record, sliceText(authority, colon + 1));
  }
}

const originOf = (record) => record.scheme + '//' + spellHost(record);
const hasAuthority = (record) => record.host !== null && record.host !== '' && record.scheme !== 'file:';

// A setter takes the digits at the beginning and leaves the rest.
function setLeadingPort(record, given) {
  const found = exec(/^[0-9]+/, given);
  if (found !== null) setPort(record, found[0]);
}
