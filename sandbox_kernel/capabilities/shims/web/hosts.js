// Hosts of URLs: names (with Punycode), IPv4 in every spelling, IPv6. After https://url.spec.whatwg.org.
const FORBIDDEN_HOST = /[\0\t\n\r #/:<>?@[\\\]^|]/;
const FORBIDDEN_DOMAIN = /[\0-\x20"#%/:<>?@[\\\]^`{|}\x7f]/;
const DOTS = '\u3002\uff0e\uff61'; // full stops of other scripts
const IGNORED = /[\u00ad\u034f\u180b-\u180d\u200b\u2060\ufe00-\ufe0f\ufeff]/;
const NEVER_IN_NAMES = /[\ud800-\udfff\ufffd\x80-\x9f\u2000-\u200a\u2028-\u202f\u205f\u3000]/;
const ASCII = /^[\0-\x7f]*$/;

// The normal form of a host, or undefined if there is none.
function parseHost(value, isSpecial) {
  if (value[0] === '[') {
    if (value[value.length - 1] !== ']') return undefined;
    const pieces = parseIPv6(sliceText(value, 1, -1));
    return pieces === undefined ? undefined : '[' + spellIPv6(pieces) + ']';
  }
  if (!isSpecial) return test(FORBIDDEN_HOST, value) ? undefined : percentEncode(value, isControl);
  const domain = domainToASCII(utf8Decode(percentDecode(value), 0));
  if (domain === undefined || domain === '' || test(FORBIDDEN_DOMAIN, domain)) return undefined;
  if (!endsInNumber(domain)) return domain;
  const address = parseIPv4(domain);
  return address === undefined ? undefined : spellIPv4(address);
}

function domainToASCII(domain) {
  let mapped = '';
  for (let i = 0; i < domain.length; i++) {
    if (test(IGNORED, domain[i])) continue;
    mapped += indexOfText(DOTS, domain[i]) >= 0 ? '.' : domain[i];
  }
  mapped = normalize(lower(normalize(mapped, 'NFKC')), 'NFKC');
  if (test(NEVER_IN_NAMES, mapped)) return undefined;
  const labels = split(mapped, '.');
  let ascii = '';
  for (let i = 0; i < labels.length; i++) {
    const label = asciiLabel(labels[i]);
    if (label === undefined) return undefined;
    ascii += (i === 0 ? '' : '.') + label;
  }
  return ascii;
}

function asciiLabel(label) {
  if (!test(ASCII, label)) return 'xn--' + punycode(label);
  if (sliceText(label, 0, 4) !== 'xn--') return label;
  const decoded = unpunycode(sliceText(label, 4));
  if (decoded === undefined || test(ASCII, decoded) || test(NEVER_IN_NAMES, decoded)) return undefined;
  return normalize(lower(decoded), 'NFKC') === decoded ? label : undefined;
}

// RFC 3492.
const adapt = (delta, points, first) => {
  let k = 0;
  let left = first ? floor(delta / 700) : floor(delta / 2);
  left += floor(left / points);
  for (; left > 455; k += 36) left = floor(left / 35);
  return k + floor((36 * left) / (left + 38));
};
const threshold = (k, bias) => (k <= bias ? 1 : k >= bias + 26 ? 26 : k - bias);
const punyDigit = (digit) => fromCharCode(digit < 26 ? digit + 97 : digit + 22);

function codePoints(value) {
  const points = newList();
  for (let i = 0; i < value.length; i += points[points.length - 1] > 0xffff ? 2 : 1) {
    points[points.length] = codePointAt(value, i);
  }
  return points;
}

function punycode(label) {
  const points = codePoints(label);
  let output = '';
  for (let i = 0; i < points.length; i++) if (points[i] < 128) output += fromCharCode(points[i]);
  const basic = output.length;
  let handled = basic;
  if (basic > 0) output += '-';
  let n = 128;
  let delta = 0;
  let bias = 72;
  while (handled < points.length) {
    let next = Infinity;
    for (let i = 0; i < points.length; i++) if (points[i] >= n && points[i] < next) next = points[i];
    delta += (next - n) * (handled + 1);
    n = next;
    for (let i = 0; i < points.length; i++) {
      if (points[i] < n) delta++;
      if (points[i] !== n) continue;
      let q = delta;
      for (let k = 36; ; k += 36) {
        const t = threshold(k, bias);
        if (q < t) break;
        output += punyDigit(t + ((q - t) % (36 - t)));
        q = floor((q - t) / (36 - t));
      }
      output += punyDigit(q);
      bias = adapt(delta, handled + 1, handled === basic);
      delta = 0;
      handled++;
    }
    delta++;
    n++;
  }
  return output;
}

function unpunycode(label) {
  const basic = lastIndexOfText(label, '-');
  let points = newList();
  for (let i = 0; i < basic; i++) points[points.length] = charCodeAt(label, i);
  let n = 128;
  let i = 0;
  let bias = 72;
  for (let at = basic < 0 ? 0 : basic + 1; at < label.length; ) {
    const start = i;
    let weight = 1;
    for (let k = 36; ; k += 36) {
      if (at >= label.length) return undefined;
      const code = charCodeAt(label, at++);
      const digit = code >= 97 && code <= 122 ? code - 97 : code >= 48 && code <= 57 ? code - 22 : 36;
      if (digit === 36) return undefined;
      i += digit * weight;
      const t = threshold(k, bias);
      if (digit < t) break;
      weight *= 36 - t;
    }
    const count = points.length + 1;
    bias = adapt(i - start, count, start === 0);
    n += floor(i / count);
    i %= count;
    if (n > 0x10ffff || (n >= 0xd800 && n <= 0xdfff)) return undefined;
    for (let j = points.length; j > i; j--) points[j] = points[j - 1];
    points[i++] = n;
  }
  let decoded = '';
  for (let j = 0; j < points.length; j++) decoded += fromCodePoint(points[j]);
  return decoded;
}

const NUMBER = /^(?:0[xX][0-9a-fA-F]*|[0-9]+)$/;

function endsInNumber(domain) {
  const parts = split(domain, '.');
  if (parts[parts.length - 1] === '') {
    if (parts.length === 1) return false;
    parts.length--;
  }
  return test(NUMBER, parts[parts.length - 1]);
}

function ipv4Number(part) {
  if (part === '') return undefined;
  if (test(/^0[xX]/, part)) {
    const digits = sliceText(part, 2);
    return digits === '' ? 0 : test(/^[0-9a-fA-F]+$/, digits) ? NumberFunction('0x' + digits) : undefined;
  }
  if (part.length > 1 && part[0] === '0') {
    return test(/^[0-7]+$/, part) ? NumberFunction('0o' + part) : undefined;
  }
  return test(/^[0-9]+$/, part) ? NumberFunction(part) : undefined;
}

function parseIPv4(domain) {
  const parts = split(domain, '.');
  if (parts[parts.length - 1] === '' && parts.length > 1) parts.length--;
  if (parts.length > 4) return undefined;
  let address = 0;
  for (let i = 0; i < parts.length; i++) {
    const number = ipv4Number(parts[i]);
    const isLast = i === parts.length - 1;
    if (number === undefined || number >= (isLast ? 256 ** (5 - parts.length) : 256)) return undefined;
    address += isLast ? number : number * 256 ** (3 - i);
  }
  return address;
}

function spellIPv4(address) {
  return (
    floor(address / 2 ** 24) +
    '.' +
    (floor(address / 2 ** 16) % 256) +
    '.' +
    (floor(address / 2 ** 8) % 256) +
    '.' +
    (address % 256)
  );
}

// Eight numbers, or undefined.
function parseIPv6(value) {
  const halves = split(value, '::');
  if (halves.length > 2) return undefined;
  const front = ipv6Pieces(halves[0], halves.length === 1);
  const back = halves.length === 2 ? ipv6Pieces(halves[1], true) : newList();
  if (front === undefined || back === undefined) return undefined;
  const missing = 8 - front.length - back.length;
  if (halves.length === 1 ? missing !== 0 : missing < 1) return undefined;
  for (let i = 0; i < missing; i++) front[front.length] = 0;
  for (let i = 0; i < back.length; i++) front[front.length] = back[i];
  return front;
}

function ipv6Pieces(value, mayEndInIPv4) {
  const pieces = newList();
  if (value === '') return pieces;
  const parts = split(value, ':');
  for (let i = 0; i < parts.length; i++) {
    if (test(/^[0-9a-fA-F]{1,4}$/, parts[i])) {
      pieces[pieces.length] = NumberFunction('0x' + parts[i]);
      continue;
    }
    const dotted = exec(/^(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})$/, parts[i]);
    if (dotted === null || !mayEndInIPv4 || i !== parts.length - 1) return undefined;
    if (dotted[1] > 255 || dotted[2] > 255 || dotted[3] > 255 || dotted[4] > 255) return undefined;
    pieces[pieces.length] = dotted[1] * 256 + NumberFunction(dotted[2]);
    pieces[pieces.length] = dotted[3] * 256 + NumberFunction(dotted[4]);
  }
  return pieces;
}

// The longest run of zeros, of two or more, becomes `::`.
function spellIPv6(pieces) {
  let best = -1;
  let length = 1;
  for (let i = 0; i < 8; i++) {
    let end = i;
    while (end < 8 && pieces[end] === 0) end++;
    if (end - i > length) {
      best = i;
      length = end - i;
    }
    if (end > i) i = end;
  }
  let spelled = '';
  for (let i = 0; i < 8; i++) {
    if (i === best) {
      spelled += i === 0 ? '::' : ':';
      i += length - 1;
      continue;
    }
    spelled += numberToString(pieces[i], 16) + (i < 7 ? ':' : '');
  }
  return spelled;
}
