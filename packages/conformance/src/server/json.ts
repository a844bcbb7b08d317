/**
 * JSON with integers of 64 bits: those that a number cannot hold are bigints. The judge has its own reader, so that a
 * mistake of the product's reader shows.
 */

/** JSON text; a bigint is written as a number. */
export function writeJson(value: unknown): string {
  const text = JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? `int64:${each}` : each))
  return text.replace(/"int64:(-?\d+)"/g, '$1')
}

export function readJson(text: string): unknown {
  const marked = text.replace(stringOrNumber, (token) => (/^-?\d{16,19}$/.test(token) ? `"int64:${token}"` : token))
  return JSON.parse(marked, (_, each: unknown) => (typeof each === 'string' ? integerOf(each) : each))
}

const stringOrNumber = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/g

function integerOf(text: string): unknown {
  if (!/^int64:-?\d+$/.test(text)) return text
  const value = BigInt(text.slice('int64:'.length))
  return BigInt.asIntN(64, value) === value && !Number.isSafeInteger(Number(value)) ? value : Number(value)
}
