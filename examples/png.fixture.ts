/**
 * Makes the picture of a page smaller: a palette of its 256 most frequent colors instead of three bytes per pixel.
 *
 * Reads what browsers write: 8 bits per channel, with or without alpha, not interlaced. Alpha is dropped.
 */
import { crc32, deflateSync, inflateSync } from 'node:zlib'

const signature = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10])
const paletteMax = 256

export function smallerPng(png: Buffer): Buffer {
  const { width, height, colors } = decode(png)
  const counts = new Map<number, number>()
  for (const color of colors) counts.set(color, (counts.get(color) ?? 0) + 1)
  const palette = [...counts]
    .sort(([, a], [, b]) => b - a)
    .slice(0, paletteMax)
    .map(([color]) => color)
  const indexes = new Map([...counts.keys()].map((color) => [color, nearest(palette, color)]))
  const rows = Buffer.alloc(height * (width + 1))
  for (const [at, color] of colors.entries())
    rows[Math.floor(at / width) * (width + 1) + (at % width) + 1] = indexes.get(color) ?? 0
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 3, 0, 0, 0], 8)
  const table = Buffer.from(palette.flatMap((color) => [color >> 16, (color >> 8) & 255, color & 255]))
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('PLTE', table),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function nearest(palette: readonly number[], color: number): number {
  let best = 0
  let least = Infinity
  for (const [index, each] of palette.entries()) {
    const distance = [16, 8, 0].reduce((sum, bits) => sum + (((each >> bits) & 255) - ((color >> bits) & 255)) ** 2, 0)
    if (distance >= least) continue
    best = index
    least = distance
  }
  return best
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data])
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  sum.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, sum])
}

interface Pixels {
  readonly width: number
  readonly height: number
  /** 0xRRGGBB, row by row. */
  readonly colors: readonly number[]
}

function decode(png: Buffer): Pixels {
  const data: Buffer[] = []
  for (let at = signature.length; at < png.length; at += png.readUInt32BE(at) + 12)
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT')
      data.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)))
  const [width, height, depth, type] = [png.readUInt32BE(16), png.readUInt32BE(20), png[24], png[25]]
  if (depth !== 8 || (type !== 2 && type !== 6)) throw new RangeError(`a PNG of type ${type}, ${depth} bits`)
  const size = type === 2 ? 3 : 4
  const bytes = unfilter(inflateSync(Buffer.concat(data)), { stride: width * size, size })
  const colors: number[] = []
  for (let at = 0; at < bytes.length; at += size) colors.push(bytes.readUIntBE(at, 3))
  return { width, height, colors }
}

/** Each byte is stored as its difference from a prediction, by the filter of its row. */
function unfilter(raw: Buffer, { stride, size }: { stride: number; size: number }): Buffer {
  const height = raw.length / (stride + 1)
  const out = Buffer.alloc(height * stride)
  for (let row = 0; row < height; row++)
    for (let x = 0; x < stride; x++) {
      const at = row * stride + x
      const left = x >= size ? (out[at - size] ?? 0) : 0
      const up = row > 0 ? (out[at - stride] ?? 0) : 0
      const corner = x >= size && row > 0 ? (out[at - stride - size] ?? 0) : 0
      const filter = raw[row * (stride + 1)]
      const predicted = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter ?? 0] ?? 0
      out[at] = ((raw[row * (stride + 1) + 1 + x] ?? 0) + predicted) & 255
    }
  return out
}

function paeth(left: number, up: number, corner: number): number {
  const guess = left + up - corner
  const [a, b, c] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)]
  return a <= b && a <= c ? left : b <= c ? up : corner
}
