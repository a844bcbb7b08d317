/**
 * Which of several words somebody meant who typed another one.
 */

/** The word that takes fewest changes, if it takes few enough for its length. */
export function nearest(typed: string, words: readonly string[]): string | undefined {
  let best: string | undefined
  let fewest = Math.max(1, Math.floor(typed.length / 3)) + 1
  for (const word of words) {
    const changes = editDistance(typed.toLowerCase(), word.toLowerCase())
    if (changes < fewest) [best, fewest] = [word, changes]
  }
  return best
}

/** How many letters must be put in, taken out, replaced, or swapped with their neighbour. */
function editDistance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, index) => index)]
  const at = (i: number, j: number): number => rows[i]?.[j] ?? 0
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    rows.push(row)
    for (let j = 1; j <= b.length; j++) {
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      row.push(
        Math.min(
          at(i - 1, j) + 1,
          at(i, j - 1) + 1,
          at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1),
          isSwap ? at(i - 2, j - 2) + 1 : Infinity,
        ),
      )
    }
  }
  return at(a.length, b.length)
}
