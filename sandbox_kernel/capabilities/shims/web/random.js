// Randomness comes from the host; small wants are served from a supply.
const SUPPLY = 1024;
let supply = new Bytes(0);
let used = 0;

function randomBytes(count) {
  if (count > SUPPLY) return host.random(count);
  if (used + count > supply.length) {
    supply = host.random(SUPPLY);
    used = 0;
  }
  used += count;
  return subarray(supply, used - count, used);
}

const INTEGERS = /^(?:Int|Uint|BigInt|BigUint)(?:8|16|32|64)(?:Clamped)?Array$/;
const { toString: describe } = Object.prototype;
const tagOf = uncurry(describe);

function getRandomValues(array) {
  const bytes = viewOfBytes(array);
  const kind = bytes === undefined ? '' : sliceText(tagOf(array), 8, -1);
  if (!test(INTEGERS, kind))
    throw namedError('TypeMismatchError', 'getRandomValues needs an array of integers');
  if (bytes.length > 65536) {
    throw namedError('QuotaExceededError', 'getRandomValues gives at most 65,536 bytes, not ' + bytes.length);
  }
  setBytes(bytes, randomBytes(bytes.length), 0);
  return array;
}

function randomUUID() {
  const bytes = randomBytes(16);
  let spelled = '';
  for (let i = 0; i < 16; i++) {
    const byte = i === 6 ? (bytes[i] & 0x0f) | 0x40 : i === 8 ? (bytes[i] & 0x3f) | 0x80 : bytes[i];
    spelled +=
      (i === 4 || i === 6 || i === 8 || i === 10 ? '-' : '') + lower(HEX[byte >> 4] + HEX[byte & 15]);
  }
  return spelled;
}
