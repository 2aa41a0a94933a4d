// Intrinsics for all files of this folder, taken before the guest runs; TextEncoder and TextDecoder; Base64.
const { uncurry, newList, newMap, namedError, hide, put, viewOfBytes, utf8Decode, utf8Encode } = kit;
const StringFunction = String;
const NumberFunction = Number;
const Bytes = Uint8Array;
const { fromCharCode } = String;
const { floor } = Math;
const { iterator } = Symbol;
const { ownKeys, getPrototypeOf } = Reflect;
const { create } = Object;
const charCodeAt = uncurry(String.prototype.charCodeAt);
const codePointAt = uncurry(String.prototype.codePointAt);
const fromCodePoint = String.fromCodePoint;
const sliceText = uncurry(String.prototype.slice);
const indexOfText = uncurry(String.prototype.indexOf);
const lastIndexOfText = uncurry(String.prototype.lastIndexOf);
const lower = uncurry(String.prototype.toLowerCase);
const normalize = uncurry(String.prototype.normalize);
const wellFormed = uncurry(String.prototype.toWellFormed);
const exec = uncurry(RegExp.prototype.exec);
const test = (pattern, value) => exec(pattern, value) !== null;
const sliceBytes = uncurry(Bytes.prototype.slice);
const subarray = uncurry(Bytes.prototype.subarray);
const setBytes = uncurry(Bytes.prototype.set);
const numberToString = uncurry(Number.prototype.toString);

const text = (value) => wellFormed(StringFunction(value));

const utf8 = (value) => new Bytes(utf8Encode(value));

// The same without regular expressions' own replace, which asks prototypes for its parts.
function without(value, unwanted) {
  let kept = '';
  for (let i = 0; i < value.length; i++) {
    if (indexOfText(unwanted, value[i]) < 0) kept += value[i];
  }
  return kept;
}

function split(value, separator) {
  const parts = newList();
  let start = 0;
  for (;;) {
    const end = indexOfText(value, separator, start);
    if (end < 0) break;
    parts[parts.length] = sliceText(value, start, end);
    start = end + separator.length;
  }
  parts[parts.length] = sliceText(value, start);
  return parts;
}

class TextEncoder {
  get encoding() {
    return 'utf-8';
  }
  encode(input = '') {
    return utf8(text(input));
  }
  encodeInto(source, target) {
    const value = text(source);
    let read = 0;
    let written = 0;
    while (read < value.length) {
      const character = fromCodePoint(codePointAt(value, read));
      const bytes = utf8(character);
      if (written + bytes.length > target.length) break;
      setBytes(target, bytes, written);
      written += bytes.length;
      read += character.length;
    }
    return { read, written };
  }
}

const UTF8_LABELS = ['utf-8', 'utf8', 'unicode-1-1-utf-8'];
const UTF16_LABELS = ['utf-16', 'utf-16le', 'ucs-2', 'unicode'];

function encodingOf(label) {
  const name = lower(trimmed(StringFunction(label), ' \t\n\f\r'));
  for (let i = 0; i < UTF8_LABELS.length; i++) if (UTF8_LABELS[i] === name) return 'utf-8';
  for (let i = 0; i < UTF16_LABELS.length; i++) if (UTF16_LABELS[i] === name) return 'utf-16le';
  throw namedError('RangeError', "the encoding '" + name + "' is not supported; utf-8 and utf-16le are");
}

function trimmed(value, unwanted) {
  let start = 0;
  let end = value.length;
  while (start < end && indexOfText(unwanted, value[start]) >= 0) start++;
  while (end > start && indexOfText(unwanted, value[end - 1]) >= 0) end--;
  return sliceText(value, start, end);
}

class TextDecoder {
  #encoding;
  #fatal;
  #ignoreBOM;
  #rest = new Bytes(0); // an unfinished character at the end of what was streamed
  #begun = false;

  constructor(label = 'utf-8', options = undefined) {
    this.#encoding = encodingOf(label);
    this.#fatal = Boolean(options?.fatal);
    this.#ignoreBOM = Boolean(options?.ignoreBOM);
  }
  get encoding() {
    return this.#encoding;
  }
  get fatal() {
    return this.#fatal;
  }
  get ignoreBOM() {
    return this.#ignoreBOM;
  }
  decode(input = undefined, options = undefined) {
    const given = input === undefined ? new Bytes(0) : viewOfBytes(input);
    if (given === undefined) throw namedError('TypeError', 'decode needs an ArrayBuffer or a view of one');
    const stream = Boolean(options?.stream);
    let bytes = joined(this.#rest, given);
    this.#rest = new Bytes(0);
    if (stream) {
      const whole = this.#encoding === 'utf-8' ? wholeCharacters(bytes) : wholeUnits(bytes);
      this.#rest = sliceBytes(bytes, whole);
      bytes = subarray(bytes, 0, whole);
    }
    const decoded = this.#encoding === 'utf-8' ? utf8Decode(bytes, this.#fatal ? 1 : 0) : this.#units(bytes);
    if (decoded === undefined) {
      this.#begun = false;
      throw namedError('TypeError', 'the data is not valid ' + this.#encoding);
    }
    const skips = !this.#begun && !this.#ignoreBOM && decoded[0] === '\ufeff';
    this.#begun = stream && (this.#begun || decoded.length > 0);
    return skips ? sliceText(decoded, 1) : decoded;
  }
  #units(bytes) {
    let decoded = '';
    for (let i = 0; i + 1 < bytes.length; i += 2) decoded += fromCharCode(bytes[i] | (bytes[i + 1] << 8));
    const whole = wellFormed(decoded);
    const isOdd = bytes.length % 2 === 1;
    if (this.#fatal && (isOdd || whole !== decoded)) return undefined;
    return isOdd ? whole + '\ufffd' : whole;
  }
}

function joined(first, second) {
  if (first.length === 0) return second;
  const both = new Bytes(first.length + second.length);
  setBytes(both, first, 0);
  setBytes(both, second, first.length);
  return both;
}

// How many of the bytes come before a character that more bytes may finish.
function wholeCharacters(bytes) {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back];
    if (byte < 0x80) return bytes.length;
    if (byte >= 0xc0) {
      const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return needed > back ? bytes.length - back : bytes.length;
    }
  }
  return bytes.length;
}

function wholeUnits(bytes) {
  let whole = bytes.length - (bytes.length % 2);
  if (whole >= 2 && (bytes[whole - 1] & 0xfc) === 0xd8) whole -= 2; // the first half of a pair
  return whole;
}

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const VALUES = newMap();
for (let i = 0; i < 64; i++) VALUES.set(DIGITS[i], i);

function btoa(value) {
  const input = StringFunction(value);
  let encoded = '';
  for (let i = 0; i < input.length; i += 3) {
    const bytes = [charCodeAt(input, i), charCodeAt(input, i + 1), charCodeAt(input, i + 2)];
    if (bytes[0] > 255 || bytes[1] > 255 || bytes[2] > 255) {
      throw namedError(
        'InvalidCharacterError',
        'btoa takes characters up to U+00FF only; encode the text first',
      );
    }
    const bits = (bytes[0] << 16) | ((bytes[1] || 0) << 8) | (bytes[2] || 0);
    encoded += DIGITS[bits >> 18] + DIGITS[(bits >> 12) & 63];
    encoded += i + 1 < input.length ? DIGITS[(bits >> 6) & 63] : '=';
    encoded += i + 2 < input.length ? DIGITS[bits & 63] : '=';
  }
  return encoded;
}

function atob(value) {
  let input = without(StringFunction(value), '\t\n\f\r ');
  if (input.length % 4 === 0 && sliceText(input, -1) === '=') {
    input = sliceText(input, 0, sliceText(input, -2) === '==' ? -2 : -1);
  }
  let decoded = '';
  let bits = 0;
  let count = 0;
  for (let i = 0; i < input.length; i++) {
    const digit = VALUES.get(input[i]);
    if (digit === undefined) throw notBase64();
    bits = ((bits << 6) | digit) & 0xffffff;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    decoded += fromCharCode((bits >> count) & 255);
  }
  if (input.length % 4 === 1) throw notBase64();
  return decoded;
}

const notBase64 = () => namedError('InvalidCharacterError', 'the text given to atob is not Base64');
