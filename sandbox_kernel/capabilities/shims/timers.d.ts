declare module 'timers' {
  /** Calls the function once, after so many milliseconds. Returns a number for clearTimeout. */
  export function setTimeout(callback: (...args: any[]) => void, delay?: number, ...args: any[]): number;
  export function clearTimeout(timer?: number): void;
  /** Calls the function again and again. Returns a number for clearInterval. */
  export function setInterval(callback: (...args: any[]) => void, delay?: number, ...args: any[]): number;
  export function clearInterval(timer?: number): void;
  /** await sleep(100) waits for 100 milliseconds. */
  export function sleep(ms: number): Promise<void>;
}
declare module 'timers/promises' {
  export function setTimeout<T = void>(delay?: number, value?: T): Promise<T>;
}
