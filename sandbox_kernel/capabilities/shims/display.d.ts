declare module 'display' {
  type Rows = object[] | Record<string, any[]>;
  /** Shows rows as a table. */
  export function table(rows: Rows, options?: { columns?: string[]; title?: string }): void;
  /** Draws a chart; x, y and color name fields of the rows. */
  export function chart(options: {
    mark: 'line' | 'bar' | 'area' | 'point' | 'histogram';
    data: Rows;
    x?: string;
    y?: string;
    color?: string;
    title?: string;
    /** Whether the y axis is logarithmic. */
    log?: boolean;
  }): void;
  /** Shows a PNG, JPEG or WebP, or RGBA pixels. */
  export function image(
    data: Uint8Array | ArrayBuffer | { width: number; height: number; data: Uint8ClampedArray | Uint8Array },
    options?: { alt?: string },
  ): void;
}
