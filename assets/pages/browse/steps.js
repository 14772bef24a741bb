/** Where a key leads on a wall: by so many images. */

/**
 * @param {string} key @param {number} columns of the wall @param {number} rows that are seen at once
 * @returns {number | null} null: the key leads nowhere
 */
export function steps(key, columns, rows) {
  /** @type {Record<string, number>} */
  const moves = {
    ArrowLeft: -1,
    ArrowRight: 1,
    k: -1,
    j: 1,
    ArrowUp: -columns,
    ArrowDown: columns,
    PageUp: -rows * columns,
    PageDown: rows * columns,
    Home: -Infinity,
    End: Infinity,
  };
  return moves[key] ?? null;
}
