import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ByteBuffer } from './byte-buffer.ts'

describe('ByteBuffer', () => {
  test('has room for all announced bytes once an eighth has arrived, and believes no announcement before', () => {
    const buffer = new ByteBuffer({ expected: 8000 })
    const sizes: number[] = []
    for (let appended = 0; appended < 8000; appended += 400) {
      buffer.append(Buffer.alloc(400, 1))
      sizes.push(buffer.bytes.buffer.byteLength)
    }
    expect([...new Set(sizes)].filter((size) => size >= 400 && size !== 65_536).slice(-2)).toEqual([800, 8000])
    expect(buffer.bytes).toEqual(Buffer.alloc(8000, 1))
  })

  test('takes more than was announced', () => {
    const buffer = new ByteBuffer({ expected: 3 })
    for (const text of ['ab', 'cd', 'ef']) buffer.append(Buffer.from(text))
    expect(buffer.bytes.toString()).toBe('abcdef')
  })

  test('holds what a list of pieces would, through any appends, drops and takes', () => {
    const step = fc.oneof(
      fc.record({ append: fc.uint8Array({ maxLength: 40 }) }),
      fc.record({ drop: fc.nat(50) }),
      fc.constant('take' as const),
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const buffer = new ByteBuffer()
        let model = Buffer.alloc(0)
        const taken: [Buffer, Buffer][] = []
        for (const each of steps) {
          if (each === 'take') {
            taken.push([buffer.take(), model])
            model = Buffer.alloc(0)
          } else if ('append' in each) {
            buffer.append(each.append)
            model = Buffer.concat([model, each.append])
          } else {
            // What was handed out stays as it was, whatever comes later.
            taken.push([buffer.bytes, model])
            buffer.drop(each.drop)
            model = model.subarray(Math.min(each.drop, model.length))
          }
          expect(buffer.size).toBe(model.length)
          expect(buffer.bytes.equals(model)).toBe(true)
        }
        for (const [got, expected] of taken) expect(got.equals(expected)).toBe(true)
      }),
    )
  })

  test('a million pieces of one byte use the memory of a few million bytes', () => {
    const buffer = new ByteBuffer()
    const piece = Buffer.from('x')
    for (let index = 0; index < 1_000_000; index++) buffer.append(piece)
    expect(buffer.size).toBe(1_000_000)
    expect(buffer.bytes.buffer.byteLength).toBeLessThan(2_100_000)
  })

  test('keeps a first piece without a copy, but not the memory of a large read for a small piece of it', () => {
    const read = Buffer.allocUnsafeSlow(65_536)
    const whole = new ByteBuffer()
    whole.append(read)
    expect(whole.bytes.buffer).toBe(read.buffer)
    const small = new ByteBuffer()
    small.append(read.subarray(0, 1))
    expect(small.bytes.buffer.byteLength).toBeLessThan(1000)
  })
})
