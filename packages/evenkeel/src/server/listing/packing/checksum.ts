/**
 * CRC-32 of texts that are known in parts: the checksum of `a` followed by `b`, from the checksums of both.
 *
 * A CRC is the rest of a division of polynomials over bits. Putting `n` bytes behind a text multiplies its polynomial by
 * x^8n, so joining two is one multiplication, whatever their length, once x^8n is known. Polynomials are written with the
 * highest power in the lowest bit, as gzip has them.
 */

const divisor = 0xedb88320
/** The polynomial 1. */
const unit = 0x80000000

/** x to the power 1, 2, 4, 8, ... */
const squares = [0x40000000]
for (let index = 1; index < 32; index++) squares.push(multiply(squares[index - 1] ?? 0, squares[index - 1] ?? 0))

/** What {@link joinChecksums} multiplies by when `length` bytes follow. */
export function shiftOf(length: number): number {
  let shift = unit
  // 8 is the third square; powers repeat after 2^32 - 1, so the 32 squares are all there are.
  for (let left = length, index = 3; left > 0; left = Math.floor(left / 2), index++) {
    if (left % 2 === 1) shift = multiply(squares[index % 32] ?? 0, shift)
  }
  return shift
}

/** The checksum of two texts in a row; `shift` is that of the second one's length. */
export function joinChecksums(first: number, second: number, { shift }: { shift: number }): number {
  return (multiply(shift, first) ^ second) >>> 0
}

/** The product of two polynomials, divided by the divisor: its rest. */
function multiply(a: number, b: number): number {
  let [product, rest, factor] = [0, b, a]
  while (factor !== 0) {
    // The power of x that is looked at grows from bit to bit, and `rest` is b times it.
    if (factor < 0 || factor >= unit) product ^= rest
    factor = (factor << 1) >>> 0
    rest = (rest & 1) === 1 ? (rest >>> 1) ^ divisor : rest >>> 1
  }
  return product >>> 0
}
