declare module 'fs' {
  type Data = string | ArrayBuffer | ArrayBufferView;
  type Encoding = 'utf8' | 'utf-8' | 'latin1' | 'ascii' | 'utf16le' | 'base64' | 'hex';
  interface Stats {
    size: number;
    mtimeMs: number;
    mtime: Date;
    isFile(): boolean;
    isDirectory(): boolean;
    isSymbolicLink(): boolean;
  }
  /** Paths are relative to the folder that was lent. Errors have Node's codes, such as 'ENOENT'. */
  export function readFileSync(path: string): Uint8Array;
  export function readFileSync(path: string, options: Encoding | { encoding: Encoding }): string;
  export function writeFileSync(path: string, data: Data, options?: { flag?: 'w' | 'wx' }): void;
  export function appendFileSync(path: string, data: Data): void;
  export function readdirSync(path: string, options?: { withFileTypes?: boolean }): string[];
  export function statSync(path: string): Stats;
  export function mkdirSync(path: string, options?: { recursive?: boolean }): void;
  export function rmSync(path: string, options?: { recursive?: boolean; force?: boolean }): void;
  export function renameSync(from: string, to: string): void;
  export function copyFileSync(from: string, to: string): void;
  export function existsSync(path: string): boolean;
  export function accessSync(path: string): void;
  export function unlinkSync(path: string): void;
  export const promises: typeof import('fs/promises');
}
declare module 'fs/promises' {
  type Data = string | ArrayBuffer | ArrayBufferView;
  type Encoding = 'utf8' | 'utf-8' | 'latin1' | 'ascii' | 'utf16le' | 'base64' | 'hex';
  interface Stats {
    size: number;
    mtimeMs: number;
    mtime: Date;
    isFile(): boolean;
    isDirectory(): boolean;
    isSymbolicLink(): boolean;
  }
  export function readFile(path: string): Promise<Uint8Array>;
  export function readFile(path: string, options: Encoding | { encoding: Encoding }): Promise<string>;
  export function writeFile(path: string, data: Data, options?: { flag?: 'w' | 'wx' }): Promise<void>;
  export function appendFile(path: string, data: Data): Promise<void>;
  export function readdir(path: string, options?: { withFileTypes?: boolean }): Promise<string[]>;
  export function stat(path: string): Promise<Stats>;
  export function mkdir(path: string, options?: { recursive?: boolean }): Promise<void>;
  export function rm(path: string, options?: { recursive?: boolean; force?: boolean }): Promise<void>;
  export function rename(from: string, to: string): Promise<void>;
  export function copyFile(from: string, to: string): Promise<void>;
  export function exists(path: string): Promise<boolean>;
  export function access(path: string): Promise<void>;
  export function unlink(path: string): Promise<void>;
}
