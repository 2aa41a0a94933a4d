declare module 'web' {
  export class URL {
    constructor(url: string | URL, base?: string | URL);
    static canParse(url: string, base?: string): boolean;
    static parse(url: string, base?: string): URL | null;
    href: string;
    readonly origin: string;
    protocol: string;
    username: string;
    password: string;
    host: string;
    hostname: string;
    port: string;
    pathname: string;
    search: string;
    readonly searchParams: URLSearchParams;
    hash: string;
    toString(): string;
    toJSON(): string;
  }
  export class URLSearchParams {
    constructor(init?: string | Record<string, string> | Iterable<[string, string]>);
    readonly size: number;
    append(name: string, value: string): void;
    delete(name: string, value?: string): void;
    get(name: string): string | null;
    getAll(name: string): string[];
    has(name: string, value?: string): boolean;
    set(name: string, value: string): void;
    sort(): void;
    forEach(callback: (value: string, name: string, params: URLSearchParams) => void): void;
    keys(): IterableIterator<string>;
    values(): IterableIterator<string>;
    entries(): IterableIterator<[string, string]>;
    [Symbol.iterator](): IterableIterator<[string, string]>;
    toString(): string;
  }
  export class TextEncoder {
    readonly encoding: 'utf-8';
    encode(input?: string): Uint8Array;
    encodeInto(source: string, target: Uint8Array): { read: number; written: number };
  }
  /** For utf-8 (the default) and utf-16le. */
  export class TextDecoder {
    constructor(label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean });
    readonly encoding: string;
    readonly fatal: boolean;
    readonly ignoreBOM: boolean;
    decode(input?: ArrayBuffer | ArrayBufferView, options?: { stream?: boolean }): string;
  }
  export function atob(data: string): string;
  export function btoa(data: string): string;
  export const crypto: {
    randomUUID(): string;
    getRandomValues<T extends ArrayBufferView>(array: T): T;
  };
}
