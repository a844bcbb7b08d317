import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ByteBuffer } from './byte-buffer.ts'

describe('ByteBuffer', () => {
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
