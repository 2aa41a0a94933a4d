"""Signatures of the language's own functions, for Shift-Tab: a line each, with what it does.

Parameters with `?` may be left out. What is not listed is described by its number of parameters.
"""

from __future__ import annotations

_LINES = """
Array(length): the same as new Array(length)
Array.from(items, map?, thisArg?): Array. A new array of what can be iterated, or has a length
Array.isArray(value): boolean
Array.of(...items): Array
Array.prototype.at(index): item. A negative index counts from the end
Array.prototype.concat(...arrays): Array
Array.prototype.copyWithin(target, start?, end?): this array
Array.prototype.entries(): iterator of [index, item]
Array.prototype.every(test, thisArg?): boolean. Whether test(item, index, array) holds for all
Array.prototype.fill(value, start?, end?): this array
Array.prototype.filter(test, thisArg?): Array. The items for which test(item, index, array) holds
Array.prototype.find(test, thisArg?): item or undefined
Array.prototype.findIndex(test, thisArg?): number, -1 if there is none
Array.prototype.findLast(test, thisArg?): item or undefined
Array.prototype.findLastIndex(test, thisArg?): number, -1 if there is none
Array.prototype.flat(depth?): Array. Arrays inside it are taken apart, one level by default
Array.prototype.flatMap(map, thisArg?): Array
Array.prototype.forEach(act, thisArg?): undefined. Calls act(item, index, array)
Array.prototype.includes(item, from?): boolean
Array.prototype.indexOf(item, from?): number, -1 if it is not there
Array.prototype.join(separator?): string. Separated by a comma by default
Array.prototype.keys(): iterator of indexes
Array.prototype.lastIndexOf(item, from?): number, -1 if it is not there
Array.prototype.map(map, thisArg?): Array. Of map(item, index, array)
Array.prototype.pop(): item or undefined. Removes the last one
Array.prototype.push(...items): number. The new length
Array.prototype.reduce(combine, start?): value. Of combine(sofar, item, index, array), from the left
Array.prototype.reduceRight(combine, start?): value
Array.prototype.reverse(): this array
Array.prototype.shift(): item or undefined. Removes the first one
Array.prototype.slice(start?, end?): Array. A copy of a part
Array.prototype.some(test, thisArg?): boolean
Array.prototype.sort(compare?): this array. As text by default; numbers need (a, b) => a - b
Array.prototype.splice(start, count?, ...items): Array. Replaces a part, gives what was removed
Array.prototype.toReversed(): Array. A copy
Array.prototype.toSorted(compare?): Array. A copy
Array.prototype.toSpliced(start, count?, ...items): Array. A copy
Array.prototype.unshift(...items): number. The new length
Array.prototype.values(): iterator of items
Array.prototype.with(index, item): Array. A copy with one item replaced
BigInt(value): bigint
BigInt.asIntN(bits, value): bigint
BigInt.asUintN(bits, value): bigint
Boolean(value): boolean
Date.UTC(year, month?, day?, hours?, minutes?, seconds?, ms?): number. Months count from 0
Date.now(): number. Milliseconds since 1970
Date.parse(text): number. Milliseconds since 1970
Date.prototype.getDate(): number. Day of the month
Date.prototype.getDay(): number. Day of the week, 0 is Sunday
Date.prototype.getFullYear(): number
Date.prototype.getHours(): number
Date.prototype.getMinutes(): number
Date.prototype.getMonth(): number, from 0
Date.prototype.getTime(): number. Milliseconds since 1970
Date.prototype.setDate(day): number
Date.prototype.setFullYear(year, month?, day?): number
Date.prototype.setHours(hours, minutes?, seconds?, ms?): number
Date.prototype.toISOString(): string, such as 2020-01-31T12:00:00.000Z
Error(message?, options?): Error. options may have a cause
JSON.parse(text, revive?): value
JSON.stringify(value, replace?, space?): string. space is an indentation, such as 2
Map(entries?): new Map([[key, value]])
Map.groupBy(items, key): Map of arrays
Map.prototype.clear(): undefined
Map.prototype.delete(key): boolean
Map.prototype.entries(): iterator of [key, value]
Map.prototype.forEach(act, thisArg?): undefined. Calls act(value, key, map)
Map.prototype.get(key): value or undefined
Map.prototype.has(key): boolean
Map.prototype.keys(): iterator of keys
Map.prototype.set(key, value): this map
Map.prototype.values(): iterator of values
Math.abs(x): number
Math.acos(x): number
Math.asin(x): number
Math.atan(x): number
Math.atan2(y, x): number
Math.cbrt(x): number
Math.ceil(x): number. Rounded up
Math.clz32(x): number
Math.cos(x): number
Math.exp(x): number
Math.floor(x): number. Rounded down
Math.fround(x): number
Math.hypot(...values): number. The root of the sum of squares
Math.imul(a, b): number
Math.log(x): number. To the base e
Math.log10(x): number
Math.log1p(x): number
Math.log2(x): number
Math.max(...values): number. The largest, -Infinity of none
Math.min(...values): number. The smallest, Infinity of none
Math.pow(base, exponent): number
Math.random(): number. From 0 up to, but not, 1
Math.round(x): number
Math.sign(x): number
Math.sin(x): number
Math.sqrt(x): number
Math.tan(x): number
Math.trunc(x): number. Without its fraction
Number(value): number. NaN if it is none
Number.isFinite(value): boolean
Number.isInteger(value): boolean
Number.isNaN(value): boolean
Number.isSafeInteger(value): boolean
Number.parseFloat(text): number
Number.parseInt(text, radix?): number
Number.prototype.toExponential(digits?): string
Number.prototype.toFixed(digits?): string
Number.prototype.toPrecision(digits?): string
Number.prototype.toString(radix?): string
Object.assign(target, ...sources): target
Object.create(prototype, properties?): object
Object.defineProperty(object, key, descriptor): object
Object.entries(object): Array of [key, value]
Object.freeze(object): object
Object.fromEntries(entries): object
Object.getOwnPropertyNames(object): Array of keys
Object.getPrototypeOf(object): object or null
Object.groupBy(items, key): object of arrays
Object.hasOwn(object, key): boolean
Object.is(a, b): boolean
Object.keys(object): Array of keys
Object.prototype.hasOwnProperty(key): boolean
Object.values(object): Array of values
Promise(executor): new Promise((resolve, reject) => …)
Promise.all(promises): Promise of an array. Rejects with the first that rejects
Promise.allSettled(promises): Promise of an array of {status, value or reason}
Promise.any(promises): Promise. The first that is fulfilled
Promise.prototype.catch(handle): Promise
Promise.prototype.finally(act): Promise
Promise.prototype.then(fulfilled?, rejected?): Promise
Promise.race(promises): Promise. The first that settles
Promise.reject(reason): Promise
Promise.resolve(value): Promise
RegExp(pattern, flags?): RegExp
RegExp.prototype.exec(text): match or null
RegExp.prototype.test(text): boolean
Set(items?): new Set([item])
Set.prototype.add(item): this set
Set.prototype.clear(): undefined
Set.prototype.delete(item): boolean
Set.prototype.forEach(act, thisArg?): undefined
Set.prototype.has(item): boolean
Set.prototype.values(): iterator of items
String(value): string
String.fromCharCode(...units): string
String.fromCodePoint(...points): string
String.prototype.at(index): string or undefined. A negative index counts from the end
String.prototype.charAt(index): string
String.prototype.charCodeAt(index): number
String.prototype.codePointAt(index): number or undefined
String.prototype.concat(...texts): string
String.prototype.endsWith(text, end?): boolean
String.prototype.includes(text, from?): boolean
String.prototype.indexOf(text, from?): number, -1 if it is not there
String.prototype.lastIndexOf(text, from?): number, -1 if it is not there
String.prototype.localeCompare(text): number. Below, at or above 0
String.prototype.match(pattern): match or null
String.prototype.matchAll(pattern): iterator of matches. The pattern needs the flag g
String.prototype.normalize(form?): string
String.prototype.padEnd(length, fill?): string
String.prototype.padStart(length, fill?): string
String.prototype.repeat(count): string
String.prototype.replace(pattern, replacement): string. The first match, or all with the flag g
String.prototype.replaceAll(pattern, replacement): string
String.prototype.search(pattern): number, -1 if there is no match
String.prototype.slice(start?, end?): string
String.prototype.split(separator?, limit?): Array of texts
String.prototype.startsWith(text, from?): boolean
String.prototype.substring(start, end?): string
String.prototype.toLowerCase(): string
String.prototype.toUpperCase(): string
String.prototype.trim(): string
String.prototype.trimEnd(): string
String.prototype.trimStart(): string
Symbol(description?): symbol
decodeURIComponent(text): string
encodeURIComponent(text): string
isFinite(value): boolean
isNaN(value): boolean
parseFloat(text): number
parseInt(text, radix?): number
report(value): undefined. Shows a value in the live view, and keeps it in result.reports
structuredClone(value): a deep copy
"""


def _table() -> dict[str, str]:
    lines = (line for line in _LINES.split("\n") if line)
    return {line.partition("(")[0]: line for line in lines}


SIGNATURES = _table()
"""By full name: `Math.max`, `Array.prototype.map`."""
