// A URL's text becomes its parts, and parts become text. After https://url.spec.whatwg.org, but part by
// part instead of character by character: everything that separates parts is ASCII.
const DEFAULT_PORTS = {
  __proto__: null,
  'http:': 80,
  'https:': 443,
  'ws:': 80,
  'wss:': 443,
  'ftp:': 21,
  'file:': null,
};
const isSpecialScheme = (scheme) => scheme in DEFAULT_PORTS;

// Which ASCII characters are percent-encoded, as predicates of a code unit.
const isOneOf = (characters) => (code) => code < 127 && indexOfText(characters, fromCharCode(code)) >= 0;
const isControl = (code) => code < 0x20 || code > 0x7e;
const also = (first, second) => (code) => first(code) || second(code);
const inFragment = also(isControl, isOneOf(' "<>`'));
const inQuery = also(isControl, isOneOf(' "#<>'));
const inSpecialQuery = also(inQuery, isOneOf("'"));
const inPath = also(inQuery, isOneOf('?`{}^'));
const inUserinfo = also(inPath, isOneOf('/:;=@[\\]^|'));

const HEX = '0123456789ABCDEF';

function percentEncode(value, isEncoded) {
  let plain = true;
  for (let i = 0; plain && i < value.length; i++) plain = !isEncoded(charCodeAt(value, i));
  if (plain) return value;
  const bytes = utf8(value);
  let encoded = '';
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i];
    encoded += isEncoded(byte) ? '%' + HEX[byte >> 4] + HEX[byte & 15] : fromCharCode(byte);
  }
  return encoded;
}

function percentDecode(value) {
  const bytes = utf8(value);
  if (indexOfText(value, '%') < 0) return bytes;
  const decoded = new Bytes(bytes.length);
  let length = 0;
  for (let i = 0; i < bytes.length; i++) {
    const isEncoded = bytes[i] === 37 && isHexDigit(bytes[i + 1]) && isHexDigit(bytes[i + 2]);
    decoded[length++] = isEncoded
      ? NumberFunction('0x' + fromCharCode(bytes[i + 1], bytes[i + 2]))
      : bytes[i];
    if (isEncoded) i += 2;
  }
  return subarray(decoded, 0, length);
}

const isHexDigit = (byte) =>
  (byte >= 48 && byte <= 57) || (byte >= 65 && byte <= 70) || (byte >= 97 && byte <= 102);

const isDriveLetter = (value) => test(/^[a-zA-Z][:|]$/, value);
const startsWithDriveLetter = (value) => test(/^[a-zA-Z][:|](?:[/\\?#]|$)/, value);
const isSingleDot = (value) => test(/^(?:\.|%2e)$/i, value);
const isDoubleDot = (value) => test(/^(?:\.|%2e){2}$/i, value);

// The index of the first of some characters, or the length.
function firstOf(value, characters, start) {
  let at = start;
  while (at < value.length && indexOfText(characters, value[at]) < 0) at++;
  return at;
}

function copyPath(path) {
  const copy = newList();
  for (let i = 0; i < path.length; i++) copy[i] = path[i];
  return copy;
}

function newRecord(scheme) {
  return {
    __proto__: null,
    scheme,
    username: '',
    password: '',
    host: null,
    port: null,
    path: newList(), // or a string, if it is opaque
    query: null,
    fragment: null,
  };
}

// A record of the parts, or undefined if the text is no URL.
function parseURL(input, base) {
  let start = 0;
  let end = input.length;
  while (start < end && charCodeAt(input, start) <= 0x20) start++;
  while (end > start && charCodeAt(input, end - 1) <= 0x20) end--;
  let rest = without(sliceText(input, start, end), '\t\n\r');
  const hash = indexOfText(rest, '#');
  let fragment = null;
  if (hash >= 0) {
    fragment = percentEncode(sliceText(rest, hash + 1), inFragment);
    rest = sliceText(rest, 0, hash);
  }
  const record = parseBeforeFragment(rest, base, fragment !== null);
  if (record !== undefined) record.fragment = fragment;
  return record;
}

function parseBeforeFragment(rest, base, hasFragment) {
  const found = exec(/^[a-zA-Z][a-zA-Z0-9+\-.]*:/, rest);
  if (found === null) return parseWithoutScheme(rest, base, hasFragment);
  const scheme = lower(found[0]);
  const after = sliceText(rest, found[0].length);
  if (scheme === 'file:')
    return parseFile(after, base !== undefined && base.scheme === scheme ? base : undefined);
  const record = newRecord(scheme);
  if (isSpecialScheme(scheme)) {
    if (base !== undefined && base.scheme === scheme && sliceText(after, 0, 2) !== '//')
      return parseRelative(after, base);
    return parseAuthority(record, sliceText(after, leadingSlashes(after)));
  }
  if (sliceText(after, 0, 2) === '//') return parseAuthority(record, sliceText(after, 2));
  if (after[0] === '/') return parsePath(record, sliceText(after, 1));
  return parseOpaque(record, after, hasFragment);
}

function parseWithoutScheme(rest, base, hasFragment) {
  if (base === undefined) return undefined;
  if (typeof base.path === 'string') {
    if (rest !== '' || !hasFragment) return undefined;
    return { __proto__: null, ...base };
  }
  return base.scheme === 'file:' ? parseFile(rest, base) : parseRelative(rest, base);
}

function leadingSlashes(value) {
  let count = 0;
  while (value[count] === '/' || value[count] === '\\') count++;
  return count;
}

function parseOpaque(record, rest, hasFragment) {
  const query = indexOfText(rest, '?');
  let path = query < 0 ? rest : sliceText(rest, 0, query);
  path = percentEncode(path, isControl);
  if ((query >= 0 || hasFragment) && path[path.length - 1] === ' ') path = sliceText(path, 0, -1) + '%20';
  record.path = path;
  if (query >= 0) record.query = percentEncode(sliceText(rest, query + 1), inQuery);
  return record;
}

function parseRelative(rest, base) {
  const record = newRecord(base.scheme);
  const isSpecial = isSpecialScheme(base.scheme);
  const isSlash = (character) => character === '/' || (isSpecial && character === '\\');
  if (isSlash(rest[0])) {
    if (isSpecial && isSlash(rest[1])) return parseAuthority(record, sliceText(rest, leadingSlashes(rest)));
    if (rest[1] === '/') return parseAuthority(record, sliceText(rest, 2));
    copyAuthority(record, base);
    return parsePath(record, sliceText(rest, 1));
  }
  copyAuthority(record, base);
  record.path = copyPath(base.path);
  return parseAfterBasePath(record, rest, base);
}

function copyAuthority(record, base) {
  record.username = base.username;
  record.password = base.password;
  record.host = base.host;
  record.port = base.port;
}

function parseAfterBasePath(record, rest, base) {
  if (rest === '') {
    record.query = base.query;
    return record;
  }
  if (rest[0] === '?') {
    record.query = encodeQuery(record, sliceText(rest, 1));
    return record;
  }
  shorten(record);
  return parsePath(record, rest);
}

function parseFile(rest, base) {
  const record = newRecord('file:');
  record.host = '';
  const isSlash = (character) => character === '/' || character === '\\';
  if (isSlash(rest[0])) {
    if (isSlash(rest[1])) return parseFileHost(record, sliceText(rest, 2));
    if (base !== undefined) {
      record.host = base.host;
      if (
        !startsWithDriveLetter(sliceText(rest, 1)) &&
        base.path.length > 0 &&
        test(/^[a-zA-Z]:$/, base.path[0])
      ) {
        record.path[0] = base.path[0];
      }
    }
    return parsePath(record, sliceText(rest, 1));
  }
  if (base === undefined) return parsePath(record, rest);
  record.host = base.host;
  if (startsWithDriveLetter(rest)) return parsePath(record, rest);
  record.path = copyPath(base.path);
  return parseAfterBasePath(record, rest, base);
}

function parseFileHost(record, rest) {
  const end = firstOf(rest, '/\\?', 0);
  const name = sliceText(rest, 0, end);
  if (isDriveLetter(name)) return parsePath(record, rest);
  if (name !== '') {
    const host = parseHost(name, true);
    if (host === undefined) return undefined;
    record.host = host === 'localhost' ? '' : host;
  }
  return parsePathStart(record, sliceText(rest, end));
}

function parseAuthority(record, rest) {
  const isSpecial = isSpecialScheme(record.scheme);
  const end = firstOf(rest, isSpecial ? '/\\?' : '/?', 0);
  let authority = sliceText(rest, 0, end);
  const at = lastIndexOfText(authority, '@');
  if (at >= 0) {
    const credentials = sliceText(authority, 0, at);
    const colon = indexOfText(credentials, ':');
    record.username = percentEncode(colon < 0 ? credentials : sliceText(credentials, 0, colon), inUserinfo);
    if (colon >= 0) record.password = percentEncode(sliceText(credentials, colon + 1), inUserinfo);
    authority = sliceText(authority, at + 1);
    if (authority === '') return undefined;
  }
  const colon = portColon(authority);
  const name = colon < 0 ? authority : sliceText(authority, 0, colon);
  if (name === '' && (isSpecial || colon >= 0)) return undefined;
  record.host = name === '' ? '' : parseHost(name, isSpecial);
  if (record.host === undefined) return undefined;
  if (colon >= 0 && !setPort(record, sliceText(authority, colon + 1))) return undefined;
  return parsePathStart(record, sliceText(rest, end));
}

// Where the port begins: at the first colon outside of brackets.
function portColon(authority) {
  let inBrackets = false;
  for (let i = 0; i < authority.length; i++) {
    if (authority[i] === '[') inBrackets = true;
    else if (authority[i] === ']') inBrackets = false;
    else if (authority[i] === ':' && !inBrackets) return i;
  }
  return -1;
}

function setPort(record, digits) {
  if (!test(/^[0-9]*$/, digits)) return false;
  if (digits === '') return true;
  const port = NumberFunction(digits);
  if (port > 65535) return false;
  record.port = port === DEFAULT_PORTS[record.scheme] ? null : port;
  return true;
}

function parsePathStart(record, rest) {
  if (isSpecialScheme(record.scheme)) {
    return parsePath(record, rest[0] === '/' || rest[0] === '\\' ? sliceText(rest, 1) : rest);
  }
  if (rest[0] === '/') return parsePath(record, sliceText(rest, 1));
  if (rest[0] === '?') record.query = encodeQuery(record, sliceText(rest, 1));
  return record;
}

// What follows the slash before it.
function parsePath(record, rest, hasQuery = true) {
  const query = hasQuery ? indexOfText(rest, '?') : -1;
  const path = query < 0 ? rest : sliceText(rest, 0, query);
  const separators = isSpecialScheme(record.scheme) ? '/\\' : '/';
  for (let start = 0; start <= path.length; ) {
    const end = firstOf(path, separators, start);
    addSegment(record, sliceText(path, start, end), end === path.length);
    start = end + 1;
  }
  if (query >= 0) record.query = encodeQuery(record, sliceText(rest, query + 1));
  return record;
}

function addSegment(record, segment, isLast) {
  const { path } = record;
  if (isDoubleDot(segment)) {
    shorten(record);
    if (isLast) path[path.length] = '';
  } else if (isSingleDot(segment)) {
    if (isLast) path[path.length] = '';
  } else {
    const isDrive = record.scheme === 'file:' && path.length === 0 && isDriveLetter(segment);
    path[path.length] = isDrive ? segment[0] + ':' : percentEncode(segment, inPath);
  }
}

function shorten(record) {
  const { path } = record;
  if (record.scheme === 'file:' && path.length === 1 && test(/^[a-zA-Z]:$/, path[0])) return;
  if (path.length > 0) path.length--;
}

const encodeQuery = (record, query) =>
  percentEncode(query, isSpecialScheme(record.scheme) ? inSpecialQuery : inQuery);

function spellPath(record) {
  if (typeof record.path === 'string') return record.path;
  let spelled = '';
  for (let i = 0; i < record.path.length; i++) spelled += '/' + record.path[i];
  return spelled;
}

const spellHost = (record) =>
  record.host === null ? '' : record.host + (record.port === null ? '' : ':' + record.port);

function spellURL(record) {
  let spelled = record.scheme;
  if (record.host !== null) {
    spelled += '//' + record.username + (record.password === '' ? '' : ':' + record.password);
    spelled += (record.username !== '' || record.password !== '' ? '@' : '') + spellHost(record);
  } else if (typeof record.path !== 'string' && record.path.length > 1 && record.path[0] === '') {
    spelled += '/.';
  }
  spelled += spellPath(record);
  if (record.query !== null) spelled += '?' + record.query;
  return record.fragment === null ? spelled : spelled + '#' + record.fragment;
}
