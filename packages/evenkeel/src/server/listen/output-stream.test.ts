import { Writable } from 'node:stream'
import { assert, describe, expect, test } from 'vitest'
import { deferred, SimulatedClock } from '#base'
import { OutputStream } from './output-stream.ts'
import { PendingOutput, type StalledOutput } from './pending-output.ts'
import { turn } from './turns.fixture.ts'

/** A writable that takes nothing until told to. */
function make(): {
  outlet: OutputStream
  pending: PendingOutput
  clock: SimulatedClock
  stream: Writable
  taken: string[]
  take: () => void
} {
  const taken: string[] = []
  const waiting: (() => void)[] = []
  const stream = new Writable({
    highWaterMark: 10,
    write: (chunk: Buffer, _encoding, done) => {
      taken.push(chunk.toString())
      waiting.push(done)
    },
  })
  const clock = new SimulatedClock()
  const pending = new PendingOutput(100_000)
  return {
    pending,
    outlet: new OutputStream(stream, { clock, pending }),
    clock,
    stream,
    taken,
    take: () => {
      waiting.shift()?.()
    },
  }
}

describe('OutputStream', () => {
  test('sendStream waits while the other side does not take, and says since when', async () => {
    const { outlet, clock, taken, take } = make()
    await clock.advance(5)
    let asked = 0
    const sent = outlet.sendStream(
      numbers(3, () => {
        asked++
      }),
      (piece) => Buffer.from(`<${piece.toString()}>`),
    )
    for (let turns = 0; turns < 5; turns++) await turn()
    expect([asked, taken]).toEqual([1, ['<0000000000>']])
    expect([outlet.isStalledSince(4), outlet.isStalledSince(5)]).toEqual([false, true])
    for (let turns = 0; turns < 12; turns++) {
      take()
      await turn()
    }
    expect(await sent).toBe(true)
    expect(taken).toHaveLength(3)
    assert.isFalse(outlet.isStalledSince(Number.MAX_SAFE_INTEGER))
  })

  test('sendStream leaves the loop and resolves false when the other side goes', async () => {
    const { outlet, stream } = make()
    let isLeft = false
    const sent = outlet.sendStream(
      numbers(
        9,
        () => undefined,
        () => {
          isLeft = true
        },
      ),
      (piece) => piece,
    )
    await turn()
    stream.destroy()
    expect(await sent).toBe(false)
    await turn()
    assert(isLeft)
    expect(await outlet.waitForRoom()).toBe(false)
    expect(
      await outlet.sendStream(
        numbers(9, () => undefined),
        (piece) => piece,
      ),
    ).toBe(false)
  })

  test('sendStream leaves the loop of a stream that is destroyed and not closed yet', async () => {
    const { outlet, stream } = make()
    const next = deferred<undefined>()
    let isLeft = false
    const body = async function* (): AsyncGenerator<Uint8Array> {
      try {
        await next.promise
        yield Buffer.from('too late')
        yield Buffer.from('never')
      } finally {
        isLeft = true
      }
    }
    const sent = outlet.sendStream(body(), (piece) => piece)
    await turn()
    stream.destroy()
    next.resolve(undefined)
    expect(await sent).toBe(false)
    for (let turns = 0; turns < 3; turns++) await turn()
    assert(isLeft)
  })

  test('sendAll sends all pieces in order, or resolves false', async () => {
    const { outlet, taken, take, stream } = make()
    const sent = outlet.sendAll([Buffer.from('a'), Buffer.from(''), Buffer.from('b')])
    await turn()
    take()
    await turn()
    take()
    expect(await sent).toBe(true)
    expect(taken.join('')).toBe('ab')
    const lost = outlet.sendAll([Buffer.alloc(20), Buffer.alloc(20)])
    stream.destroy()
    expect(await lost).toBe(false)
  })
})

async function* numbers(
  count: number,
  onAsked: () => void,
  onLeft: () => void = () => undefined,
): AsyncGenerator<Uint8Array> {
  try {
    for (let number = 0; number < count; number++) {
      onAsked()
      yield await Promise.resolve(Buffer.from(String(number).repeat(10)))
    }
  } finally {
    onLeft()
  }
}

describe('row 20: a long piece', () => {
  async function* one(piece: Buffer): AsyncGenerator<Uint8Array> {
    yield await Promise.resolve(piece)
  }

  test('is written in bursts, each when the one before has left', async () => {
    const { outlet, stream, pending, taken, take } = make()
    const sent = outlet.sendStream(one(Buffer.alloc(200_000, 'x')), (piece) => piece)
    for (let bursts = 1; bursts <= 4; bursts++) {
      for (let turns = 0; turns < 5; turns++) await turn()
      expect(taken).toHaveLength(bursts)
      expect(stream.writableLength).toBeLessThanOrEqual(65_536)
      expect(pending.bytes).toBe(stream.writableLength)
      take()
    }
    expect(await sent).toBe(true)
    expect(taken.join('').length).toBe(200_000)
    expect(pending.bytes).toBe(0)
  })

  test('is not asked for again before it has left, so that its memory can be used again', async () => {
    const { outlet, take } = make()
    let asked = 0
    async function* two(): AsyncGenerator<Uint8Array> {
      for (; asked < 2; asked++) yield await Promise.resolve(Buffer.alloc(65_537, 'x'))
    }
    const sent = outlet.sendStream(two(), (piece) => piece)
    for (let turns = 0; turns < 5; turns++) await turn()
    take()
    for (let turns = 0; turns < 5; turns++) await turn()
    expect(asked).toBe(0)
    for (let turns = 0; turns < 20; turns++) {
      take()
      await turn()
    }
    expect(await sent).toBe(true)
  })
})

test('row 20: when all stalled clients hold too much, those that read least recently are disconnected', async () => {
  const pending = new PendingOutput(250)
  const gone: number[] = []
  const output = (stalledAtMs: number): StalledOutput => ({
    stalledAtMs,
    bytes: 100,
    disconnect: () => gone.push(stalledAtMs),
  })
  const [first, second, third] = [output(0), output(500), output(900)]
  for (const each of [first, second, third]) pending.add(each)
  expect([pending.bytes, gone]).toEqual([300, []])
  pending.remove(second)
  pending.add(output(1_200))
  expect([pending.bytes, gone]).toEqual([200, [0]])
  pending.remove(first)
  pending.remove(third)
  expect(pending.bytes).toBe(100)
})
