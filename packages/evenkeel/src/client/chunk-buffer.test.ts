import { describe, expect, test } from 'vitest'
import { SimulatedClock } from '#base'
import { ChunkBuffer } from './chunk-buffer.ts'

function setUp(): { clock: SimulatedClock; pieces: ChunkBuffer; calls: string[] } {
  const clock = new SimulatedClock()
  const calls: string[] = []
  const pieces = new ChunkBuffer({
    clock,
    onFull: () => calls.push('full'),
    onRoom: () => calls.push('room'),
    onLeft: () => calls.push('left'),
  })
  return { clock, pieces, calls }
}

const text = ({ value }: IteratorResult<Uint8Array, undefined>): string | undefined =>
  value && Buffer.from(value).toString()

describe('Pieces', () => {
  test('gives what came together as one piece, and tells a reader that waits when the turn is over', async () => {
    const { clock, pieces } = setUp()
    const next = pieces.next()
    pieces.push(Buffer.from('a'))
    pieces.push(Buffer.from('b'))
    await clock.advance(0)
    expect(text(await next)).toBe('ab')
    pieces.push(Buffer.from('c'))
    expect(text(await pieces.next())).toBe('c')
  })

  test("a piece is the reader's until it asks for the next; those of a refusal for good", async () => {
    const { pieces } = setUp()
    pieces.push(Buffer.from('first'))
    const first = await pieces.next()
    pieces.push(Buffer.from('second'))
    expect(text(first)).toBe('first')
    const second = await pieces.next()
    pieces.push(Buffer.from('third'))
    expect([text(first), text(second)]).toEqual(['third', 'second'])

    pieces.keepAll()
    const kept = [await pieces.next()]
    for (const more of ['four', 'five', 'six']) {
      pieces.push(Buffer.from(more))
      kept.push(await pieces.next())
    }
    expect(kept.map(text)).toEqual(['third', 'four', 'five', 'six'])
  })

  test('what is read into its space is not copied, wherever the next space is by then', async () => {
    const { pieces } = setUp()
    const read = (space: Buffer, text: string, { from = 0 }: { from?: number } = {}): Uint8Array =>
      space.subarray(from, space.write(text))
    let space = pieces.space()
    pieces.push(read(space, 'one'))
    const { buffer } = space
    space = pieces.space()
    expect([space.buffer === buffer, space.byteOffset]).toEqual([true, 3])
    // A part that does not belong to the answer is left out.
    pieces.push(read(space, '--two', { from: 2 }))
    space = pieces.space()
    const first = await pieces.next()
    expect([text(first), first.value?.buffer === buffer]).toEqual(['onetwo', true])

    // This space lies behind the piece that is lent.
    pieces.push(read(space, 'three'))
    pieces.push(read(pieces.space(), 'four'))
    expect(text(first)).toBe('onetwo')
    const second = await pieces.next()
    expect([text(first), text(second)]).toEqual(['onetwo', 'threefour'])
  })

  test('its space is never empty, and what fills it is kept in order', async () => {
    const { pieces } = setUp()
    let expected = ''
    for (let count = 0; count < 40; count++) {
      const space = pieces.space()
      expect(space.length).toBeGreaterThanOrEqual(4096)
      space.fill(65 + count)
      expected += String.fromCharCode(65 + count).repeat(4096)
      pieces.push(space.subarray(0, 4096))
    }
    expect(text(await pieces.next()) === expected).toBe(true)
  })

  test('asks the sender to stop and to go on', async () => {
    const { pieces, calls } = setUp()
    const large = Buffer.alloc(250_000, 'x')
    pieces.push(large)
    expect(calls).toEqual([])
    pieces.push(large)
    pieces.push(large)
    expect(calls).toEqual(['full'])
    expect((await pieces.next()).value).toHaveLength(750_000)
    expect(calls).toEqual(['full', 'room'])
  })

  test('gives back memory when the stream becomes quiet', async () => {
    const { pieces } = setUp()
    pieces.push(Buffer.alloc(200_000))
    expect((await pieces.next()).value?.buffer.byteLength).toBe(262_144)
    for (let count = 0; count < 4; count++) {
      pieces.push(Buffer.from('x'))
      const { value } = await pieces.next()
      if (count >= 2) expect(value?.buffer.byteLength).toBe(16_384)
    }
  })

  test('what came before an error is given before it, and the error once', async () => {
    const { pieces, calls } = setUp()
    pieces.push(Buffer.from('last'))
    pieces.end({ error: new Error('cut') })
    pieces.end()
    pieces.push(Buffer.from('too late'))
    expect(text(await pieces.next())).toBe('last')
    await expect(pieces.next()).rejects.toThrow('cut')
    expect(await pieces.next()).toEqual({ done: true, value: undefined })
    expect(calls[0]).toBe('left')
  })

  test('nothing is given after a failure or after the reader has left', async () => {
    const { clock, pieces } = setUp()
    pieces.push(Buffer.from('waits'))
    pieces.fail(new Error('enough'))
    await expect(pieces.next()).rejects.toThrow('enough')

    const { pieces: left, calls } = setUp()
    const next = left.next()
    left.push(Buffer.from('waits'))
    await left.return()
    await clock.advance(0)
    expect(await next).toEqual({ done: true, value: undefined })
    expect(calls).toEqual(['left'])
  })
})
