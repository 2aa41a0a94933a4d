declare module 'fetch' {
  /** Only the hosts that were lent can be reached; any other throws a TypeError. */
  export function fetch(
    url: string | Request,
    init?: {
      method?: string;
      headers?: Record<string, string> | [string, string][] | Headers;
      body?: string | ArrayBuffer | ArrayBufferView;
      redirect?: 'follow' | 'error' | 'manual';
    },
  ): Promise<Response>;
  export class Headers {
    constructor(init?: Record<string, string> | [string, string][] | Headers);
    append(name: string, value: string): void;
    set(name: string, value: string): void;
    get(name: string): string | null;
    has(name: string): boolean;
    delete(name: string): void;
    forEach(callback: (value: string, name: string) => void): void;
    entries(): IterableIterator<[string, string]>;
    [Symbol.iterator](): IterableIterator<[string, string]>;
  }
  export class Request {
    constructor(url: string | Request, init?: object);
    url: string;
    method: string;
    headers: Headers;
  }
  export class Response {
    constructor(body?: string | ArrayBuffer | ArrayBufferView, init?: object);
    readonly ok: boolean;
    readonly status: number;
    readonly statusText: string;
    readonly url: string;
    readonly redirected: boolean;
    readonly headers: Headers;
    text(): Promise<string>;
    json(): Promise<any>;
    bytes(): Promise<Uint8Array>;
    arrayBuffer(): Promise<ArrayBuffer>;
    clone(): Response;
  }
  export default fetch;
}
